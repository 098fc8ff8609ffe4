import { slowRegistryMs } from '../../lib/deployment.ts';
import { providerNames } from '../../lib/config.ts';
import { acceptedMark } from '../../lib/metrics.ts';

/*
 * Every alarm of a stage, once: what it watches, and one line each for its meaning, where to look and what to do. The
 * template's alarms, their descriptions and the list in docs/runbook.md are made from here. Metrics of the stage's own
 * come from its log lines (lib/metrics.ts).
 *
 * CloudWatch evaluates an alarm when data may still be on its way, and Lambda stamps an error with the time of the
 * invocation. So an alarm on events looks at more periods than it needs (M of N), and treats a period without data as one
 * without events (docs.aws.amazon.com: AmazonCloudWatch/latest/monitoring/alarm-evaluation.html, and
 * lambda/latest/dg/monitoring-metrics-types.html for Lambda's statistics).
 */

/** A resource of the template, or text. */
type Value = string | { Ref: string } | { 'Fn::GetAtt': [string, string] };

interface Metric {
  namespace: string;
  name: string;
  statistic: 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | 'p95';
  dimensions: Record<string, Value>;
}

export interface Alarm {
  name: string;
  meaning: string;
  look: string;
  action: string;
  /** One metric, or several by their ids and the expression that makes one of them. */
  metric: Metric | { expression: string; metrics: Record<string, Metric> };
  seconds: number;
  /** Fires if so many of so many periods are above a bound, or below it. */
  periods: [breaching: number, of: number];
  above?: number;
  below?: number;
  /**
   * Something leaves a line at each run, so a period without data breaches. Actions of a new stage's alarm begin after the
   * first run: infra/plugins/first-run.ts.
   */
  mustRun?: true;
  /** Keeps its state without data: a queue of dead letters that is left alone for six hours may have none. */
  isLasting?: true;
}

interface StageFunction {
  name: string;
  isRoute: boolean;
  isPaid: boolean;
  /** The bound of `slow-`, if it is not that of most routes. */
  slowMs: number | undefined;
  timeoutSeconds: number;
  /** Concurrent executions that are set aside for it. */
  reserved: number | undefined;
}

export interface Stage {
  namespace: string;
  functions: StageFunction[];
  relays: boolean;
  countsDownloads: boolean;
  bucketName: string;
  creditsPerHour: number;
}

const minutes = 60;
const hours = 3600;
const days = 86_400;
/** Any event of the last ten minutes or so: one that is reported late is still seen. */
const anyOfTen: Pick<Alarm, 'seconds' | 'periods' | 'above'> = {
  seconds: minutes,
  periods: [1, 10],
  above: 0,
};
const anyOfFifteen: typeof anyOfTen = { seconds: 5 * minutes, periods: [1, 3], above: 0 };
/** The last period may have no data yet. */
const fifteenMinutes: Pick<Alarm, 'seconds' | 'periods'> = { seconds: 5 * minutes, periods: [3, 4] };
const thriceAnHour: typeof fifteenMinutes = { seconds: 5 * minutes, periods: [3, 12] };
/** Lambda and CloudWatch report within three minutes of the end of an invocation. */
const reportSeconds = 180;

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function alarmsOf(stage: Stage): Alarm[] {
  return [
    ...stage.functions.flatMap((it) => functionAlarms(stage, it)),
    ...apiAlarms,
    ...concurrencyAlarms(stage),
    ...tableAlarms(),
    ...providerNames.flatMap((provider) => providerAlarms(stage, provider)),
    ...stage.functions.filter(({ isPaid }) => isPaid).map(({ name }) => paidRouteAlarm(stage, name)),
    ...moneyAlarms(stage),
    ...uploadAlarms(stage),
    ...sweepAlarms(stage),
    ...indexAlarms(stage),
    ...(stage.relays ? notificationAlarms(stage) : []),
  ];
}

function ofLambda(name: string, statistic: Metric['statistic'], of: string): Metric {
  const dimensions = { FunctionName: { Ref: `${upperFirst(of)}LambdaFunction` } };
  return { namespace: 'AWS/Lambda', name, statistic, dimensions };
}

function ofQueue(name: string, queue: string): Metric {
  const dimensions = { QueueName: { 'Fn::GetAtt': [queue, 'QueueName'] as [string, string] } };
  return { namespace: 'AWS/SQS', name, statistic: 'Maximum', dimensions };
}

function functionAlarms(stage: Stage, { name, isRoute, slowMs, timeoutSeconds }: StageFunction): Alarm[] {
  const periods = Math.max(10, Math.ceil((timeoutSeconds + reportSeconds) / minutes));
  const faults: Alarm = {
    name: `faults-${name}`,
    meaning: 'A crash, no time or memory left, or a failed event.',
    look: '`causes`; `sending` lines without a `request`',
    action: 'Since a deployment: [roll back](#roll-back).',
    metric: ofLambda('Errors', 'Sum', name),
    ...anyOfTen,
    periods: [1, periods],
  };
  return [faults, ...(isRoute ? routeAlarms(stage, name, slowMs) : [])];
}

function routeAlarms(stage: Stage, name: string, slowMs = slowRegistryMs): Alarm[] {
  return [
    {
      name: `internal-errors-${name}`,
      meaning: 'The function returned `internal_error`.',
      look: '`causes`; a `secret` line names a bad secret',
      action: 'Since a deployment: [roll back](#roll-back).',
      metric: own(stage, 'requests', { function: name, code: 'internal_error' }),
      ...anyOfTen,
    },
    {
      name: `slow-${name}`,
      meaning: 'The p95 is above 2 s (proxies: 15 s).',
      look: '`ms`, `provider_ms`, `cold_start`, table throttles, the issuer',
      action: '`provider_ms` close to `ms`: tell the provider.',
      metric: ofLambda('Duration', 'p95', name),
      ...fifteenMinutes,
      above: slowMs,
    },
  ];
}

const hourly = {
  missing: 'The sweep has not run for two hours.',
  missingAction: 'Enable the rule.',
  seconds: hours,
  minRuns: 1,
  missingPeriods: [2, 2],
  unvisitedPeriods: [3, 4],
} satisfies Partial<SweepSchedule>;

interface SweepSchedule {
  missing: string;
  missingAction: string;
  seconds: number;
  /** In a period. */
  minRuns: number;
  missingPeriods: Alarm['periods'];
  /** Absent if it leaves nothing undone. */
  unvisitedPeriods?: Alarm['periods'];
  /** Only a stage of this kind has the schedule. */
  only?: 'relays' | 'countsDownloads';
}

const eachMinute = {
  seconds: 5 * minutes,
  minRuns: 3,
  missingPeriods: [3, 3],
} satisfies Partial<SweepSchedule>;

const sweeps: (SweepSchedule & { sweep: string })[] = [
  { sweep: 'uploads', ...hourly },
  { sweep: 'host-nodes', ...hourly },
  {
    sweep: 'downloads',
    only: 'countsDownloads',
    missing: 'The daily count of downloads has not ended for 36 hours.',
    missingAction: 'Remove the cause, or enable its rule: the next run counts all logs of a week.',
    seconds: 12 * hours,
    minRuns: 1,
    missingPeriods: [3, 3],
  },
  {
    sweep: 'catalog',
    missing: 'Lists, pages of publishers, feed and sitemap have not been renewed for 15 minutes.',
    missingAction: 'Enable its rule.',
    ...eachMinute,
  },
  {
    sweep: 'spending',
    missing: 'A part of the sweep has not run for 15 minutes, so accounts count too much.',
    missingAction: 'Enable its rules. Until then: `npm run admin -- usage sweep $on`.',
    ...eachMinute,
    // Four parts run five times. A run may fall into the next period, and without one part there are 15.
    minRuns: 18,
    unvisitedPeriods: [3, 4],
  },
  {
    sweep: 'unheard',
    only: 'relays',
    missing: 'No run asks for tasks whose end was not notified.',
    missingAction: 'Enable its rule.',
    ...eachMinute,
    unvisitedPeriods: [12, 12],
  },
];

function sweepAlarms(stage: Stage): Alarm[] {
  const metric = (name: string, sweep: string) => own(stage, name, { sweep });
  const unvisited = (sweep: string, seconds: number, periods: Alarm['periods']): Alarm => ({
    name: `sweep-unvisited-${sweep}`,
    meaning: 'The sweep leaves work undone.',
    look: 'the sweep’s lines',
    action: 'Remove what keeps failing, or sweep with `npm run admin`.',
    metric: { ...metric('sweep_unvisited', sweep), statistic: 'Maximum' },
    ...{ seconds, periods },
    above: 0,
  });
  return [
    ...sweeps
      .filter(({ only }) => !only || stage[only])
      .flatMap(({ sweep, seconds, minRuns, missingAction, unvisitedPeriods, ...schedule }): Alarm[] => [
        {
          name: `sweep-missing-${sweep}`,
          meaning: schedule.missing,
          look: 'its schedule, `faults-` alarm and throttles',
          action: missingAction,
          metric: { ...metric('sweep_findings', sweep), statistic: 'SampleCount' },
          seconds,
          periods: schedule.missingPeriods,
          below: minRuns,
          mustRun: true,
        },
        ...(unvisitedPeriods ? [unvisited(sweep, seconds, unvisitedPeriods)] : []),
      ]),
    {
      name: 'sweep-findings-uploads',
      meaning: 'The sweep published a version that an event should have.',
      look: 'the `swept` lines',
      action: 'If repeated, check the bucket’s events and time-outs.',
      metric: metric('sweep_findings', 'uploads'),
      ...anyOfFifteen,
    },
  ];
}

const ofApi = (name: string): Metric => ({
  namespace: 'AWS/ApiGateway',
  name,
  statistic: 'Sum',
  dimensions: { ApiId: { Ref: 'HttpApi' } },
});

/** A period without requests has no rate, since only the errors are filled in. */
const rate = (errors: string, atLeast: number) => ({
  expression: `IF(requests >= ${atLeast}, 100 * FILL(errors, 0) / requests, 0)`,
  metrics: { errors: ofApi(errors), requests: ofApi('Count') },
});

const causesOf5xx: Pick<Alarm, 'meaning' | 'look' | 'action'> = {
  meaning: 'Over 5 % of requests got a 5xx, in 3 of 5 minutes or (`repeated-`) three times an hour.',
  look: 'lines with 5xx by `code`; the access log’s `gateway_error`',
  action: '`unavailable`: read `causes`. Other codes have alarms.',
};

const apiAlarms: Alarm[] = [
  {
    name: 'server-errors',
    ...causesOf5xx,
    metric: rate('5xx', 20),
    seconds: minutes,
    periods: [3, 5],
    above: 5,
  },
  {
    name: 'repeated-server-errors',
    ...causesOf5xx,
    metric: rate('5xx', 1),
    ...thriceAnHour,
    above: 5,
  },
  {
    name: 'client-errors',
    meaning: 'Over half of at least 20 requests got a 4xx.',
    look: 'lines by `code` and `principal`; 429 in the access log',
    action:
      '`unauthorized`: did the issuer or its keys change? 429: raise `rateLimit`. One caller: disable it at the issuer.',
    metric: rate('4xx', 20),
    ...fifteenMinutes,
    above: 50,
  },
];

/** As many as an alarm of an expression may look at: cloudwatch_limits.html. */
const maxMetrics = 10;

/** The throttles of functions, in as few alarms as they fit in. */
function throttleAlarms(names: readonly string[], alarm: Omit<Alarm, 'metric'>): Alarm[] {
  return Array.from({ length: Math.ceil(names.length / maxMetrics) }, (_, place) => {
    const some = names.slice(place * maxMetrics, (place + 1) * maxMetrics);
    const metrics = Object.fromEntries(some.map((name) => [name, ofLambda('Throttles', 'Sum', name)]));
    const expression = some.map((name) => `FILL(${name}, 0)`).join(' + ');
    const name = place === 0 ? alarm.name : `${alarm.name}-${place + 1}`;
    return { ...alarm, name, metric: { expression, metrics } };
  });
}

function concurrencyAlarms({ functions }: Stage): Alarm[] {
  const [others = [], reserved = []] = [false, true].map((isReserved) =>
    functions.filter((it) => (it.reserved !== undefined) === isReserved).map(({ name }) => name),
  );
  return [
    ...throttleAlarms(others, {
      name: 'function-throttles',
      meaning: 'Lambda throttled functions without a reservation.',
      look: '`ConcurrentExecutions` of the account and its quota',
      action: 'Raise the quota, or lower `rateLimit`.',
      ...anyOfFifteen,
    }),
    ...throttleAlarms(reserved, {
      name: 'reserved-throttles',
      meaning: 'A reserved concurrency is used up.',
      look: '`provider_ms`; lines by `principal`',
      action: 'Limit the caller, tell a slow provider, or raise the reservation.',
      ...fifteenMinutes,
      above: 0,
    }),
  ];
}

/**
 * DynamoDB reports the throttles of an index under the index, and not under its table. Alarms on its metrics stay in their
 * state while data is missing, whatever they say, so the periods without throttles are filled in.
 */
function tableAlarms(): Alarm[] {
  const table = { TableName: { Ref: 'Table' } };
  const places = { table, index: { ...table, GlobalSecondaryIndexName: 'pending' } };
  return Object.entries(places).flatMap(([place, dimensions]) =>
    ['Read', 'Write'].map(
      (kind): Alarm => ({
        name: `${place}-${kind.toLowerCase()}-throttles`,
        meaning: 'DynamoDB throttles the table or its index.',
        look: 'lines with `throttled`: `MaxOnDemandThroughputExceeded` is a ceiling, `KeyRangeThroughputExceeded` a hot key',
        action: 'Ceiling: raise `tableMaxReads` or `tableMaxWrites`. Hot key: limit its caller.',
        metric: {
          expression: 'FILL(throttles, 0)',
          metrics: {
            throttles: {
              namespace: 'AWS/DynamoDB',
              name: `${kind}ThrottleEvents`,
              statistic: 'Sum',
              dimensions,
            },
          },
        },
        ...fifteenMinutes,
        above: 0,
      }),
    ),
  );
}

function providerAlarms(stage: Stage, provider: string): Alarm[] {
  const metric = (name: string) => own(stage, name, { provider });
  return [
    {
      name: `${provider}-provider-credentials`,
      meaning: 'The provider rejects our key; all requests fail, uncharged.',
      look: 'who changed the key',
      action: '[Store a valid key](#keys-and-tokens).',
      metric: metric('provider_credentials_refused'),
      ...anyOfFifteen,
    },
    {
      name: `${provider}-provider-quota`,
      meaning: 'Our account has no credits; all requests fail, uncharged.',
      look: 'the provider’s account',
      action: 'Buy credits.',
      metric: metric('provider_quota_exhausted'),
      ...anyOfFifteen,
    },
    {
      name: `${provider}-provider-errors`,
      meaning: 'Over 20 % of calls failed, timed out or got an invalid reply.',
      look: '`provider_status`',
      action: 'Tell the provider. Time-outs may have been charged.',
      metric: {
        expression: '100 * errors / calls',
        metrics: { errors: metric('provider_errors'), calls: metric('provider_calls') },
      },
      ...thriceAnHour,
      above: 20,
    },
  ];
}

/** Codes that are the callers' fault in one request, and the provider's or ours if nobody gets through. */
function paidRouteAlarm(stage: Stage, name: string): Alarm {
  const mark = (statistic: Metric['statistic']) => ({
    ...own(stage, 'caller_mark', { function: name }),
    statistic,
  });
  return {
    name: `no-success-${name}`,
    meaning: 'At least 10 calls in 30 minutes by several callers, and the provider accepted none.',
    look: 'lines by `code`, `provider_status` and `causes`',
    action: '404: correct the provider’s URL. 400: did its API change? 429: ask the provider.',
    metric: {
      expression: `IF(calls >= 10 AND high > low AND high < ${acceptedMark}, calls, 0)`,
      metrics: { calls: mark('SampleCount'), low: mark('Minimum'), high: mark('Maximum') },
    },
    seconds: 30 * minutes,
    periods: [1, 2],
    above: 0,
  };
}

function moneyAlarms(stage: Stage): Alarm[] {
  return [
    {
      name: 'credits-per-hour',
      meaning: 'The providers charged more than `creditsPerHourAlarm` in an hour.',
      look: 'lines with `credits` by `principal`',
      action:
        'Leaked token: [block its caller](#keys-and-tokens) by its `principal`. Growth: raise the parameter.',
      metric: own(stage, 'credits', {}),
      seconds: hours,
      periods: [1, 2],
      above: stage.creditsPerHour,
    },
    {
      name: 'credit-ceiling',
      meaning: 'A task cost more than its ceiling.',
      look: '`credits_above_ceiling`',
      action: 'Raise its rate in `creditRates` now.',
      metric: own(stage, 'replies_above_ceiling', {}),
      ...anyOfFifteen,
    },
  ];
}

function uploadAlarms({ bucketName }: Stage): Alarm[] {
  return [
    deadLetters(
      'finalize-upload-dead-letters',
      'FinalizeUploadFailures',
      'An upload’s check was given up, so its version stays pending; or a sweep was not delivered.',
    ),
    deadLetters(
      'extraction-dead-letters',
      'ExtractionsFailures',
      'Reading host nodes crashed five times, or failed because of us.',
    ),
    oldestMessage('extraction-backlog', 'Extractions', 2 * hours, {
      meaning: 'An archive has waited over two hours.',
      look: '`faults-extractHostNodes`, throttles, `extraction` lines by `outcome`',
      action: 'Too many publishes: raise `maximumConcurrency` in `serverless.yml`.',
    }),
    {
      name: 'bucket-size',
      meaning: 'The archives take more than 500 GB.',
      look: '`node-version list`',
      action: 'Growth: raise the bound in `infra/template/alarms.ts`. One publisher: ask it.',
      metric: {
        namespace: 'AWS/S3',
        name: 'BucketSizeBytes',
        statistic: 'Average',
        dimensions: { BucketName: bucketName, StorageType: 'StandardStorage' },
      },
      seconds: days,
      periods: [1, 2],
      above: 500e9,
    },
  ];
}

const indexAlarms = (stage: Stage): Alarm[] => [
  {
    ...deadLetters(
      'write-index-dead-letters',
      'WriteIndexFailures',
      'Changes of the public index were given up after ten retries.',
    ),
    look: '`index` lines with `causes`',
    action: 'Fix the cause, `npm run admin -- index rebuild $on`, then purge the queue.',
  },
  oldestMessage('index-backlog', 'IndexChanges', hours, {
    meaning: 'A change of the public index has waited over an hour in its queue.',
    look: '`index` lines with `causes`, throttles and the event source of `writeIndex`',
    action: 'Remove the cause, or wait: a publisher of many nodes takes long.',
  }),
  {
    name: 'index-age',
    meaning:
      'The public index is over 5 minutes behind, or was not written for 15 minutes: not even the heartbeat came.',
    look: '`index` lines with `causes`, throttles and the event source of `writeIndex`, `heartbeat` lines',
    action:
      'Remove the cause. After a day, the stream has lost changes: `npm run admin -- index rebuild $on`.',
    metric: { ...own(stage, 'index_lag_ms', {}), statistic: 'Maximum' },
    seconds: 5 * minutes,
    periods: [3, 3],
    above: 300_000,
    mustRun: true,
  },
];

function deadLetters(name: string, queue: string, meaning: string): Alarm {
  return {
    name,
    meaning,
    // A message reported as failed in its batch is not an invocation error, so no `faults-` alarm fires.
    look: '`causes` in its lines; none if it crashed',
    action: 'Fix the cause, then [redrive](#redrive-dead-letters).',
    metric: ofQueue('ApproximateNumberOfMessagesVisible', queue),
    ...anyOfFifteen,
    isLasting: true,
  };
}

function oldestMessage(
  name: string,
  queue: string,
  above: number,
  words: Pick<Alarm, 'meaning' | 'look' | 'action'>,
): Alarm {
  return {
    name,
    ...words,
    metric: ofQueue('ApproximateAgeOfOldestMessage', queue),
    ...fifteenMinutes,
    above,
  };
}

function notificationAlarms(stage: Stage): Alarm[] {
  return [
    ...providerNames.map(
      (provider): Alarm => ({
        name: `${provider}-unknown-states`,
        meaning: 'The provider named a state of a task that this service doesn’t know.',
        look: '`unknown_state` lines',
        action:
          'Say what the word means in `providerStates`. Until then it is passed on as `provider_state`.',
        metric: own(stage, 'unknown_states', { provider }),
        ...anyOfFifteen,
      }),
    ),
    {
      name: 'notification-failures',
      meaning: 'Over 10 notifications failed all attempts in an hour.',
      look: '`notification list`: hosts, last errors',
      action:
        'One host: tell its owner. Many: check the function’s internet access. Then [retry](#notifications).',
      metric: own(stage, 'deliveries', { outcome: 'failed' }),
      seconds: hours,
      periods: [1, 2],
      above: 10,
    },
    oldestMessage('notification-backlog', 'Notifications', 15 * minutes, {
      meaning: 'A notification has waited over 15 minutes in its queue.',
      look: '`faults-deliverNotifications`, the signing key, `delivery` lines by `host`',
      action: 'Slow receivers: raise `maximumConcurrency` in `serverless.yml`.',
    }),
    deadLetters(
      'notification-dead-letters',
      'NotificationsFailures',
      'A notification was given up after five tries, for a fault of ours.',
    ),
    {
      name: 'notification-runs',
      meaning: 'A notification is 15 minutes overdue, or no run hands over what is due.',
      look: '`faults-deliverNotifications`, the signing key, its schedule, `hand_over` lines',
      action: 'Remove the cause.',
      metric: { ...own(stage, 'oldest_due_ms', {}), statistic: 'Maximum' },
      seconds: 5 * minutes,
      periods: [3, 3],
      above: 900_000,
      mustRun: true,
    },
  ];
}

function own({ namespace }: Stage, name: string, dimensions: Record<string, string>): Metric {
  return { namespace, name, statistic: 'Sum', dimensions };
}

/** The properties of an alarm's resource. */
export function alarmProperties(alarm: Alarm, prefix: string, topic: string | undefined) {
  const { metric, seconds, periods, above, below, mustRun, isLasting } = alarm;
  const [DatapointsToAlarm, EvaluationPeriods] = periods;
  return {
    AlarmName: `${prefix}-${alarm.name}`,
    AlarmDescription: descriptionOf(alarm, prefix),
    ...(topic && { AlarmActions: [topic], OKActions: [topic] }),
    TreatMissingData: mustRun ? 'breaching' : isLasting ? 'ignore' : 'notBreaching',
    ComparisonOperator: below === undefined ? 'GreaterThanThreshold' : 'LessThanThreshold',
    Threshold: below ?? above,
    DatapointsToAlarm,
    EvaluationPeriods,
    ...('expression' in metric
      ? {
          Metrics: [
            { Id: 'result', Label: alarm.name, Expression: metric.expression },
            ...Object.entries(metric.metrics).map(([Id, it]) => ({
              Id,
              ReturnData: false,
              MetricStat: { Stat: it.statistic, Period: seconds, Metric: metricOf(it) },
            })),
          ],
        }
      : { ...metricOf(metric), ...statisticOf(metric), Period: seconds }),
  };
}

/** The line of an alarm, in its mail and in docs/runbook.md. */
export function lineOf({ meaning, look, action }: Alarm): string {
  return `${meaning} See ${look}. ${action}`;
}

/** It becomes a mail, so it has neither the variables nor the links of docs/runbook.md. */
function descriptionOf(alarm: Alarm, table: string): string | { 'Fn::Sub': string } {
  const text = lineOf(alarm).replaceAll(/\[([^\]]+)\]\((#[^)]+)\)/g, '$1 (docs/runbook.md$2)');
  const named = text.replaceAll('$on', `--region \${AWS::Region} --table ${table}`);
  return named === text ? text : { 'Fn::Sub': named };
}

function metricOf({ namespace, name, dimensions }: Metric) {
  const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
  return { Namespace: namespace, MetricName: name, ...(Dimensions.length > 0 && { Dimensions }) };
}

/** With few samples, CloudWatch evaluates a percentile only if it is told to. */
function statisticOf({ statistic }: Metric) {
  return statistic.startsWith('p')
    ? { ExtendedStatistic: statistic, EvaluateLowSampleCountPercentile: 'evaluate' }
    : { Statistic: statistic };
}
