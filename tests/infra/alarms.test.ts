import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { withMetrics } from '../../lib/metrics.ts';
import { setVariables } from '../support/variables.ts';
import { asText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties, upperFirst } from './packaging.ts';

/*
 * The alarms of the packaged templates, held to what AWS documents about metrics and alarms, with the page that states it. docs/runbook.md names what no page states.
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

const signs: Record<string, string> = { GreaterThanThreshold: '>', LessThanThreshold: '<' };

/** When an alarm fires, what it makes of periods without data, and the metrics that it looks at. */
function inWords(alarm: Part): string {
  const { Metrics = [{ Expression: '' }, { MetricStat: { Metric: alarm, ...alarm } }] } = alarm;
  const [{ Expression }, ...metrics] = Metrics;
  const watched = metrics.map(({ Id, MetricStat: { Metric, Stat, Statistic, ExtendedStatistic } }: Part) => {
    const by = (Metric.Dimensions ?? []).map(({ Name, Value }: Part) => ` ${Name}=${asText(Value)}`);
    const metric = `${Stat ?? Statistic ?? ExtendedStatistic} of ${Metric.Namespace} ${Metric.MetricName}${by.join('')}`;
    return Id === undefined ? metric : `${Id} is ${metric}`;
  });
  const seconds = new Set(metrics.map(({ MetricStat }: Part) => MetricStat.Period));
  const { DatapointsToAlarm, EvaluationPeriods, Threshold, ComparisonOperator, TreatMissingData } = alarm;
  const bound = `${signs[ComparisonOperator]} ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods}`;
  const rule = `${bound} times ${[...seconds].join(' and ')} s, ${TreatMissingData}`;
  return Expression === '' ? `${watched} ${rule}` : [`${Expression} ${rule}`, ...watched].join('; ');
}

const wordsOf = (alarms: readonly Part[]) =>
  Object.fromEntries(alarms.map((alarm) => [namesOf([alarm])[0], inWords(alarm)]));

const functions = readdirSync('functions').map((file) =>
  file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
);
const eventFunctions = [
  'askProviders',
  'finalizeUpload',
  'extractHostNodes',
  'deliverNotifications',
  'sweepSpending',
  'writeIndex',
];
/** On work that leaves a line at each run. */
const presence = /^(?:sweep-missing-.*|notification-runs)$/;
const deadLetters = /-dead-letters$/;

describe('the alarms', () => {
  test('lack those of relays and reservations in a stage without them, and are the same otherwise', () => {
    const [words, all] = [wordsOf(alarmsOf(plain)), wordsOf(alarmsOf(full))];

    expect(
      Object.keys(all)
        .filter((name) => !(name in words))
        .sort(),
    ).toEqual([
      ...['askProviders', 'deliverNotifications', 'receiveNotification'].map((name) => `faults-${name}`),
      ...['image-unknown-states', 'internal-errors-receiveNotification'],
      ...['backlog', 'dead-letters', 'failures', 'runs'].map((name) => `notification-${name}`),
      ...['reserved-throttles', 'slow-receiveNotification'],
      ...['sweep-missing-unheard', 'sweep-unvisited-unheard', 'video-unknown-states'],
    ]);
    const throttles = 'Sum of AWS/Lambda Throttles > 0 in 1 of 3 times 300 s, notBreaching';
    expect({ ...all, ...words }).toEqual({ ...all, 'function-throttles': throttles });
  });

  test('watch every function for faults, and for internal errors and slowness if it answers callers', () => {
    const ofFunctions = alarmsOf(full).filter((it) =>
      /^(?:faults|internal|slow)-/.test(namesOf([it])[0] ?? ''),
    );

    expect(wordsOf(ofFunctions)).toEqual(
      Object.fromEntries(
        functions.flatMap((name) => {
          const of = `FunctionName=\${${upperFirst(name)}LambdaFunction}`;
          const bound = /Image$|Video$/.test(name) ? 15_000 : 2000;
          const faults = `Sum of AWS/Lambda Errors ${of} > 0 in 1 of 10 times 60 s, notBreaching`;
          if (eventFunctions.includes(name)) return [[`faults-${name}`, faults]];
          return [
            [`faults-${name}`, faults],
            [
              `internal-errors-${name}`,
              `Sum of ${own} requests function=${name} code=internal_error > 0 in 1 of 10 times 60 s, notBreaching`,
            ],
            [
              `slow-${name}`,
              `p95 of AWS/Lambda Duration ${of} > ${bound} in 3 of 4 times 300 s, notBreaching`,
            ],
          ];
        }),
      ),
    );
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
  test('treat a period without data as quiet, except those on work that must run and on dead letters', () => {
    const treats = (alarm: Part) => {
      const [name = ''] = namesOf([alarm]);
      if (presence.test(name)) return 'missing';
      return deadLetters.test(name) ? 'ignore' : 'notBreaching';
    };

    expect(breaking((alarm) => alarm.TreatMissingData === treats(alarm))).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/percentiles-with-low-samples.html: with fewer than
  // 10 / (1 - p) samples, 200 for a p95, "ignore" keeps the state. "evaluate" is the default, and is stated here.
  test('evaluate a percentile of few samples', () => {
    const isPercentile = ({ ExtendedStatistic }: Part) => ExtendedStatistic !== undefined;

    expect(
      breaking((alarm) => !isPercentile(alarm) || alarm.EvaluateLowSampleCountPercentile === 'evaluate'),
    ).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html, Dimensions: CloudWatch treats
  // each combination of dimensions as a metric of its own, so an alarm has exactly those with which a line was logged.
  test('look at metrics of our own with exactly the dimensions that the log lines give them', () => {
    setVariables({ METRICS_NAMESPACE: own });
    const paid = { provider: 'image', credits: 1, credits_above_ceiling: 1, provider_ms: 1 };
    const logged = [
      { event: 'request', function: 'relightImage', code: 'internal_error', ...paid },
      { event: 'delivery', outcome: 'failed', delivery_lag_ms: 1 },
      { event: 'hand_over', oldest_due_ms: 1 },
      { event: 'sweep' },
      { event: 'unknown_state', provider: 'image' },
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
    const [missing] = alarmsOf(plain).filter((it) => it.AlarmName === `${prefix}sweep-missing-spending`);
    expect(asText(missing.AlarmDescription)).toContain(
      `\`npm run admin -- usage sweep --region \${AWS::Region} --table node-registry-prod\``,
    );
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

  test('notify when one part of the sweep of spending stops, and not when a run is late', () => {
    const [missing] = alarmsOf(plain).filter((it) => it.AlarmName === `${prefix}sweep-missing-spending`);
    const parts = ofType(plain, 'AWS::Events::Rule').filter(
      ([, { Targets, ScheduleExpression }]) =>
        ScheduleExpression === 'rate(1 minute)' && JSON.stringify(Targets).includes('SweepSpending'),
    );
    const runsOfEach = missing.Period / 60;

    expect(missing).toMatchObject({ Statistic: 'SampleCount', ComparisonOperator: 'LessThanThreshold' });
    expect(missing.Threshold).toBeGreaterThan((parts.length - 1) * runsOfEach);
    expect(missing.Threshold).toBeLessThan(parts.length * runsOfEach);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html and alarm-actions.html: a new alarm
  // begins with INSUFFICIENT_DATA, goes there again if all data of its range is missing, and acts only on a change.
  test('notify when work that must run leaves no lines any more, and not before its first run', () => {
    const topic = [parameterSets.full.alarmTopicArn];
    const acting = alarmsOf(full).filter(({ InsufficientDataActions }) => InsufficientDataActions);

    expect(namesOf(acting)).toEqual(namesOf(alarmsOf(full)).filter((name) => presence.test(name)));
    for (const { InsufficientDataActions } of acting) expect(InsufficientDataActions).toEqual(topic);
  });
});

describe('the dashboard', () => {
  test.each([
    ['direct', 11],
    ['full', 14],
  ] as const)('gives every widget of the %s stage its place and region', async (set, count) => {
    const stage = await packagedStage(set);
    const { widgets } = JSON.parse(asText(properties(stage, 'Dashboard').DashboardBody));

    expect(widgets).toHaveLength(count);
    for (const { type, x, width, properties: shown } of widgets)
      expect([type, x + width <= 24, shown.region]).toEqual(['metric', true, `\${AWS::Region}`]);
  });
});
