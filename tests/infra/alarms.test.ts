import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { withMetrics } from '../../lib/metrics.ts';
import { setVariables } from '../support/variables.ts';
import { asText } from './intrinsics.ts';
import {
  eventFunctions,
  functionNames,
  ofType,
  type Packaged,
  packagedStage,
  properties,
} from './packaging.ts';

/*
 * The alarms of the packaged templates, held to what AWS documents about metrics and alarms, with the page that states it.
 */

const prefix = 'node-registry-prod-';
const own = 'node-registry/prod';
let plain: Packaged;
let full: Packaged;

beforeAll(async () => {
  [plain, full] = await Promise.all([packagedStage('direct'), packagedStage('full')]);
});

function alarmsOf(stage: Packaged): Part[] {
  return ofType(stage, 'AWS::CloudWatch::Alarm').map(([, alarm]) => alarm);
}

function namesOf(alarms: readonly Part[]): string[] {
  return alarms.map(({ AlarmName }) => AlarmName.replace(prefix, '')).sort();
}

/** The names of all alarms of both stages that break a rule. */
function breaking(rule: (alarm: Part) => boolean): string[] {
  return [...new Set(namesOf([...alarmsOf(plain), ...alarmsOf(full)].filter((alarm) => !rule(alarm))))];
}

/** Each metric that an alarm looks at, whether by itself or in an expression. */
function watched(alarm: Part): { namespace: string; name: string; dimensions: string[] }[] {
  const metrics = alarm.Metrics?.flatMap(({ MetricStat }: Part) => MetricStat?.Metric ?? []) ?? [alarm];
  return metrics.map(({ Namespace, MetricName, Dimensions = [] }: Part) => ({
    namespace: Namespace,
    name: MetricName,
    dimensions: Dimensions.map(({ Name }: Part) => Name),
  }));
}

type Series = Record<string, (number | undefined)[]>;

/**
 * The state after some periods, by their values of each metric, as AWS documents it:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html and using-metric-math.html.
 * An expression has no value where a metric that it doesn't fill in has none.
 */
function alarmState(alarm: Part, series: Series): string {
  const { Metrics, EvaluationPeriods, DatapointsToAlarm, Threshold, ComparisonOperator } = alarm;
  const values = Array.from({ length: EvaluationPeriods }, (_, period) => {
    if (Metrics === undefined) return series.metric?.[period];
    const [{ Expression }, ...metrics] = Metrics;
    const known = Object.fromEntries(metrics.map(({ Id }: Part) => [Id, series[Id]?.[period]]));
    const isFilled = (id: string) => Expression.includes(`FILL(${id}, 0)`);
    if (Object.entries(known).some(([id, value]) => value === undefined && !isFilled(id))) return undefined;
    const script = Expression.replaceAll(/FILL\((\w+), 0\)/g, '($1 ?? 0)').replaceAll(' AND ', ' && ');
    const IF = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
    return new Function('IF', ...Object.keys(known), `return ${script}`)(IF, ...Object.values(known));
  });
  const isBreaching = (value: number | undefined) => {
    if (value === undefined) return alarm.TreatMissingData === 'breaching';
    return ComparisonOperator === 'LessThanThreshold' ? value < Threshold : value > Threshold;
  };
  if (alarm.TreatMissingData === 'ignore' && values.every((value) => value === undefined)) return 'kept';
  return values.filter(isBreaching).length >= DatapointsToAlarm ? 'ALARM' : 'OK';
}

/** The same value in each of enough periods. */
function always(values: Record<string, number | undefined>): Series {
  return Object.fromEntries(Object.entries(values).map(([id, value]) => [id, Array(15).fill(value)]));
}

/** On work that leaves a line at each run. */
const presence = /^(?:sweep-missing-.*|work-silent|index-age|failed-reads)$/;
const deadLetters = /-dead-letters$/;

describe('the alarms', () => {
  test('lack those of relays, reservations and self-service in a stage without them', () => {
    const only = /Notification|pollProviders|unknown-states|reserved-|selfService/;

    expect(namesOf(alarmsOf(plain)).filter((name) => only.test(name))).toEqual([]);
    expect(namesOf(alarmsOf(full)).filter((name) => only.test(name)).length).toBeGreaterThan(5);
  });

  test('watch every function for faults, and for internal errors and slowness if it answers callers', () => {
    const names = namesOf(alarmsOf(full));
    const onEvents = eventFunctions(full);
    // Without its data, failed-reads fires.
    const watchedByFaults = functionNames.filter((name) => name !== 'watchReads');
    const wanted = watchedByFaults.flatMap((name) => [
      `faults-${name}`,
      ...(onEvents.includes(name) ? [] : [`internal-errors-${name}`, `slow-${name}`]),
      ...(/Image$|Video$/.test(name) ? [`no-success-${name}`] : []),
    ]);

    expect(names.filter((name) => /^(?:faults|internal|slow|no-success)-/.test(name))).toEqual(wanted.sort());
  });

  test('fire beyond their bound in as many periods as they need, and not before', () => {
    const states = ({ Threshold, ComparisonOperator, DatapointsToAlarm, EvaluationPeriods }: Part) => {
      const beyond = Threshold + (ComparisonOperator === 'LessThanThreshold' ? -1 : 1);
      return [0, DatapointsToAlarm - 1, DatapointsToAlarm].map((count) => [
        ...Array(count).fill(beyond),
        ...Array(EvaluationPeriods - count).fill(Threshold),
      ]);
    };
    const single = [...alarmsOf(plain), ...alarmsOf(full)].filter(({ Metrics }) => Metrics === undefined);

    for (const alarm of single)
      expect([alarm.AlarmName, ...states(alarm).map((metric) => alarmState(alarm, { metric }))]).toEqual([
        ...[alarm.AlarmName, 'OK', 'OK', 'ALARM'],
      ]);
  });

  const accepted = 2 ** 32;

  test.each<[alarm: string, values: Record<string, number | undefined>, state: string]>([
    ['server-errors', { requests: 100, errors: undefined }, 'OK'],
    ['server-errors', { requests: 100, errors: 100 }, 'ALARM'],
    ['server-errors', { requests: 19, errors: 19 }, 'OK'],
    ['repeated-server-errors', { requests: 1, errors: 1 }, 'ALARM'],
    ['client-errors', { requests: 100, errors: undefined }, 'OK'],
    ['client-errors', { requests: 100, errors: 100 }, 'ALARM'],
    ['no-success-textToVideo', { calls: 10, low: 1, high: 2 }, 'ALARM'],
    ['no-success-textToVideo', { calls: 9, low: 1, high: 2 }, 'OK'],
    ['no-success-textToVideo', { calls: 10, low: 1, high: accepted }, 'OK'],
    // A single caller with bad prompts.
    ['no-success-textToVideo', { calls: 500, low: 1, high: 1 }, 'OK'],
    ['video-provider-errors', { errors: 0, calls: 10 }, 'OK'],
    ['video-provider-errors', { errors: 10, calls: 10 }, 'ALARM'],
    ['function-throttles', { updateNode: 0 }, 'OK'],
    ['function-throttles', { updateNode: 1 }, 'ALARM'],
    ['reserved-throttles', { textToVideo: 1 }, 'ALARM'],
    ['index-read-throttles', { throttles: 1 }, 'ALARM'],
    ['work-silent', { metric: 3 }, 'OK'],
    ['work-silent', { metric: 2 }, 'ALARM'],
    ['work-age-visit', { due: 600_000, queued: 300 }, 'OK'],
    ['work-age-visit', { due: 600_000, queued: 301 }, 'ALARM'],
    ['work-age-visit', { due: undefined, queued: 901 }, 'ALARM'],
  ])('%s with %j in each period comes to %s', (name, values, state) => {
    const [alarm] = alarmsOf(full).filter(({ AlarmName }) => AlarmName === prefix + name);

    expect(alarmState(alarm, always(values))).toBe(state);
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

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html: a metric that has data
  // only when something happens is to be treated as not breaching where it has none.
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/monitoring-using-cloudwatch.html: a queue has
  // metrics while it is active, which is for up to six hours if it holds messages or is used, and up to 15 minutes late.
  test('are quiet without data, except those on work that must run, and keep their state on dead letters', () => {
    const stateWithout = (alarm: Part) => {
      const [name = ''] = namesOf([alarm]);
      if (presence.test(name)) return 'ALARM';
      return deadLetters.test(name) ? 'kept' : 'OK';
    };

    expect(breaking((alarm) => alarmState(alarm, {}) === stateWithout(alarm))).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-warm-up.html: at most 2,880 minutes, in which an
  // alarm has no data to judge. What it finds afterwards is a change of state, so it pages.
  test('on work that must run wait for an hour longer than they look back, and others not at all', () => {
    const wait = ({ WarmUpConfiguration }: Part) => WarmUpConfiguration?.WarmUpPeriodDurationInMinutes ?? 0;
    const isRight = (alarm: Part) =>
      wait(alarm) ===
      (alarm.TreatMissingData === 'breaching' ? (alarm.Period * alarm.EvaluationPeriods) / 60 + 60 : 0);

    expect(
      breaking((alarm) => isRight(alarm) && wait(alarm) <= 2880 && alarm.ActionsEnabled !== false),
    ).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/percentiles-with-low-samples.html: with fewer than
  // 10 / (1 - p) samples, 200 for a p95, "ignore" keeps the state. "evaluate" is the default, and is stated here.
  test('evaluate a percentile of few samples', () => {
    const isPercentile = ({ ExtendedStatistic }: Part) => ExtendedStatistic !== undefined;

    expect(
      breaking((alarm) => !isPercentile(alarm) || alarm.EvaluateLowSampleCountPercentile === 'evaluate'),
    ).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html links to each list.
  test('look at metrics that AWS documents', () => {
    const names = alarmsOf(full)
      .flatMap(watched)
      .map(({ namespace, name }) => `${namespace} ${name}`);

    expect([...new Set(names.filter((name) => name.startsWith('AWS/')))].sort()).toEqual([
      ...['4xx', '5xx', 'Count'].map((name) => `AWS/ApiGateway ${name}`),
      ...['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => `AWS/DynamoDB ${name}`),
      ...['Duration', 'Errors', 'Throttles'].map((name) => `AWS/Lambda ${name}`),
      'AWS/S3 BucketSizeBytes',
      ...['AgeOfOldestMessage', 'NumberOfMessagesVisible'].map((name) => `AWS/SQS Approximate${name}`),
    ]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html, Dimensions: CloudWatch treats
  // each combination of dimensions as a metric of its own, so an alarm has exactly those with which a line was logged.
  test('look at metrics of our own with exactly the dimensions that the log lines give them', () => {
    setVariables({ METRICS_NAMESPACE: own });
    const paid = { provider: 'image', credits: 1, credits_above_ceiling: 1, provider_ms: 1 };
    const logged = [
      { event: 'request', function: 'relightImage', code: 'internal_error', ...paid },
      { event: 'work', lane: 'deliver', outcome: 'given_up' },
      { event: 'hand_over', lane: 'deliver', oldest_owed_ms: 1 },
      { event: 'sweep' },
      { event: 'unknown_state', provider: 'image' },
      { event: 'index', lag_ms: 1 },
      { event: 'log_file', download_bytes: 1 },
      { event: 'reads', failed_reads: 1 },
    ].flatMap((fields) => {
      const line: Part = withMetrics(fields);
      return line._aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }: Part) =>
        Metrics.map(({ Name }: Part) => [Name, ...Dimensions[0]].join()),
      );
    });
    const metrics = alarmsOf(full)
      .flatMap(watched)
      .filter(({ namespace }) => !namespace.startsWith('AWS/'));

    expect(new Set(metrics.map(({ namespace }) => namespace))).toEqual(new Set([own]));
    for (const [, { FilterPattern, MetricTransformations }] of ofType(full, 'AWS::Logs::MetricFilter')) {
      // The access log has them as text.
      expect(FilterPattern).toBe('{ $.route = "POST /bulk/nodes/versions" && $.status = "429" }');
      for (const { MetricNamespace, MetricName } of MetricTransformations) {
        expect(MetricNamespace).toBe(own);
        logged.push(MetricName);
      }
    }
    for (const { name, dimensions } of metrics) expect(logged).toContain([name, ...dimensions].join());
  });

  test("describe their meaning, where to look and what to do, within CloudWatch's limit", () => {
    expect(
      breaking(
        ({ AlarmDescription: it }) =>
          /^[A-Z].+\. See .+\. .+\.$/.test(asText(it)) && asText(it).length <= 1024,
      ),
    ).toEqual([]);
  });

  test('stand alone in their description, which becomes a mail', () => {
    const refers = /\b(?:the same|as above|see above|ditto|likewise)\b|\$on\b|\]\(/i;

    expect(breaking(({ AlarmDescription: it }) => !refers.test(asText(it)))).toEqual([]);
  });

  test('notify the topic, if there is one, when they begin and when they end', () => {
    const topic = [parameterSets.full.alarmTopicArn];

    expect(
      alarmsOf(plain)
        .flatMap((it) => [it.AlarmActions, it.OKActions])
        .filter(Boolean),
    ).toEqual([]);
    for (const { AlarmActions, OKActions } of alarmsOf(full))
      expect([AlarmActions, OKActions]).toEqual([topic, topic]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html, and PutMetricAlarm.
  // https://aws.amazon.com/cloudwatch/pricing: 0.10 a month for each metric that an alarm watches.
  test('cost a stage by default as much as docs/capacity.md says', async () => {
    const metrics = alarmsOf(await packagedStage('default')).flatMap(watched);

    expect(readFileSync('docs/capacity.md', 'utf8')).toContain(
      `: alarms ${(metrics.length / 10).toFixed(2)},`,
    );
  });

  test('look at ten metrics at most, for a week at most if their periods are hours, otherwise for a day', () => {
    const seconds = ({ Metrics = [], Period }: Part): number =>
      Period ?? Metrics.find(({ MetricStat }: Part) => MetricStat).MetricStat.Period;
    const isShort = (alarm: Part) =>
      seconds(alarm) * alarm.EvaluationPeriods <= (seconds(alarm) < 3600 ? 86_400 : 604_800);

    expect(breaking((alarm) => watched(alarm).length <= 10 && isShort(alarm))).toEqual([]);
  });
});

test.each([
  ['direct', 11],
  ['full', 14],
] as const)('the dashboard gives every widget of the %s stage its place and region', async (set, count) => {
  const stage = await packagedStage(set);
  const { widgets } = JSON.parse(asText(properties(stage, 'Dashboard').DashboardBody));

  expect(widgets).toHaveLength(count);
  for (const { type, x, width, properties: shown } of widgets)
    expect([type, x + width <= 24, shown.region]).toEqual(['metric', true, `\${AWS::Region}`]);
});
