import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import type { Part } from '../../infra/plugins/references.ts';
import { withMetrics } from '../../lib/metrics.ts';
import { setVariables } from '../support/variables.ts';
import { asText } from './intrinsics.ts';
import { ofType, type Packaged, packagedStage, properties, upperFirst } from './packaging.ts';
import { inWords } from './settings.ts';

/*
 * The alarms of the packaged templates, held to what AWS documents about metrics and alarms. Each rule has the page that
 * states it. docs/runbook.md names what no page states.
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

interface Watched {
  namespace: string;
  name: string;
  dimensions: Record<string, string>;
  statistic: string;
  seconds: number;
}

/** Each metric that an alarm looks at, whether by itself or in an expression. */
function watched(alarm: Part): Watched[] {
  const single = { Metric: alarm, Stat: alarm.Statistic ?? alarm.ExtendedStatistic, Period: alarm.Period };
  const stats = alarm.Metrics?.flatMap((part: Part) => part.MetricStat ?? []) ?? [single];
  return stats.map(({ Metric, Stat, Period }: Part) => ({
    namespace: Metric.Namespace,
    name: Metric.MetricName,
    dimensions: Object.fromEntries(
      (Metric.Dimensions ?? []).map(({ Name, Value }: Part) => [Name, asText(Value)]),
    ),
    statistic: Stat,
    seconds: Period,
  }));
}

const windowOf = (alarm: Part) => alarm.EvaluationPeriods * Number(watched(alarm)[0]?.seconds);
const looksAt = (alarm: Part, namespace: string, name: string) =>
  watched(alarm).some((metric) => metric.namespace === namespace && metric.name === name);

const functions = readdirSync('functions').map((file) =>
  file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
);
const eventFunctions = [
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
  test('lack those of relays and reservations in a stage without them', () => {
    const names = namesOf(alarmsOf(plain));

    expect(namesOf(alarmsOf(full)).filter((name) => !names.includes(name))).toEqual([
      ...['faults-deliverNotifications', 'faults-receiveNotification'],
      'internal-errors-receiveNotification',
      ...['backlog', 'dead-letters', 'failures', 'runs'].map((name) => `notification-${name}`),
      ...['reserved-throttles', 'slow-receiveNotification'],
    ]);
  });

  // tests/infra/stage.yml lists all others.
  test('watch every function for faults, and for internal errors and slowness if it answers callers', () => {
    const ofFunctions = alarmsOf(full).filter((it) =>
      /^(?:faults|internal|slow)-/.test(namesOf([it])[0] ?? ''),
    );

    expect(Object.fromEntries(ofFunctions.map((it) => [namesOf([it])[0], inWords(it)]))).toEqual(
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

  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html: the timestamp of an error is that of the
  // invocation, so the error of a time-out appears in a period that ended long ago.
  test('see the fault of every function for as long as its time-out and three minutes after it', () => {
    for (const alarm of alarmsOf(full).filter((it) => looksAt(it, 'AWS/Lambda', 'Errors'))) {
      const id = String(watched(alarm)[0]?.dimensions.FunctionName).slice(2, -1);
      expect(windowOf(alarm)).toBeGreaterThanOrEqual(properties(full, id).Timeout + 180);
    }
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

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html, TreatMissingData: alarms on
  // AWS/DynamoDB always ignore missing data. The page alarms-and-missing-data.html says "by default"; FILL suits both.
  test('fill in the metrics of DynamoDB', () => {
    expect(breaking(({ Namespace }) => Namespace !== 'AWS/DynamoDB')).toEqual([]);
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

  // The page of the metrics of queues (below): a message that was received three times no longer counts for the age.
  test('watch the dead letters of every queue whose oldest message they watch', () => {
    const queuesOf = (name: string) =>
      alarmsOf(full)
        .filter((alarm) => looksAt(alarm, 'AWS/SQS', name))
        .map((alarm) => String(watched(alarm)[0]?.dimensions.QueueName).replace(/Failures|\.QueueName/g, ''));

    expect(queuesOf('ApproximateNumberOfMessagesVisible')).toEqual(
      expect.arrayContaining(queuesOf('ApproximateAgeOfOldestMessage')),
    );
    expect(queuesOf('ApproximateAgeOfOldestMessage')).toHaveLength(2);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Alarms.html: if logs
  // may come late, use M out of N. A period is seen late as long as it is among the last N (alarm-evaluation.html).
  test('look at more periods than they need, except those on work that must run', () => {
    const hasRoom = (alarm: Part) => alarm.DatapointsToAlarm < alarm.EvaluationPeriods;

    expect(breaking((alarm) => hasRoom(alarm) || presence.test(namesOf([alarm])[0] ?? ''))).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/percentiles-with-low-samples.html: with fewer than
  // 10 / (1 - p) samples, 200 for a p95, "ignore" keeps the state. "evaluate" is the default, and is stated here.
  test('evaluate a percentile of few samples', () => {
    const isPercentile = ({ ExtendedStatistic }: Part) => ExtendedStatistic !== undefined;

    expect(
      breaking((alarm) => !isPercentile(alarm) || alarm.EvaluateLowSampleCountPercentile === 'evaluate'),
    ).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html: whole minutes, and at most a
  // day, or seven days where a period has an hour or more.
  test('use periods that CloudWatch allows', () => {
    const day = 86_400;
    const isAllowed = (alarm: Part) =>
      watched(alarm).every(({ seconds }) => seconds % 60 === 0) &&
      windowOf(alarm) <= (Number(watched(alarm)[0]?.seconds) < 3600 ? day : 7 * day);

    expect(breaking(isAllowed)).toEqual([]);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
  test('use at most ten metrics in an expression', () => {
    expect(breaking((alarm) => watched(alarm).length <= 10)).toEqual([]);
  });

  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html (Sum for Errors and Throttles),
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html and
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html and
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
  test('take the statistic that AWS documents for a metric, with its dimensions', () => {
    const documented: Record<string, [statistic: string, ...dimensions: string[][]]> = {
      'AWS/Lambda Errors': ['Sum', ['FunctionName']],
      'AWS/Lambda Throttles': ['Sum', [], ['FunctionName']],
      'AWS/Lambda Duration': ['p95', ['FunctionName']],
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html: for event source mappings that read
      // from streams, the age of the last record in the event.
      'AWS/Lambda IteratorAge': ['Maximum', ['FunctionName']],
      'AWS/ApiGateway 4xx': ['Sum', ['ApiId']],
      'AWS/ApiGateway 5xx': ['Sum', ['ApiId']],
      'AWS/ApiGateway Count': ['Sum', ['ApiId']],
      // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html: those of an index have
      // its name, and are not in those of the table.
      'AWS/DynamoDB ReadThrottleEvents': ['Sum', ['TableName'], ['TableName', 'GlobalSecondaryIndexName']],
      'AWS/DynamoDB WriteThrottleEvents': ['Sum', ['TableName'], ['TableName', 'GlobalSecondaryIndexName']],
      'AWS/SQS ApproximateNumberOfMessagesVisible': ['Maximum', ['QueueName']],
      'AWS/SQS ApproximateAgeOfOldestMessage': ['Maximum', ['QueueName']],
      'AWS/S3 BucketSizeBytes': ['Average', ['BucketName', 'StorageType']],
    };
    const found = alarmsOf(full)
      .flatMap(watched)
      .filter(({ namespace }) => namespace.startsWith('AWS/'));

    expect(new Set(found.map(({ namespace, name }) => `${namespace} ${name}`))).toEqual(
      new Set(Object.keys(documented)),
    );
    for (const { namespace, name, statistic, dimensions } of found) {
      const [stat, ...sets] = documented[`${namespace} ${name}`] ?? [];
      expect(statistic).toBe(stat);
      expect(sets).toContainEqual(Object.keys(dimensions));
    }
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
    for (const { name, dimensions } of metrics)
      expect(logged).toContain([name, ...Object.keys(dimensions)].join());
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

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html and alarm-actions.html: a new alarm
  // begins with INSUFFICIENT_DATA, goes there again if all data of its range is missing, and acts only on a change.
  test('notify when work that must run leaves no lines any more, and not before its first run', () => {
    const topic = [parameterSets.full.alarmTopicArn];
    const acting = alarmsOf(full).filter(({ InsufficientDataActions }) => InsufficientDataActions);

    expect(namesOf(acting)).toEqual(namesOf(alarmsOf(full)).filter((name) => presence.test(name)));
    for (const { InsufficientDataActions } of acting) expect(InsufficientDataActions).toEqual(topic);
  });

  test.each([
    ['uploads', 'FinalizeUpload'],
    ['host-nodes', 'ExtractHostNodes'],
    ['spending', 'SweepSpending'],
  ])('notice that a schedule of the sweep of %s does not run, and are silent while all do', (sweep, id) => {
    const [{ Period, Threshold }] = alarmsOf(full).filter(
      (it) => it.AlarmName === `${prefix}sweep-missing-${sweep}`,
    );
    const rules = ofType(full, 'AWS::Events::Rule').filter(([name]) => name.startsWith(id));
    const runs = rules.map(([, { ScheduleExpression }]) => {
      const [, count, unit] = /^rate\((\d+) (minute|hour)s?\)$/.exec(ScheduleExpression) ?? [];
      return Period / (Number(count) * (unit === 'hour' ? 3600 : 60));
    });
    const all = runs.reduce((sum, each) => sum + each, 0);

    // LessThanThreshold
    expect(all - Math.min(...runs)).toBeLessThan(Threshold);
    expect(all).toBeGreaterThanOrEqual(Threshold);
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
