import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { requiredParameters } from '../../tools/deploy/packages.ts';
import {
  everything,
  type Packaged,
  type Part,
  packageFullStage,
  packagePlainStage,
  refusalOf,
} from './packaging.ts';
import { asText, holds } from './references.ts';

let plain: Packaged;
let full: Packaged;

beforeAll(async () => {
  [plain, full] = await Promise.all([packagePlainStage(), packageFullStage()]);
}, 60_000);

function ofType(type: string, { template }: Packaged = plain): [string, Part][] {
  return Object.entries(template.Resources).filter(([, { Type }]) => Type === type);
}

/** The metrics that an alarm looks at, as namespace and name. */
function watched({ Namespace, MetricName, Metrics = [] }: Part): string[] {
  if (MetricName) return [`${Namespace} ${MetricName}`];
  return Metrics.flatMap(({ MetricStat }: Part) => (MetricStat ? watched(MetricStat.Metric) : []));
}

const api = ['updateNode', 'publishNodeVersion', 'updateHostNode', 'bulkNodeVersions'];
const proxies = ['relightImage', 'textToVideo', 'extendVideo', 'multiframeVideo'];
const own = 'node-registry/prod';

const alarms: [string, string[]][] = [
  ['server-errors', ['AWS/ApiGateway 5xx', 'AWS/ApiGateway Count']],
  ...[...api, ...proxies].map((name): [string, string[]] => [`slow-${name}`, ['AWS/Lambda Duration']]),
  ['function-throttles', ['AWS/Lambda Throttles']],
  ['table-throttles', ['AWS/DynamoDB ReadThrottleEvents', 'AWS/DynamoDB WriteThrottleEvents']],
  ['image-provider-credentials', [`${own} provider_credentials_refused`]],
  ['video-provider-credentials', [`${own} provider_credentials_refused`]],
  ['image-provider-errors', [`${own} provider_errors`, `${own} provider_calls`]],
  ['video-provider-errors', [`${own} provider_errors`, `${own} provider_calls`]],
  ['finalize-upload-errors', ['AWS/Lambda Errors']],
  ['finalize-upload-dead-letters', ['AWS/SQS ApproximateNumberOfMessagesVisible']],
  ['sweep-findings', [`${own} sweep_findings`]],
];

describe('the alarms', () => {
  test.each(alarms)('%s looks at %j', (name, metrics) => {
    const [, { Properties }] = ofType('AWS::CloudWatch::Alarm').find(
      ([, alarm]) => alarm.Properties.AlarmName === `node-registry-prod-${name}`,
    ) as [string, Part];

    expect(watched(Properties)).toEqual(metrics);
    expect(Properties.TreatMissingData).toBe('notBreaching');
    expect(Properties.AlarmDescription).toMatch(/^[A-Z].*\.$/);
  });

  test('are these and no others, and each has its paragraph in the operations page', () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    const names = ofType('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties.AlarmName);

    expect(names.sort()).toEqual(alarms.map(([name]) => `node-registry-prod-${name}`).sort());
    for (const [name] of alarms) expect(page).toContain(`\`${name.replace(/^slow-.*/, 'slow-<function>')}\``);
  });

  test('tell the topic when they begin and when they end, where there is one', () => {
    for (const [, { Properties }] of ofType('AWS::CloudWatch::Alarm', full)) {
      if (Properties.AlarmName.includes('-rollout-')) continue;
      const tell = { 'Fn::If': ['HasAlarmTopic', [everything.alarmTopicArn], { Ref: 'AWS::NoValue' }] };
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([tell, tell]);
    }
    expect([plain, full].map(({ template }) => holds(template, 'HasAlarmTopic'))).toEqual([false, true]);
  });

  test('are more patient with proxies, which wait for their providers', () => {
    const threshold = (name: string) =>
      ofType('AWS::CloudWatch::Alarm').find(([, it]) => it.Properties.AlarmName.endsWith(`slow-${name}`))?.[1]
        .Properties.Threshold;

    expect(new Set(api.map(threshold))).toEqual(new Set([2000]));
    expect(new Set(proxies.map(threshold))).toEqual(new Set([15_000]));
  });

  test('and the dashboard look at no metric that the log lines do not have', () => {
    const source = readFileSync('lib/metrics.ts', 'utf8');
    const page = asText(ofType('AWS::CloudWatch::Dashboard')[0]?.[1].Properties.DashboardBody);
    const searched = [...page.matchAll(/node-registry\/prod\\",\w+(?:,\w+)?\} MetricName=\\"(\w+)\\"/g)].map(
      ([, it]) => it,
    );
    const named = alarms.flatMap(([, metrics]) => metrics).filter((metric) => metric.startsWith(own));

    expect(searched.length).toBeGreaterThanOrEqual(6);
    for (const name of [...searched, ...named.map((metric) => metric.split(' ')[1])])
      expect(source).toMatch(new RegExp(`\\b${name}: '(Count|Milliseconds)'`));
  });
});

test('the dashboard is JSON that CloudWatch takes: every widget has its place, its region and metrics', () => {
  const { widgets } = JSON.parse(
    asText(ofType('AWS::CloudWatch::Dashboard')[0]?.[1].Properties.DashboardBody),
  );

  expect(widgets.length).toBeGreaterThanOrEqual(8);
  for (const { type, x, width, properties } of widgets) {
    expect(type).toBe('metric');
    expect(x + width).toBeLessThanOrEqual(24);
    expect(properties).toMatchObject({ region: expect.any(String), title: expect.any(String) });
    expect(properties.metrics.length).toBeGreaterThan(0);
  }
});

describe('a gradual rollout', () => {
  test('is off by default: events go to the functions themselves', () => {
    expect(ofType('AWS::Lambda::Alias')).toEqual([]);
    expect(JSON.stringify(plain.template)).not.toContain('AWS::CodeDeploy');
  });

  test('moves an alias of each function from the last version to this one, and back on its alarm', () => {
    const aliases = ofType('AWS::Lambda::Alias', full);

    expect(aliases).toHaveLength(9);
    for (const [id, { Properties, UpdatePolicy }] of aliases) {
      const { DeploymentGroupName, ApplicationName } = UpdatePolicy.CodeDeployLambdaAliasUpdate;
      const group = full.template.Resources[DeploymentGroupName.Ref]?.Properties;
      const alarm = full.template.Resources[group.AlarmConfiguration.Alarms[0].Name.Ref]?.Properties;
      const version = full.template.Resources[Properties.FunctionVersion['Fn::GetAtt'][0]];

      expect(id).toBe(`${Properties.FunctionName.Ref.replace('LambdaFunction', '')}LiveAlias`);
      expect(version?.Properties.FunctionName).toEqual(Properties.FunctionName);
      expect([ApplicationName, group.ApplicationName]).toEqual(Array(2).fill({ Ref: 'RolloutApplication' }));
      expect(group.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
      expect(group.AutoRollbackConfiguration).toMatchObject({
        Enabled: true,
        Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
      });
      expect(JSON.stringify(alarm)).toContain(Properties.FunctionName.Ref);
      expect(watched(alarm)).toEqual(['AWS/Lambda Errors', `${own} requests`]);
    }
  });

  test('reaches every caller: the API, the bucket, the schedule, and the queue for failures', () => {
    const { Resources } = full.template;
    const targets = [
      ...ofType('AWS::ApiGatewayV2::Integration', full).map(([, it]) => it.Properties.IntegrationUri),
      ...ofType('AWS::Lambda::Permission', full).map(([, it]) => it.Properties.FunctionName),
      Resources.S3BucketArchives?.Properties.NotificationConfiguration.LambdaConfigurations[0].Function,
      ...ofType('AWS::Events::Rule', full).map(([, it]) => it.Properties.Targets[0].Arn),
    ];

    expect(targets).toHaveLength(8 + 10 + 1 + 1);
    for (const target of targets) expect(target['Fn::Join'][1][1]).toBe('live');
    expect(Resources.FinalizeUploadLambdaEvConf).toMatchObject({ Properties: { Qualifier: 'live' } });
  });
});

describe('a stage is refused, in sentences and before anything is made', () => {
  const flags = (parameters: Record<string, string>) =>
    Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);

  test('where parameters are missing, each by its name, or unknown', async () => {
    const refusal = await refusalOf('--stage', 'prod', '--param=tokenIsuer=https://issuer.example.com');

    expect(refusal).toContain('There is no parameter tokenIsuer.');
    for (const name of Object.keys(requiredParameters))
      expect(refusal).toContain(`${name} is missing: --param=${name}=…`);
    expect(refusal).not.toContain('    at ');
  });

  test('where a value is unsafe or cannot work, without showing a key', async () => {
    const bad = {
      ...requiredParameters,
      tokenIssuer: 'http://localhost:3001',
      tokenKeySetUrl: 'https://127.0.0.1/keys',
      imageProviderKey: 'sk-live-the-key-itself',
      domainName: 'api.example.com',
      publishAccessToken: 'sometimes',
      rollout: 'quickly',
    };
    const refusal = await refusalOf('--stage', 'prod', ...flags(bad));

    expect(refusal).toContain('tokenIssuer: must be an https address, and not one of this machine.');
    expect(refusal).toContain('tokenKeySetUrl: must be an https address, and not one of this machine.');
    expect(refusal).toContain('imageProviderKey: must name a secret');
    expect(refusal).toContain('domainName and certificateArn must be given together.');
    expect(refusal).toContain('PUBLISH_ACCESS_TOKEN: ');
    expect(refusal).toContain('rollout: must be off, or a configuration');
    expect(refusal).not.toContain('the-key-itself');
  });

  test('where it is the local one', async () => {
    expect(await refusalOf()).toContain(
      '"local" is the stage of npm start; name another one, such as --stage prod.',
    );
  });
});
