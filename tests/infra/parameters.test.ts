import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Values } from '../../infra/parameters/parameters.ts';
import { parameters } from '../../infra/parameters/parameters.ts';
import { requiredParameters } from '../../infra/plugins/packages.ts';
import { account, defaults, region, sentencesOn, valid } from './valid-parameters.ts';

const address = {
  good: ['https://issuer.example.com/', 'https://a.example.com/v2'],
  bad: [
    ...'http://a.example.com https://localhost:3001 https://127.0.0.1/keys a.example.com'.split(' '),
    ...'https://a.b/?x=1 https://user:secret@a.example.com https://10.0.0.7/v1'.split(' '),
    ...'https://169.254.169.254/ https://keys.internal https://[fd00::1]/'.split(' '),
    ...'https://0.0.0.0/ HTTPS://100.64.0.1/ https://keys/ https://keys.internal./'.split(' '),
  ],
};
const secret = {
  good: [
    'ssm:/node-registry/prod/key',
    'secretsmanager:team/image-key',
    'secretsmanager:rds!cluster-abc',
    `secretsmanager:arn:aws:secretsmanager:${region}:999999999999:secret:team/image-key-AbCdEf`,
  ],
  bad: [
    'sk-live-the-key-itself',
    'ssm:no-slash',
    'secretsmanager:',
    'secretsmanager:arn:aws:secretsmanager:eu-west-1:999999999999:secret:image-key-AbCdEf',
    `secretsmanager:arn:aws:ssm:${region}:999999999999:parameter/key`,
    `secretsmanager:arn:aws:secretsmanager:${region}:999999999999:secret:without-the-six-characters`,
  ],
};
const claim = {
  good: ['role', 'realm_access.roles', 'https://example.com/roles', 'https://acme.internal/roles'],
  bad: ['two words', 'é'],
};
const accessTokens = { good: ['required', 'optional'], bad: ['sometimes', 'Required'] };
const header = {
  good: ['x-api-key', 'Authorization', 'x-host', 'hostname'],
  bad: [
    ...'x api|x-api-key:|-x|host|Host|content-length|Transfer-Encoding|content-type|accept'.split('|'),
    ...'connection|X-Amzn-Remapped-Authorization'.split('|'),
  ],
};
const scheme = { good: ['Bearer', 'Token'], bad: ['Bearer ', 'a b', ':'] };
const perSecond = { good: ['1', '2500'], bad: ['0', '-1', 'abc', '1.5', '2501', '1e3'] };
const reserved = { good: ['1', '1000'], bad: ['0', 'all', '1001', '-5'] };
const limit = { good: ['0', '2000'], bad: ['-1', '1.5', 'none'] };
const capacity = { good: ['1', '12000'], bad: ['0', '4k', '1000001'] };

/** Every parameter with values that it takes and values that it rejects. */
const taskPath = {
  good: ['off', '/tasks/{task_id}'],
  bad: ['on', 'tasks/{task_id}', '/tasks/{id}', '/tasks?id={task_id}'],
};

const table: Record<string, { good: string[]; bad: string[] }> = {
  tokenIssuer: address,
  tokenKeySetUrl: address,
  imageProviderUrl: address,
  videoProviderUrl: address,
  bucketName: {
    good: ['acme-node-archives-prod', 'abc', 'a'.repeat(63)],
    bad: [
      ...'unnamed ab Acme a_b a.b -abc abc- xn--abc abc-s3alias amzn-s3-demo-acme'.split(' '),
      ...'acme--use1-az4--x-s3 acme--ol-s3 acme--table-s3 acme-123456789012-us-east-1-an'.split(' '),
      'a'.repeat(64),
    ],
  },
  imageProviderKey: secret,
  videoProviderKey: secret,
  secretsKeyArn: {
    good: [`arn:aws:kms:${region}:${account}:key/1234abcd-12ab-34cd-56ef-1234567890ab`],
    bad: [
      `arn:aws:kms:${region}:${account}:alias/keys`,
      `arn:aws:kms:eu-west-1:${account}:key/1234abcd`,
      'key/1234',
    ],
  },
  tokenAudience: {
    good: ['node-registry', 'https://api.example.com', 'http://localhost:3000'],
    bad: ['two words'],
  },
  tokenKeySet: {
    good: ['{"keys":[{"kty":"RSA"}]}'],
    bad: ['{', '{"keys":[]}', '[]', '{"keys":[{}]}', 'null'],
  },
  tokenAzp: { good: ['refused', 'accepted'], bad: ['yes'] },
  idTokens: { good: ['refused', 'accepted'], bad: ['yes', 'true'] },
  adminClaim: claim,
  adminClaimValue: {
    good: ['admin', 'Registry Admins', 'Équipe du registre'],
    bad: [' ', ' admin', 'admin ', 'two\nlines', 'a'.repeat(201)],
  },
  publishAccessToken: accessTokens,
  proxyAccessToken: accessTokens,
  ciIssuers: {
    good: [
      'gitlab https://git.example.com',
      'github https://a.example.com https://a.example.com/keys, gitlab https://b.example.com',
    ],
    bad: [
      'https://git.example.com',
      'jenkins https://ci.example.com',
      'gitlab http://git.example.com',
      'github http://localhost:3001/ci',
      'gitlab https://a.example.com https://a.example.com/keys github',
    ],
  },
  imageProviderKeyHeader: header,
  imageProviderKeyScheme: scheme,
  videoProviderKeyHeader: header,
  videoProviderKeyScheme: scheme,
  videoProviderModelPrefix: { good: ['vid', 'vid-'], bad: ['v d', 'vid/', 'v'.repeat(33)] },
  imageProviderTaskPath: taskPath,
  videoProviderTaskPath: taskPath,
  questionsPerSecond: { good: ['1', '100'], bad: ['0', '101'] },
  providerStates: {
    good: ['upscaling=processing', 'a b=failed, 7=success'],
    bad: ['upscaling', 'done=ready'],
  },
  videoModelsExtra: { good: ['vidq4', 'vidq4, vidq4-pro'], bad: ['vidq4;vidq5', 'v q'] },
  videoExtendSource: { good: ['both', 'either'], bad: ['none', 'Both'] },
  maxArchiveBytes: { good: ['1', '1000000000'], bad: ['0', '100MB', '1000000001'] },
  creditsPerDay: { good: ['1', '2000', 'none'], bad: ['0', '-1', '1.5', 'no'] },
  generatedUrl: { good: ['on', 'off'], bad: ['yes'] },
  tasksPerDay: limit,
  requestsPerMinute: limit,
  creditRates: {
    good: [
      '[]',
      '[{"operation":"relightImage","task":1}]',
      '[{"operation":"textToVideo","model":"vidq3-pro","resolution":"1080p","seconds":16,"task":900}]',
      '[{"operation":"multiframeVideo","model":"vidq2-pro","task":20,"frame":5,"second":50,"assumedSeconds":9}]',
    ],
    bad: [
      ...'textToVideo=5 [1] {} [{"operation":"updateNode","task":1}] [{"task":1}]'.split(' '),
      '[{"operation":"relightImage","model":"a","task":1}]',
      '[{"operation":"multiframeVideo","model":"vidq3-pro","task":1}]',
      '[{"operation":"multiframeVideo","resolution":"360p","task":1}]',
      '[{"operation":"textToVideo","model":"vidq2-pro","seconds":9,"task":1}]',
      '[{"operation":"textToVideo","second":1000000001}]',
    ],
  },
  notifications: { good: ['direct', 'relay'], bad: ['both'] },
  imageNotificationKey: secret,
  imageNotificationKeyHeader: header,
  videoNotificationKey: secret,
  videoNotificationKeyHeader: header,
  notificationConcurrency: { good: ['2', '1000'], bad: ['1', '1001', 'many'] },
  maxPendingVersions: { good: ['100', '1000'], bad: ['0', '1001', 'x'] },
  maxNewNodesPerDay: limit,
  downloadBaseUrl: {
    good: ['https://cdn.example.com/nodes'],
    bad: ['http://cdn.example.com', 'cdn', 'https://localhost'],
  },
  corsOrigins: {
    good: ['*', 'https://app.example.com', 'https://a.example.com,http://localhost:5173'],
    bad: [
      ...'app.example.com|https://a.example.com/|https://a.example.com, https://b.example.com'.split('|'),
      ...'*,https://a.b|https://*.example.com|https://*|https://A.example.com'.split('|'),
    ],
  },
  rateLimit: perSecond,
  bulkRateLimit: perSecond,
  proxyRateLimit: perSecond,
  proxyConcurrency: reserved,
  finalizeConcurrency: reserved,
  tableMaxReads: capacity,
  tableMaxWrites: capacity,
  domainName: {
    good: ['api.example.com', 'api.example.xn--p1ai'],
    bad: [
      ...'api.example.xn-- api.example.1 https://api.example.com API.example.com api a..b.com'.split(' '),
    ],
  },
  certificateArn: {
    good: [`arn:aws:acm:${region}:${account}:certificate/1234abcd`],
    bad: [
      `arn:aws:acm:eu-west-1:${account}:certificate/1234abcd`,
      `arn:aws:iam::${account}:server-certificate/x`,
    ],
  },
  hostedZoneId: { good: ['Z0123456789ABCDEFGHIJ'], bad: ['/hostedzone/Z123', 'example.com', 'z123'] },
  alarmTopicArn: {
    good: [`arn:aws:sns:${region}:${account}:alarms`],
    bad: [
      `arn:aws-cn:sns:${region}:${account}:alarms`,
      `arn:aws:sns:eu-west-1:${account}:alarms`,
      `arn:aws:sns:${region}:${account}:alarms.fifo`,
      'me@example.com',
    ],
  },
  creditsPerHourAlarm: capacity,
  monthlyBudgetDollars: { good: ['100'], bad: ['0', '$100', '99.50'] },
  accessLogs: { good: ['off', 'on'], bad: ['true', 'ON'] },
  site: { good: ['off', 'on'], bad: ['true', 'ON'] },
  archiveAdministratorArn: {
    good: [`arn:aws:iam::${account}:role/archives`],
    bad: [
      `arn:aws-us-gov:iam::${account}:role/archives`,
      `arn:aws:iam::${account}:user/me`,
      `arn:aws:sts::${account}:assumed-role/archives/me`,
      '*',
    ],
  },
  tracing: { good: ['PassThrough', 'Active'], bad: ['active', 'on'] },
  rollout: {
    good: ['off', 'LambdaAllAtOnce', 'LambdaCanary10Percent5Minutes', 'LambdaLinear10PercentEvery1Minute'],
    bad: ['quickly', 'LambdaCanary99Percent1Minutes', 'LambdaLinear10PercentEvery1Minutes'],
  },
  restart: { good: ['2026-11-21T12:00:00Z', '2'], bad: ['a b', '$(date)', 'x'.repeat(65)] },
};

/** The other parameters that one needs, so that only its own value is tested. */
const companions: Record<string, Values> = {
  domainName: { certificateArn: `arn:aws:acm:${region}:${account}:certificate/1234abcd` },
  certificateArn: { domainName: 'api.example.com' },
  generatedUrl: {
    domainName: 'api.example.com',
    certificateArn: `arn:aws:acm:${region}:${account}:certificate/1234abcd`,
  },
  hostedZoneId: {
    domainName: 'api.example.com',
    certificateArn: `arn:aws:acm:${region}:${account}:certificate/1234abcd`,
  },
  monthlyBudgetDollars: { alarmTopicArn: `arn:aws:sns:${region}:${account}:alarms` },
  imageNotificationKey: { notifications: 'relay' },
  imageNotificationKeyHeader: { notifications: 'relay', imageNotificationKey: 'ssm:/image-key' },
  videoNotificationKey: { notifications: 'relay' },
  videoNotificationKeyHeader: { notifications: 'relay', videoNotificationKey: 'ssm:/video-key' },
};

function problemsWith(name: string, value: string): string[] {
  return sentencesOn({ ...valid, ...companions[name], [name]: value }, region);
}

describe('a parameter', () => {
  test('takes a default from serverless.yml, and has one unless it may be left out', () => {
    const needed = Object.entries(parameters).flatMap(([name, { isOptional }]) => (isOptional ? [] : [name]));

    expect(Object.keys(defaults).filter((name) => !(name in parameters))).toEqual([]);
    expect(needed.filter((name) => !(name in defaults))).toEqual([]);
  });

  test('appears in this table with values that are taken and values that are rejected', () => {
    expect(Object.keys(table).sort()).toEqual(Object.keys(parameters).sort());
    for (const { good, bad } of Object.values(table)) expect([good.length, bad.length]).not.toContain(0);
  });

  test.each(Object.entries(table).flatMap(([name, { good }]) => good.map((value) => [name, value])))(
    '%s takes "%s"',
    (name, value) => {
      expect(problemsWith(name, value)).toEqual([]);
    },
  );

  test.each(Object.entries(table).flatMap(([name, { bad }]) => bad.map((value) => [name, value])))(
    '%s rejects "%s" in a sentence that begins with its name',
    (name, value) => {
      const problems = problemsWith(name, value);

      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(new RegExp(`^${name}(:| must| is missing)`));
      if (name.endsWith('Key')) expect(problems[0]).not.toContain('the-key-itself');
    },
  );
});

test('gives npm run deploy every required parameter in the README, and npm run package the same stage', () => {
  const readme = readFileSync('README.md', 'utf8');
  const [, given = ''] = /^npm run deploy -- --stage prod (.*?)\n```/ms.exec(readme) ?? [];
  const named = [...given.matchAll(/--param=(\w+)=/g)].map(([, name]) => name);

  expect(named.sort()).toEqual(Object.keys(requiredParameters).sort());
  expect(readme).toContain(`npm run package -- --stage prod --param=${Object.keys(requiredParameters)[0]}=`);
});
