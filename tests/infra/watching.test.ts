import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { asText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties } from './packaging.ts';

let plain: Packaged;
let full: Packaged;

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('default'), packagedStage('full')]);
}, 120_000);

/** The metrics that an alarm looks at, as namespace and name. */
function watched({ Namespace, MetricName, Metrics = [] }: Part): string[] {
  if (MetricName) return [`${Namespace} ${MetricName}`];
  return Metrics.flatMap(({ MetricStat }: Part) => (MetricStat ? watched(MetricStat.Metric) : []));
}

const proxies = ['relightImage', 'textToVideo', 'extendVideo', 'multiframeVideo'];
const routes = [
  'unknownRoute',
  'receiveNotification',
  'updateNode',
  'publishNodeVersion',
  'updateHostNode',
  'bulkNodeVersions',
  ...proxies,
];
const functions = readdirSync('functions').map((file) =>
  file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
);
const own = 'node-registry/prod';

const alarms: [string, string[]][] = [
  ['server-errors', ['AWS/ApiGateway 5xx', 'AWS/ApiGateway Count']],
  ['repeated-server-errors', ['AWS/ApiGateway 5xx', 'AWS/ApiGateway Count']],
  ['client-errors', ['AWS/ApiGateway 4xx', 'AWS/ApiGateway Count']],
  ...functions.map((name): [string, string[]] => [
    `faults-${name}`,
    ['AWS/Lambda Errors', `${own} requests`],
  ]),
  ...routes.map((name): [string, string[]] => [`slow-${name}`, ['AWS/Lambda Duration']]),
  ['function-throttles', ['AWS/Lambda Throttles']],
  ['table-throttles', ['AWS/DynamoDB ReadThrottleEvents', 'AWS/DynamoDB WriteThrottleEvents']],
  ['image-provider-credentials', [`${own} provider_credentials_refused`]],
  ['video-provider-credentials', [`${own} provider_credentials_refused`]],
  ['image-provider-quota', [`${own} requests`]],
  ['video-provider-quota', [`${own} requests`, `${own} requests`, `${own} requests`]],
  ['image-provider-errors', [`${own} provider_errors`, `${own} provider_calls`]],
  ['video-provider-errors', [`${own} provider_errors`, `${own} provider_calls`]],
  ['credits-per-hour', [`${own} credits`, `${own} credits`]],
  ['credit-ceiling', [`${own} replies_above_ceiling`]],
  ['finalize-upload-dead-letters', ['AWS/SQS ApproximateNumberOfMessagesVisible']],
  ['extract-host-nodes-dead-letters', ['AWS/SQS ApproximateNumberOfMessagesVisible']],
  ['sweep-findings', [`${own} sweep_findings`]],
  ['sweep-missing', [`${own} sweep_findings`]],
  ['bucket-size', ['AWS/S3 BucketSizeBytes']],
  ['notification-failures', [`${own} deliveries`]],
  ['notification-backlog', [`${own} oldest_due_ms`]],
];

/** What a stage has only where it notifies callers itself; and with a reservation there is one more. */
const ofRelay = /^notification-|-(?:deliverNotifications|receiveNotification)$/;
const plainAlarms = alarms.filter(([name]) => !ofRelay.test(name));
const allAlarms: [string, string[]][] = [
  ...alarms,
  ['reserved-throttles', Array(6).fill('AWS/Lambda Throttles')],
];
const rightWhereMissing = ['sweep-missing', 'notification-backlog'];

function alarmNamed(name: string, stage = plain): Part {
  return ofType(stage, 'AWS::CloudWatch::Alarm').find(
    ([, it]) => it.AlarmName === `node-registry-prod-${name}`,
  )?.[1];
}

describe('the alarms', () => {
  test.each(allAlarms)('%s looks at %j', (name, metrics) => {
    const alarm = alarmNamed(name) ?? alarmNamed(name, full);

    expect(watched(alarm)).toEqual(metrics);
    expect(alarm.TreatMissingData).toBe(rightWhereMissing.includes(name) ? 'breaching' : 'notBreaching');
    expect(alarm.AlarmDescription).toMatch(/^[A-Z].*\.$/);
  });

  test.each([
    ['default', plainAlarms],
    ['full', allAlarms],
  ] as const)('are these and no others in the %s stage', async (set, expected) => {
    const names = ofType(await packagedStage(set), 'AWS::CloudWatch::Alarm').map(([, it]) => it.AlarmName);

    expect(names.sort()).toEqual(expected.map(([name]) => `node-registry-prod-${name}`).sort());
  });

  test.each(allAlarms)('%s has its row in the runbook', (name) => {
    const rows = readFileSync('docs/runbook.md', 'utf8').match(/^\| (`[\w<>-]+`(, )?)+ \|.*$/gm) ?? [];
    const shown = `\`${name.replace(/^(slow|faults)-.*/, '$1-<function>')}\``;

    expect(rows.filter((row) => row.split(' | ')[0]?.includes(shown))).toHaveLength(1);
  });

  test('notify the topic when they begin and when they end, where there is one', () => {
    const topic = [parameterSets.full.alarmTopicArn];
    const notified = (stage: Packaged) =>
      ofType(stage, 'AWS::CloudWatch::Alarm').map(([, it]) => [it.AlarmActions, it.OKActions]);

    expect(notified(plain)).toEqual(plainAlarms.map(() => [undefined, undefined]));
    expect(notified(full)).toEqual(allAlarms.map(() => [topic, topic]));
  });

  test('are more patient with proxies, which wait for their providers', () => {
    const bounds = routes.map((name) => [name, alarmNamed(`slow-${name}`, full).Threshold]);

    expect(bounds).toEqual(routes.map((name) => [name, proxies.includes(name) ? 15_000 : 2000]));
  });

  test('of money are joined by a budget of the account, where one is given', () => {
    expect(ofType(plain, 'AWS::Budgets::Budget')).toEqual([]);
    expect(properties(full, 'AccountBudget').Budget.BudgetLimit).toMatchObject({
      Amount: '100',
      Unit: 'USD',
    });
  });

  test('and the dashboard look at no metric that the log lines do not have', () => {
    const source = readFileSync('lib/metrics.ts', 'utf8');
    const page = asText(properties(full, 'Dashboard').DashboardBody);
    const searched = [...page.matchAll(/node-registry\/prod\\",\w+(?:,\w+)?\} MetricName=\\"(\w+)\\"/g)].map(
      ([, it]) => it,
    );
    const named = alarms.flatMap(([, metrics]) => metrics).filter((metric) => metric.startsWith(own));

    expect(searched.length).toBeGreaterThanOrEqual(6);
    for (const name of [...searched, ...named.map((metric) => metric.split(' ')[1])])
      expect(source).toMatch(
        new RegExp(`\\b${name}: '(Count|Milliseconds)'|(counted|milliseconds)\\('${name}'`),
      );
  });
});

test.each([
  ['default', 11],
  ['full', 14],
] as const)(
  'the dashboard of the %s stage is JSON that CloudWatch takes: every widget has its place, its region and metrics',
  async (set, count) => {
    const stage = await packagedStage(set);
    const { widgets } = JSON.parse(asText(properties(stage, 'Dashboard').DashboardBody));

    expect(widgets).toHaveLength(count);
    for (const { type, x, width, properties } of widgets) {
      expect(type).toBe('metric');
      expect(x + width).toBeLessThanOrEqual(24);
      expect(properties).toMatchObject({ region: expect.any(String), title: expect.any(String) });
      expect(properties.metrics.length).toBeGreaterThan(0);
    }
  },
);
