import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { upperFirst } from '../../infra/template/alarm-resources.ts';
import { withMetrics } from '../../lib/metrics.ts';
import { type Lane, lanes } from '../../lib/work/lanes.ts';
import { setVariables } from '../support/variables.ts';
import { asText } from './intrinsics.ts';
import { eventFunctions, ofType, type Packaged, packagedStage, properties } from './packaging.ts';

/*
 * The alarms of the packaged templates, evaluated as AWS documents it on what the service logs and what AWS's services
 * report: each fires on its bad day, and alone.
 */

const prefix = 'node-registry-prod-';
const own = 'node-registry/prod';
setVariables({ METRICS_NAMESPACE: own });
const full = await packagedStage('full');

function alarmsOf(stage: Packaged): Part[] {
  return ofType(stage, 'AWS::CloudWatch::Alarm').map(([, alarm]) => alarm);
}

function compositesOf(stage: Packaged): Part[] {
  return ofType(stage, 'AWS::CloudWatch::CompositeAlarm').map(([, alarm]) => alarm);
}

function nameOf({ AlarmName }: Part): string {
  return AlarmName.replace(prefix, '');
}

/** The names of all alarms that break a rule. */
function breaking(rule: (alarm: Part) => boolean): string[] {
  return alarmsOf(full).flatMap((alarm) => (rule(alarm) ? [] : [nameOf(alarm)]));
}

/** What a metric's dimensions and name make one: CloudWatch treats each combination of dimensions as a metric of its own. */
function keyOf(namespace: string, name: string, dimensions: [name: string, value: unknown][]): string {
  return [namespace, name, ...dimensions.map((each) => each.join('=')).sort()].join(' ');
}

/** The values of one period by metric. */
type Period = Map<string, number[]>;
type Datum = readonly [key: string, values: number[]];

/** Each metric that a log line made. */
const made = new Set<string>();

/** What a log line makes, so many times. */
function logged(line: Part, times = 1): Datum[] {
  const { _aws = { CloudWatchMetrics: [] }, ...fields }: Part = withMetrics(line, own);
  return _aws.CloudWatchMetrics.flatMap(({ Dimensions: [names], Metrics }: Part) =>
    Metrics.map(({ Name }: Part) => {
      const dimensions = names.map((name: string): [string, unknown] => [name, fields[name]]);
      const key = keyOf(own, Name, dimensions);
      made.add(key);
      return [key, Array(times).fill(fields[Name])];
    }),
  );
}

/** What the filters of the access log make of a request. */
function accessed(fields: Record<string, string>, times = 1): Datum[] {
  const line = { ...accessLine(), ...fields };
  return ofType(full, 'AWS::Logs::MetricFilter').flatMap(([, { FilterPattern, MetricTransformations }]) => {
    const script = FilterPattern.replaceAll('$.', 'line.').replaceAll(' = ', ' === ').replace(/^{|}$/g, '');
    if (!new Function('line', `return ${script}`)(line)) return [];
    return MetricTransformations.map(({ MetricNamespace, MetricName, MetricValue }: Part) => {
      const key = keyOf(MetricNamespace, MetricName, []);
      made.add(key);
      return [key, Array(times).fill(Number(MetricValue))];
    });
  });
}

/** The gateway writes a hyphen for what it doesn't have. */
function accessLine(): Record<string, string> {
  const { AccessLogSettings } = properties(full, 'HttpApiStage');
  return JSON.parse(AccessLogSettings.Format.replaceAll(/\$[\w.]+/g, '-'));
}

/** What a service of AWS reports. */
function reported(service: string, name: string, dimensions: Record<string, string>, value = 1): Datum[] {
  return [[keyOf(`AWS/${service}`, name, Object.entries(dimensions)), [value]]];
}

function periodOf(data: readonly Datum[]): Period {
  const grouped = Map.groupBy(data, ([key]) => key);
  return new Map([...grouped].map(([key, parts]) => [key, parts.flatMap(([, values]) => values)]));
}

const statistics: Record<string, (values: number[]) => number> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  Average: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  Minimum: (values) => Math.min(...values),
  Maximum: (values) => Math.max(...values),
  SampleCount: (values) => values.length,
  p95: (values) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0,
};

function keyOfMetric({ Namespace, MetricName, Dimensions = [] }: Part): string {
  return keyOf(
    Namespace,
    MetricName,
    Dimensions.map(({ Name, Value }: Part) => [Name, asText(Value)]),
  );
}

function measured(metric: Part, statistic: string, period: Period): number | undefined {
  const values = period.get(keyOfMetric(metric));
  return values && statistics[statistic]?.(values);
}

/**
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html: an expression has no value where
 * a metric that it doesn't fill in has none.
 */
function calculated(alarm: Part, period: Period): number | undefined {
  if (!alarm.Metrics) return measured(alarm, alarm.Statistic ?? alarm.ExtendedStatistic, period);
  const [{ Expression }, ...metrics] = alarm.Metrics;
  const known = metrics.map(({ Id, MetricStat }: Part) => [
    Id,
    measured(MetricStat.Metric, MetricStat.Stat, period),
  ]);
  const isFilled = (id: string) => Expression.includes(`FILL(${id}, 0)`);
  if (known.some(([id, value]: Part) => value === undefined && !isFilled(id))) return undefined;
  const script = Expression.replaceAll(/FILL\((\w+), 0\)/g, '($1 ?? 0)')
    .replaceAll(' AND ', ' && ')
    .replaceAll(' OR ', ' || ');
  const IF = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
  const values = Object.fromEntries(known);
  return Number(new Function('IF', ...Object.keys(values), `return ${script}`)(IF, ...Object.values(values)));
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html */
function stateOf(alarm: Part, periodAt: (place: number) => Period): string {
  const { EvaluationPeriods, DatapointsToAlarm, Threshold, ComparisonOperator, TreatMissingData } = alarm;
  const values = Array.from({ length: EvaluationPeriods }, (_, place) => calculated(alarm, periodAt(place)));
  const isBreaching = (value: number | undefined) => {
    if (value === undefined) return TreatMissingData === 'breaching';
    return ComparisonOperator === 'LessThanThreshold' ? value < Threshold : value > Threshold;
  };
  if (TreatMissingData === 'ignore' && values.every((value) => value === undefined)) return 'kept';
  return values.filter(isBreaching).length >= DatapointsToAlarm ? 'ALARM' : 'OK';
}

/** The alarms that fire if each period has these data, the composite among them. */
function firing(data: readonly Datum[]): string[] {
  const period = periodOf(data);
  const names = alarmsOf(full).filter((alarm) => stateOf(alarm, () => period) === 'ALARM');
  const isFiring = (id: string) => names.includes(properties(full, id));
  const composites = compositesOf(full).filter(({ AlarmRule }) => {
    const rule = AlarmRule['Fn::Sub']
      .replaceAll(/ALARM\("\$\{(\w+)\}"\)/g, (_: string, id: string) => String(isFiring(id)))
      .replaceAll(' AND ', ' && ')
      .replaceAll(' OR ', ' || ');
    return new Function(`return ${rule}`)();
  });
  return [...names, ...composites].map(nameOf).sort();
}

/** What runs without a request, each period of five minutes. */
const runs: Record<string, Part> = {
  downloads: { event: 'sweep', sweep: 'downloads', sweep_findings: 0 },
  catalog: { event: 'sweep', sweep: 'catalog', sweep_findings: 0 },
  index: { event: 'index', lag_ms: 900 },
  reads: { event: 'reads', failed_reads: 0 },
  ...Object.fromEntries(
    Object.keys(lanes).map((lane) => [lane, { event: 'hand_over', lane, oldest_owed_ms: 0 }]),
  ),
};

function healthyBut(...missing: string[]): Datum[] {
  return Object.entries(runs).flatMap(([name, line]) => (missing.includes(name) ? [] : logged(line, 5)));
}

const requests = (times: number, fields: Part = {}) =>
  logged({ event: 'request', function: 'updateNode', ...fields }, times);
const paid = (
  principal: string,
  fields: Part = {},
  times = 5,
  operation: Part = { function: 'textToVideo' },
) => requests(times, { provider: 'video', provider_ms: 9, principal, ...operation, ...fields });
/** An operation of each provider. */
const bought: Part[] = [
  { function: 'relightImage', provider: 'image' },
  ...['textToVideo', 'extendVideo', 'multiframeVideo'].map((name) => ({ function: name })),
];
const gateway = (name: string, value: number) =>
  reported('ApiGateway', name, { ApiId: `\${HttpApi}` }, value);
const queue = (name: string, metric: string, value = 1) =>
  reported('SQS', metric, { QueueName: `\${${name}.QueueName}` }, value);
const waiting = (name: string) => queue(name, 'ApproximateNumberOfMessagesVisible');
const oldest = (name: string, seconds: number) => queue(name, 'ApproximateAgeOfOldestMessage', seconds);
const table = { TableName: `\${Table}` };
const pending = { ...table, GlobalSecondaryIndexName: 'pending' };
const laneRows = Object.entries<Lane>(lanes);

/** What happens, and which alarms fire on it. */
const badDays: [alarms: string, data: readonly Datum[], missing?: string[]][] = [
  ['faults', accessed({ status: '500' })],
  ['faults', accessed({ status: '502', gateway_error: 'INTEGRATION_FAILURE' })],
  ['', [...accessed({ status: '502' }), ...accessed({ status: '503', gateway_error: 'THROTTLED' })]],
  ['slow-requests', requests(1, { ms: 2001 })],
  ['repeated-server-errors server-errors', [...gateway('Count', 100), ...gateway('5xx', 6)]],
  ['repeated-server-errors', [...gateway('Count', 19), ...gateway('5xx', 19)]],
  ['client-errors', [...gateway('Count', 20), ...gateway('4xx', 11)]],
  ['throttles', reported('Lambda', 'Throttles', {})],
  ['bulk-throttles', accessed({ route: 'POST /bulk/nodes/versions', status: '429' }, 61)],
  ...[table, pending].flatMap((place) =>
    ['Read', 'Write'].map((kind): [string, Datum[]] => [
      'table-throttles',
      reported('DynamoDB', `${kind}ThrottleEvents`, place),
    ]),
  ),
  ...bought.flatMap((operation): [string, Datum[]][] => {
    const rejected = (caller: string) => paid(caller, { code: 'provider_rejected' }, 5, operation);
    return [
      ['provider-credentials', paid('1', { code: 'provider_credentials' }, 1, operation)],
      ['provider-quota', paid('1', { code: 'provider_quota' }, 1, operation)],
      [
        'provider-errors',
        [...paid('1', { code: 'provider_timeout' }, 3, operation), ...paid('1', {}, 10, operation)],
      ],
      ['slow-providers', paid('1', { ms: 16_000, provider_ms: 15_001 }, 1, operation)],
      [`no-success-${operation.provider ?? 'video'}`, [...rejected('1'), ...rejected('2')]],
    ];
  }),
  ['credits-per-hour', paid('1', { credits: 2001 }, 1)],
  ['credit-ceiling', paid('1', { credits: 1, credits_above_ceiling: 1 })],
  ['write-index-dead-letters', waiting('WriteIndexFailures')],
  ['index-backlog', oldest('IndexChanges', 3601)],
  [
    'bucket-size',
    reported(
      'S3',
      'BucketSizeBytes',
      { BucketName: parameterSets.full.bucketName, StorageType: 'StandardStorage' },
      501e9,
    ),
  ],
  ...['downloads', 'catalog'].map((sweep): [string, [], string[]] => [`sweep-missing-${sweep}`, [], [sweep]]),
  ['index-age', logged({ event: 'index', lag_ms: 300_001 })],
  ['index-age', [], ['index']],
  ['failed-reads stage-down', logged({ event: 'reads', failed_reads: 1 })],
  ['failed-reads stage-down', [], ['reads']],
  ['download-bytes', logged({ event: 'log_file', download_bytes: 100e9 + 1 })],
  ['unknown-states', logged({ event: 'unknown_state', provider: 'image' })],
  ['work-silent', [], Object.keys(lanes)],
  // One item of a lane whose others go on: in `align`, its fourth try is over after six minutes.
  ...laneRows.flatMap(([lane]): [string, Datum[]][] => [
    ['work-failing', logged({ event: 'work', lane, outcome: 'failed', tries: 4 })],
    ['', logged({ event: 'work', lane, outcome: 'failed', tries: 3 }, 100)],
  ]),
  ...laneRows.flatMap(([lane, { maxAgeSeconds, maxGivenUp = 0 }]): [string, Datum[]][] => [
    [`work-age-${lane}`, logged({ event: 'hand_over', lane, oldest_owed_ms: (maxAgeSeconds + 1) * 1000 })],
    [`work-age-${lane}`, oldest(`${upperFirst(lane)}Queue`, maxAgeSeconds + 1)],
    [
      lane === 'visit' ? '' : 'work-given-up',
      logged({ event: 'work', lane, outcome: 'given_up' }, maxGivenUp + 1),
    ],
  ]),
  ['index-age stage-down work-silent', [], ['index', ...Object.keys(lanes)]],
  [
    'faults repeated-server-errors server-errors stage-down',
    [...gateway('Count', 100), ...gateway('5xx', 6), ...accessed({ status: '500' }, 6)],
  ],
  // A single caller with bad prompts; a provider that accepts one of two; too few to judge; one that is slow to refuse.
  ['', paid('1', { code: 'provider_rejected' }, 500)],
  ['', [...paid('1', { code: 'provider_rejected' }), ...paid('2')]],
  ['', ['1', '2'].flatMap((caller) => paid(caller, { code: 'provider_rejected' }, 4))],
  ['', [...paid('1', { code: 'provider_timeout' }), ...paid('1', {}, 20)]],
  ['', paid('1', { ms: 17_000, provider_ms: 15_000 })],
  ['', [...gateway('Count', 100), ...gateway('5xx', 5), ...gateway('4xx', 50)]],
  ...eventFunctions(full)
    .filter((name) => name !== 'watchReads')
    .map((name): [string, Datum[]] => [
      'faults-work',
      reported('Lambda', 'Errors', { FunctionName: `\${${upperFirst(name)}LambdaFunction}` }),
    ]),
];

describe('the alarms', () => {
  test.each(badDays)('%s: only these fire in the end on row %#', (names, data, missing = []) => {
    expect(firing([...healthyBut(...missing), ...data]).join(' ')).toBe(names);
  });

  test('all have their bad day, at most 45 of them', () => {
    const all = [...alarmsOf(full), ...compositesOf(full)].map(nameOf);
    const shown = badDays.flatMap(([names]) => names.split(' '));

    expect(all.filter((name) => !shown.includes(name))).toEqual([]);
    expect(all.length).toBeLessThanOrEqual(45);
  });

  test('watch only metrics that a log line makes', () => {
    healthyBut();
    const isMade = (metric: Part) => metric.Namespace !== own || made.has(keyOfMetric(metric));

    expect(breaking((alarm) => metricsOf(alarm).every(isMade))).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html, FILL: a metric that is reported
  // with a delay has no value in the last period, where FILL puts one, so the alarm is stuck. An M out of N alarm is not.
  // Where one of the metrics is not filled, a period without data stays one.
  test('fill in every metric of an expression only if M of N periods suffice', () => {
    const isFilledWhole = ({ Metrics = [] }: Part) => {
      const { Expression } = Metrics.find((part: Part) => part.Expression) ?? {};
      const ids = Metrics.filter((part: Part) => part.MetricStat).map(({ Id }: Part) => Id);
      return ids.length > 0 && ids.every((id: string) => Expression.includes(`FILL(${id}, `));
    };

    expect(
      breaking((alarm) => !isFilledWhole(alarm) || alarm.DatapointsToAlarm < alarm.EvaluationPeriods),
    ).toEqual([]);
  });

  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/monitoring-using-cloudwatch.html: a queue has
  // metrics while it is active, which is for up to six hours if it holds messages or is used, and up to 15 minutes late.
  test('are quiet without data, except those on work that must run, and keep their state on dead letters', () => {
    const presence = /^(?:sweep-missing-.*|work-silent|index-age|failed-reads)$/;
    const stateWithout = (name: string) => {
      if (presence.test(name)) return 'ALARM';
      return name.endsWith('-dead-letters') ? 'kept' : 'OK';
    };

    expect(breaking((alarm) => stateOf(alarm, () => new Map()) === stateWithout(nameOf(alarm)))).toEqual([]);
  });

  test("say what they mean, where to look and what to do, alone in a mail, within CloudWatch's limit", () => {
    const refers = /\b(?:the same|as above|see above|ditto|likewise)\b|\$on\b|\]\(/i;
    const isWhole = (text: string) =>
      /^[A-Z].+\. See .+\. .+\. Until then: .+\.$/.test(text) && text.length <= 1024;

    expect(breaking(({ AlarmDescription: it }) => isWhole(asText(it)) && !refers.test(asText(it)))).toEqual(
      [],
    );
  });

  // https://aws.amazon.com/cloudwatch/pricing: 0.10 a month for each metric that an alarm watches, 0.50 for a composite.
  test('cost a stage by default as much as docs/capacity.md says, at most 12 with all else that it pays idle', async () => {
    const stage = await packagedStage('default');
    const cost = alarmsOf(stage).flatMap(metricsOf).length / 10 + compositesOf(stage).length / 2;
    const [, text = ''] =
      /^(Idle, a stage costs .*?)\. /ms.exec(readFileSync('docs/capacity.md', 'utf8')) ?? [];
    const [sum, alarms, ...others] = text.match(/\d+\.\d\d/g)?.map(Number) ?? [];

    expect(ofType(stage, 'AWS::CloudWatch::Dashboard')).toEqual([]);
    expect(alarms).toBeCloseTo(cost);
    expect(sum).toBeCloseTo(others.reduce((all, each) => all + each, cost));
    expect(sum).toBeLessThanOrEqual(12);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html
  test('look at ten metrics at most', () => {
    expect(breaking((alarm) => metricsOf(alarm).length <= 10)).toEqual([]);
  });
});

/** Each metric that an alarm looks at, whether by itself or in an expression. */
function metricsOf(alarm: Part): Part[] {
  return alarm.Metrics?.flatMap(({ MetricStat }: Part) => MetricStat?.Metric ?? []) ?? [alarm];
}
