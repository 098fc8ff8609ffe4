import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadPaidContracts } from '../../infra/operations.ts';
import { parameterProblems } from '../../infra/parameters/parameter-problems.ts';
import { parameters, templateDefaults, type Values } from '../../infra/parameters/parameters.ts';
import { requiredParameters } from '../../infra/plugins/packages.ts';

const paid = await loadPaidContracts();
const [region, account] = ['us-east-1', '123456789012'];
const configuration = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent', merge: true });
const defaults: Record<string, unknown> = { ...templateDefaults, ...configuration.params.default };

/** A stage that can be deployed: what has no default is given, and the framework's own names are filled in. */
const valid: Values = Object.fromEntries(
  Object.entries({ ...defaults, ...requiredParameters }).map(([name, value]) => [
    name,
    String(value)
      .replaceAll(/\$\{self:service\}/g, 'node-registry')
      .replaceAll(/\$\{self:provider\.stage\}/g, 'prod'),
  ]),
);

const arn = (service: string, resource: string, place = region) =>
  `arn:aws:${service}:${place}:${account}:${resource}`;
const certificateArn = arn('acm', 'certificate/1234abcd');
const siteCertificateArn = arn('acm', 'certificate/1234abcd', 'us-east-1');
const domain: Values = { domainName: 'api.example.com', certificateArn };
const selfService: Values = { selfService: 'on', proxyAccess: 'none', loginClientId: 'registry' };
const accountPage: Values = {
  ...domain,
  ...selfService,
  accountDomainName: 'account.example.com',
  accountCertificateArn: siteCertificateArn,
};

/** The other parameters that one needs, so that only its own value is tested. */
const companions: Record<string, Values> = {
  creditRates: { creditsPerDay: 'none' },
  noticeTopicArn: { alarmTopicArn: arn('sns', 'alarms') },
  siteDomainName: { site: 'on', siteCertificateArn },
  siteCertificateArn: { site: 'on', siteDomainName: 'nodes.example.com' },
  accountDomainName: accountPage,
  accountCertificateArn: accountPage,
  loginOrigins: accountPage,
  domainName: domain,
  certificateArn: domain,
  generatedUrl: domain,
  hostedZoneId: domain,
};

function problemsWith(name: string, value: string): string[] {
  return parameterProblems({ ...valid, ...companions[name], [name]: value }, region, paid);
}

const topics: [string, string] = [
  arn('sns', 'alarms'),
  `${arn('sns', 'alarms', 'eu-west-1')}|${arn('sns', 'alarms.fifo')}|me@example.com`,
];

/** One parameter for each rule with the values, separated by bars, that it takes and that it rejects. */
const rules: Record<string, [good: string, bad: string]> = {
  tokenIssuer: [
    'https://issuer.example.com/|https://a.example.com/v2',
    'http://a.example.com|http://localhost:3001|HTTP://localhost|a.example.com|https://a.b/?x=1|https://user:secret@a.example.com',
  ],
  bucketName: [
    `acme-node-archives-prod|abc|${'a'.repeat(58)}`,
    `unnamed|ab|Acme|a_b|a.b|-abc|abc-|xn--abc|abc-s3alias|amzn-s3-demo-acme|acme--use1-az4--x-s3|acme--ol-s3|acme--table-s3|acme-123456789012-us-east-1-an|${'a'.repeat(64)}`,
  ],
  imageProviderKey: [
    `ssm:/node-registry/prod/key|secretsmanager:team/image-key|secretsmanager:rds!cluster-abc|secretsmanager:${arn('secretsmanager', 'secret:team/image-key-AbCdEf')}`,
    `sk-live-the-key-itself|ssm:no-slash|secretsmanager:|secretsmanager:${arn('secretsmanager', 'secret:image-key-AbCdEf', 'eu-west-1')}|secretsmanager:${arn('ssm', 'parameter/key')}|secretsmanager:${arn('secretsmanager', 'secret:without-the-six-characters')}`,
  ],
  secretsKeyArn: [
    arn('kms', 'key/1234abcd'),
    `${arn('kms', 'alias/keys')}|${arn('kms', 'key/1', 'eu-west-1')}|key/1`,
  ],
  tokenAudience: ['node-registry|http://localhost:3000', 'two words'],
  tokenKeySet: ['{"keys":[{"kty":"RSA"}]}', '{|{"keys":[]}|[]|{"keys":[{}]}|null'],
  adminClaim: ['role|realm_access.roles|https://acme.internal/roles', 'two words|é'],
  adminClaimValue: [
    'admin|Registry Admins|Équipe du registre',
    ` | admin|admin |two\nlines|${'a'.repeat(201)}`,
  ],
  publishAccessToken: ['required|optional', 'sometimes|Required'],
  ciIssuers: [
    'gitlab https://git.example.com|github https://a.example.com https://a.example.com/keys, gitlab https://b.example.com',
    'https://git.example.com|jenkins https://ci.example.com|gitlab http://git.example.com|github http://localhost:3001/ci|gitlab https://a.example.com https://a.example.com/keys github',
  ],
  imageProviderKeyHeader: ['x-api-key|Authorization', 'x api|x-api-key:|-x'],
  videoProviderKeyHeader: ['x-key|authorization: Bearer', 'a: Bearer |a: b c|a:b|: a'],
  videoProviderModelPrefix: ['vid|vid-', `v d|vid/|${'v'.repeat(33)}`],
  videoProviderTaskPath: ['off|/tasks/{task_id}', 'on|tasks/{task_id}|/tasks/{id}|/tasks?id={task_id}'],
  providerStates: ['upscaling=processing|a b=failed, 7=success', 'upscaling|done=ready'],
  videoModelsExtra: ['vidq4|vidq4, vidq4-pro', 'vidq4;vidq5|v q'],
  maxArchiveBytes: ['1|1000000000', '0|100MB|1000000001'],
  creditsPerDay: ['1|2000|none', '0|-1|1.5|no'],
  tasksPerDay: ['0|2000', '-1|1.5|none'],
  creditRates: [
    '[]|[{"operation":"relightImage","task":1}]|[{"operation":"textToVideo","model":"vidq3-pro","resolution":"1080p","seconds":16,"task":900}]|[{"operation":"multiframeVideo","model":"vidq2-pro","task":20,"frame":5,"second":50,"assumedSeconds":9}]',
    'textToVideo=5|[1]|{}|[{"operation":"updateNode","task":1}]|[{"task":1}]|[{"operation":"relightImage","model":"a","task":1}]|[{"operation":"multiframeVideo","model":"vidq3-pro","task":1}]|[{"operation":"multiframeVideo","resolution":"360p","task":1}]|[{"operation":"textToVideo","model":"vidq2-pro","seconds":9,"task":1}]|[{"operation":"textToVideo","second":1000000001}]|[{"operation":"textToVideo","second":-1}]|[{"operation":"textToVideo","second":1.5}]|[{"operation":"textToVideo","second":1,"perSecond":1}]|[{"operation":"textToVideo","seconds":0,"task":1}]',
  ],
  downloadBaseUrl: ['https://cdn.example.com/nodes', 'http://cdn.example.com|cdn|http://localhost'],
  corsOrigins: [
    '*|https://app.example.com|https://a.example.com,http://localhost:5173',
    'app.example.com|https://a.example.com/|https://a.example.com, https://b.example.com|*,https://a.b|https://*.example.com|https://*|https://A.example.com',
  ],
  rateLimit: ['1|2500', '0|-1|abc|1.5|2501|1e3'],
  domainName: [
    'api.example.com|api.example.xn--p1ai',
    'api.example.xn--|api.example.1|https://api.example.com|API.example.com|api|a..b.com',
  ],
  certificateArn: [
    certificateArn,
    `${arn('acm', 'certificate/1', 'eu-west-1')}|arn:aws:iam::${account}:server-certificate/x`,
  ],
  siteName: ['Nodes|結点', ` |${'x'.repeat(61)}`],
  siteAccent: ['#4338ca|#000000', '#ffcc00|red|#fff'],
  siteLogo: ['https://img.example/logo.png', 'logo.png|http://img.example/logo.png'],
  siteLinks: [
    'Terms=https://a.example/t, Contact=mailto:a@b.example',
    'Terms|Terms=javascript:x|https://a.example',
  ],
  siteReportUrl: ['mailto:a@b.example?subject={id}|https://a.example/{id}', 'https://a.example|{id}'],
  toolPackage: ['npx @acme/nodes download {id} {version}', 'npx x {id}|npx x {version}'],
  webAclArn: [
    `arn:aws:wafv2:us-east-1:${account}:global/webacl/nodes/1234abcd`,
    `arn:aws:wafv2:us-east-1:${account}:regional/webacl/nodes/1234abcd|arn:aws:wafv2:eu-west-1:${account}:global/webacl/nodes/1`,
  ],
  accountDomainName: ['account.example.com', 'https://account.example.com|account'],
  loginOrigins: ['https://oauth2.example.com', 'https://oauth2.example.com/token|oauth2.example.com'],
  siteDomainName: ['nodes.example.com', 'https://nodes.example.com|nodes'],
  siteCertificateArn: [siteCertificateArn, siteCertificateArn.replace('us-east-1', 'eu-west-1')],
  hostedZoneId: ['Z0123456789ABCDEFGHIJ', '/hostedzone/Z123|example.com|z123'],
  alarmTopicArn: topics,
  noticeTopicArn: topics,
  administrators: [
    `arn:aws:iam::${account}:user/ada|arn:aws:iam::${account}:user/ada,arn:aws:iam::${account}:role/a/b`,
    `arn:aws:iam::${account}:root|arn:aws:iam::${account}:user/ada, x|*`,
  ],
  archiveAdministratorArn: [
    `arn:aws:iam::${account}:role/archives`,
    `arn:aws:iam::${account}:user/me|arn:aws:sts::${account}:assumed-role/archives/me|*`,
  ],
  restart: ['2026-11-21T12:00:00Z|2', `a b|$(date)|${'x'.repeat(65)}`],
};

describe('a parameter', () => {
  test.each(Object.keys(parameters))(
    '%s rejects several lines, in a sentence that begins with its name',
    (name) => {
      expect(problemsWith(name, 'a\u0000\nb').join()).toMatch(new RegExp(`^${name}(?::| must)`));
    },
  );

  test.each(Object.entries(rules).flatMap(([name, [good]]) => good.split('|').map((value) => [name, value])))(
    '%s takes "%s"',
    (name, value) => {
      expect(problemsWith(name, value)).toEqual([]);
    },
  );

  test.each(Object.entries(rules).flatMap(([name, [, bad]]) => bad.split('|').map((value) => [name, value])))(
    '%s rejects "%s" in a sentence that begins with its name',
    (name, value) => {
      const problems = problemsWith(name, value);

      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}(:| must| is missing)`))]);
      if (name.endsWith('Key')) expect(problems[0]).not.toContain('the-key-itself');
    },
  );
});

describe('parameters together', () => {
  const cdn = { downloadBaseUrl: 'https://cdn.example.com' };
  const films = ['textToVideo', 'extendVideo', 'multiframeVideo'].map((operation) => ({
    operation,
    second: 20,
  }));
  const noLimit = { creditsPerDay: 'none', stageCreditsPerDay: '0', creditRates: '' };
  const ratesOf = (rates: object) => ({ creditRates: JSON.stringify(rates), videoModelsExtra: 'vidq4' });
  const rateOf = (rate: object) => ratesOf([...films, rate]);

  const task = { operation: 'relightImage', task: 6 };
  const frames = { operation: 'multiframeVideo', model: 'vidq4', second: 8 };
  const sameSite = { site: 'on', siteDomainName: 'api.example.com', siteCertificateArn };
  const film = { operation: 'textToVideo', model: 'vidq3-pro', seconds: 99, task: 1 };

  test.each<[sentence: RegExp, values: Values, place?: string]>([
    [/^domainName and certificateArn must be given together\.$/, { domainName: 'api.example.com' }],
    [/^domainName and certificateArn must be given together\.$/, { certificateArn }],
    [/^generatedUrl must be on without a domainName: /, { generatedUrl: 'off' }],
    [/^siteDomainName and siteCertificateArn must be given together\.$/, { siteCertificateArn }],
    [/^siteDomainName needs site=on\.$/, { siteDomainName: 'nodes.example.com', siteCertificateArn }],
    [/^hostedZoneId needs domainName\.$/, { hostedZoneId: 'Z123' }],
    [/^tokenIsuer is not a parameter\.$/, { tokenIsuer: 'https://a.example.com' }],
    [/^creditRates must have .* of extendVideo and of multiframeVideo, or /, ratesOf([films[0], frames])],
    [
      /^creditRates must .*, or creditsPerDay=none and stageCreditsPerDay=0: /,
      { ...noLimit, stageCreditsPerDay: '9000' },
    ],
    [/^proxyAccess must be given where selfService is on: /, { ...selfService, proxyAccess: '' }],
    [/^proxyAccessToken must be required /, { proxyAccess: 'none', proxyAccessToken: 'optional' }],
    [/^proxyClaim and proxyAccess=claim must be given together\.$/, { proxyAccess: 'claim' }],
    [/^stageCreditsPerDay must be given with proxyAccess=any: /, { proxyAccess: 'any' }],
    [/^creditsPerDay is missing: /, { creditsPerDay: '', creditRates: '' }],
    [/^resultRoutes must be off, or left out, /, { resultRoutes: 'on', notifications: 'direct' }],
    [/^creditsPerDay is below every rate: /, { creditsPerDay: '5', ...rateOf(task) }],
    [
      /^webAclArn needs the stage’s own distribution: /,
      { ...cdn, webAclArn: `arn:aws:wafv2:us-east-1:${account}:global/webacl/nodes/1234abcd` },
    ],
    [/^site must be off where downloadBaseUrl is given: /, { site: 'on', ...cdn }],
    [/^bucketName must have at most 58 characters unless /, { bucketName: 'a'.repeat(59), accessLogs: 'on' }],
    [/: a row of textToVideo has no price, so no limit would hold: /, rateOf({ operation: 'textToVideo' })],
    [/: model of multiframeVideo must be one of .*, vidq4\.$/, rateOf({ ...frames, model: 'vidq5' })],
    [/: duration of textToVideo must be 1 to 16 seconds for vidq3-pro\.$/, rateOf(film)],
    [
      /: the price of relightImage does not depend on seconds: /,
      rateOf({ operation: 'relightImage', second: 2 }),
    ],
    [/^siteDomainName must differ from domainName: /, { ...domain, ...sameSite }],
    [
      /^accountDomainName and accountCertificateArn must be given together\.$/,
      { ...accountPage, accountCertificateArn: '' },
    ],
    ...['selfService', 'loginClientId', 'domainName'].map((name): [RegExp, Values] => [
      /^accountDomainName needs selfService=on, a loginClientId /,
      {
        ...accountPage,
        ...(name === 'selfService' ? { selfService: 'off' } : { [name]: '' }),
        ...(name === 'domainName' && { certificateArn: '' }),
      },
    ]),
    [
      /^accountDomainName must differ from domainName and siteDomainName: /,
      { ...accountPage, accountDomainName: 'api.example.com' },
    ],
    [/^accountDomainName needs the stage’s own distribution: /, { ...accountPage, ...cdn }],
    [/^loginOrigins needs accountDomainName: /, { loginOrigins: 'https://oauth2.example.com' }],
    [/^alarmTopicArn is needed with a noticeTopicArn: /, { noticeTopicArn: arn('sns', 'notices') }],
    [/^accessLogs must be off in this region, or downloadBaseUrl given: /, {}, 'eu-south-1'],
    [/^The region is unknown: check how it is spelled\.$/, {}, 'eu-wset-1'],
    [/^downloadBaseUrl is needed in this region: /, {}, 'cn-north-1'],
  ])('are rejected with %s: %j', (sentence, values, place = region) => {
    expect(parameterProblems({ ...valid, ...values }, place, paid)).toEqual([
      expect.stringMatching(sentence),
    ]);
  });

  test.each<[values: Values, place?: string]>([
    [noLimit],
    [{ proxyAccess: 'any', stageCreditsPerDay: '9000' }],
    [{ creditsPerDay: '6', ...rateOf(task) }],
    [{ bucketName: 'a'.repeat(58), accessLogs: 'on' }],
    [rateOf(frames)],
    [{ accessLogs: 'on' }, 'eu-west-1'],
    [{ accessLogs: 'off' }, 'eu-south-1'],
    [{ notifications: 'direct' }],
    [{ accessLogs: 'on', ...cdn }, 'eu-south-1'],
    [cdn, 'cn-north-1'],
  ])('are accepted: %j', (values, place = region) => {
    expect(parameterProblems({ ...valid, ...values }, place, paid)).toEqual([]);
  });
});

test('gives npm run deploy every required parameter in the README, and npm run package the same stage', () => {
  const readme = readFileSync('README.md', 'utf8');
  const [, given = ''] = /^npm run deploy -- --stage prod (.*?)\n```/ms.exec(readme) ?? [];
  const named = [...given.matchAll(/--param=(\w+)=/g)].map(([, name]) => name);

  expect(named.sort()).toEqual(Object.keys(requiredParameters).sort());
  expect(readme).toContain(`npm run package -- --stage prod --param=${Object.keys(requiredParameters)[0]}=`);
});
