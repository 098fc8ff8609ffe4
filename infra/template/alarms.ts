/*
 * Every alarm of a stage, once: what it watches, and one line each for its meaning, where to look and what to do. The
 * template's alarms, their descriptions and the table in docs/runbook.md are made from here. Metrics of the stage's own
 * come from its log lines (lib/metrics.ts).
 *
 * CloudWatch evaluates an alarm when data may still be on its way, and Lambda stamps an error with the time of the
 * invocation. So an alarm on events looks at more periods than it needs (M of N), and treats a period without data as one
 * without events. tests/infra/alarms.test.ts holds all of them to AWS's documented rules.
 */

/** A resource of the template, or text. */
type Value = string | { Ref: string } | { 'Fn::GetAtt': [string, string] };

interface Metric {
  namespace: string;
  name: string;
  statistic: 'Sum' | 'Maximum' | 'SampleCount' | 'p95';
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
   * Something leaves a line at each run. If it stops, the alarm goes to INSUFFICIENT_DATA, which notifies too. That is also
   * the state of a new alarm, and only a change notifies: a new stage pages nobody before its first run.
   */
  mustRun?: true;
}

interface StageFunction {
  name: string;
  /** The method and path of its HTTP event. */
  route?: string | undefined;
  timeoutSeconds: number;
  hasReservation?: boolean;
}

export interface Stage {
  namespace: string;
  functions: StageFunction[];
  relays: boolean;
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
    ...['image', 'video'].flatMap((provider) => providerAlarms(stage, provider)),
    ...moneyAlarms(stage),
    ...uploadAlarms(stage),
    ...sweepAlarms(stage),
    ...indexAlarms,
    ...(stage.relays ? notificationAlarms(stage) : []),
  ];
}

function functionAlarms(stage: Stage, { name, route, timeoutSeconds }: StageFunction): Alarm[] {
  const dimensions = { FunctionName: { Ref: `${upperFirst(name)}LambdaFunction` } };
  const ofLambda = { namespace: 'AWS/Lambda', dimensions };
  const periods = Math.max(10, Math.ceil((timeoutSeconds + reportSeconds) / minutes));
  const faults: Alarm = {
    name: `faults-${name}`,
    meaning: 'An invocation crashed, ran out of time or memory, or failed an event.',
    look: '`sending` lines without a `request` line, its last lines before the crash, its `causes`',
    action:
      'Roll back if it began with a deployment. Events of uploads are tried three times: a brief failure of S3 or DynamoDB needs nothing.',
    metric: { ...ofLambda, name: 'Errors', statistic: 'Sum' },
    ...anyOfTen,
    periods: [1, periods],
  };
  return [faults, ...(route ? routeAlarms(stage, name, route) : [])];
}

function routeAlarms(stage: Stage, name: string, route: string): Alarm[] {
  const dimensions = { FunctionName: { Ref: `${upperFirst(name)}LambdaFunction` } };
  // A proxy waits for its provider up to 25 seconds.
  const bound = route.includes('/proxy/') ? 15_000 : 2000;
  return [
    {
      name: `internal-errors-${name}`,
      meaning: 'The function returned `internal_error`: it met a fault that it does not know.',
      look: '`causes` of its `internal_error` lines; a `secret` line names a missing or malformed secret',
      action: 'Roll back if it began with a deployment.',
      metric: own(stage, 'requests', { function: name, code: 'internal_error' }),
      ...anyOfTen,
    },
    {
      name: `slow-${name}`,
      meaning:
        'For 15 minutes, the p95 of this route was above 2 s (proxies: 15 s). With few requests, one is enough.',
      look: '`ms`, `provider_ms` and `cold_start` of its lines, table throttles, the issuer, very large bulk requests',
      action: 'If `provider_ms` is close to `ms`, the provider is slow: tell it. Otherwise remove the cause.',
      metric: { namespace: 'AWS/Lambda', name: 'Duration', statistic: 'p95', dimensions },
      ...fifteenMinutes,
      above: bound,
    },
  ];
}

const hourly = {
  missing: 'The hourly sweep did not run for two hours or more.',
  unvisited: 'Three sweeps in four hours did not get through everything that is due.',
  seconds: hours,
  missingPeriods: [2, 2],
  unvisitedPeriods: [3, 4],
} satisfies Partial<SweepSchedule>;

interface SweepSchedule {
  missing: string;
  unvisited: string;
  seconds: number;
  missingPeriods: Alarm['periods'];
  unvisitedPeriods: Alarm['periods'];
}

/** What runs by a schedule, and the function whose schedule it is. */
const sweeps: (SweepSchedule & { sweep: string; ranBy: string })[] = [
  { sweep: 'uploads', ranBy: 'finalizeUpload', ...hourly },
  { sweep: 'host-nodes', ranBy: 'extractHostNodes', ...hourly },
  {
    sweep: 'spending',
    ranBy: 'sweepSpending',
    missing: 'The sweep of each minute did not run for 15 minutes: callers are counted too much.',
    unvisited: 'For 15 minutes, the sweeps did not get through all accounts that are due.',
    seconds: 5 * minutes,
    missingPeriods: [3, 3],
    unvisitedPeriods: [3, 4],
  },
];

function sweepAlarms(stage: Stage): Alarm[] {
  const metric = (name: string, sweep: string) => own(stage, name, { sweep });
  return [
    ...sweeps.flatMap(({ sweep, ranBy, seconds, ...schedule }): Alarm[] => [
      {
        name: `sweep-missing-${sweep}`,
        meaning: schedule.missing,
        look: `the rule of the schedule, \`faults-${ranBy}\`, throttles`,
        action:
          ranBy === 'sweepSpending'
            ? 'Enable the rule. Until then, run `npm run admin -- usage sweep $on`.'
            : 'Enable the rule; raise `finalizeConcurrency` if it is used up.',
        metric: { ...metric('sweep_findings', sweep), statistic: 'SampleCount' },
        seconds,
        periods: schedule.missingPeriods,
        below: 1,
        mustRun: true,
      },
      {
        name: `sweep-unvisited-${sweep}`,
        meaning: schedule.unvisited,
        look: `the sweep’s lines: what was left, and what takes the time of \`${ranBy}\``,
        action: 'Remove what fails again and again, or run the sweep of `npm run admin` by hand.',
        metric: { ...metric('sweep_unvisited', sweep), statistic: 'Maximum' },
        seconds,
        periods: schedule.unvisitedPeriods,
        above: 0,
      },
    ]),
    {
      name: 'sweep-findings-uploads',
      meaning: 'The sweep published a version that an event should have.',
      look: 'the `swept` lines',
      action:
        'Once is a lost event, already repaired. If it repeats, check the bucket’s notifications and time-outs.',
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

const apiAlarms: Alarm[] = [
  {
    name: 'server-errors',
    meaning: 'In 3 of 5 minutes with at least 20 requests each, over 5 % got a 5xx.',
    look: 'the lines with status 500 and above, by `code`; the access log’s `gateway_error`',
    action:
      '`unavailable`: read `causes` (a secret, throttles, the issuer). `internal_error`: as for `internal-errors-<function>`. `provider_*`: see the alarms of the providers.',
    metric: rate('5xx', 20),
    seconds: minutes,
    periods: [3, 5],
    above: 5,
  },
  {
    name: 'repeated-server-errors',
    meaning:
      'In 3 five-minute periods of an hour, over 5 % of the requests got a 5xx, however few they were.',
    look: 'as for `server-errors`',
    action: 'As for `server-errors`; this alarm is for stages with little traffic.',
    metric: rate('5xx', 1),
    ...thriceAnHour,
    above: 5,
  },
  {
    name: 'client-errors',
    meaning: 'For 15 minutes, over half of at least 20 requests in five minutes got a 4xx.',
    look: 'the lines by `code` and `principal`; 429 in the access log',
    action:
      '`unauthorized`: did the issuer, its audience or its keys change? `provider_rejected` with `provider_status` 404: correct the provider’s URL. One caller: block it or tell it. 429: raise `rateLimit`.',
    metric: rate('4xx', 20),
    ...fifteenMinutes,
    above: 50,
  },
];

function concurrencyAlarms({ functions }: Stage): Alarm[] {
  const throttles = (dimensions: Metric['dimensions']): Metric => ({
    namespace: 'AWS/Lambda',
    name: 'Throttles',
    statistic: 'Sum',
    dimensions,
  });
  const reserved = functions.filter(({ hasReservation }) => hasReservation).map(({ name }) => name);
  const metrics = Object.fromEntries(
    reserved.map((name) => [name, throttles({ FunctionName: { Ref: `${upperFirst(name)}LambdaFunction` } })]),
  );
  const filled = reserved.map((name) => `FILL(${name}, 0)`);
  const account: Alarm = {
    name: 'function-throttles',
    meaning: 'Lambda throttled invocations in this account and region, apart from this stage’s reservations.',
    look: '`ConcurrentExecutions` against the quota and the reservations',
    action: 'Raise the quota or the reservations, or lower `rateLimit`.',
    metric:
      reserved.length === 0
        ? throttles({})
        : {
            expression: ['FILL(all, 0)', ...filled].join(' - '),
            metrics: { all: throttles({}), ...metrics },
          },
    ...anyOfFifteen,
  };
  if (reserved.length === 0) return [account];
  return [
    account,
    {
      name: 'reserved-throttles',
      meaning: 'For 15 minutes, a reservation was used up: paid requests got 503, or uploads waited.',
      look: '`provider_ms`, and the lines by `principal`',
      action:
        'A slow provider: wait or tell it. One caller: limit it. Otherwise raise `proxyConcurrency` or `finalizeConcurrency`.',
      metric: { expression: filled.join(' + '), metrics },
      ...fifteenMinutes,
      above: 0,
    },
  ];
}

/** DynamoDB reports the throttles of an index under the index, and not under its table. */
function tableAlarms(): Alarm[] {
  const table = { TableName: { Ref: 'Table' } };
  const places = { table, index: { ...table, GlobalSecondaryIndexName: 'pending' } };
  return Object.entries(places).flatMap(([place, dimensions]) =>
    ['Read', 'Write'].map(
      (kind): Alarm => ({
        name: `${place}-${kind.toLowerCase()}-throttles`,
        meaning: `For 15 minutes, DynamoDB throttled ${kind.toLowerCase()}s of the ${place === 'table' ? 'table' : 'index of due work'}.`,
        look: `consumed capacity against \`tableMax${kind}s\`, and the lines by node or publisher`,
        action:
          'Raise the parameter if it is reached. Otherwise one key is hot: find its node, publisher or caller, and limit it.',
        metric: { namespace: 'AWS/DynamoDB', name: `${kind}ThrottleEvents`, statistic: 'Sum', dimensions },
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
      meaning:
        'The provider refused our key with 401 or 403: every request for it fails, and none is charged.',
      look: 'the provider’s account, and who changed its key',
      action: 'Store a valid key; the functions read it again after each refusal.',
      metric: metric('provider_credentials_refused'),
      ...anyOfFifteen,
    },
    {
      name: `${provider}-provider-quota`,
      meaning:
        'Our account at the provider is out of credits: every request for it fails, and none is charged.',
      look: 'the provider’s account',
      action: 'Buy credits.',
      metric: metric('provider_quota_exhausted'),
      ...anyOfFifteen,
    },
    {
      name: `${provider}-provider-errors`,
      meaning:
        'In 3 five-minute periods of an hour, over 20 % of the calls failed, timed out or got an invalid reply.',
      look: 'the provider’s status page, `provider_status` of the lines',
      action:
        'Send the provider statuses and times. Requests that timed out may have been charged; we never repeat them.',
      metric: {
        expression: '100 * errors / calls',
        metrics: { errors: metric('provider_errors'), calls: metric('provider_calls') },
      },
      ...thriceAnHour,
      above: 20,
    },
  ];
}

function moneyAlarms(stage: Stage): Alarm[] {
  return [
    {
      name: 'credits-per-hour',
      meaning:
        'Both providers together charged more than `creditsPerHourAlarm` in an hour (relight at its configured price).',
      look: 'the lines with `credits`, by `principal`',
      action: 'A leaked token: block its caller. Growth: raise the parameter.',
      metric: own(stage, 'credits', {}),
      seconds: hours,
      periods: [1, 2],
      above: stage.creditsPerHour,
    },
    {
      name: 'credit-ceiling',
      meaning:
        'A provider charged more for a task than `creditCeilings` allows, so a caller can pass its limit by the difference.',
      look: '`credits_above_ceiling` of the lines',
      action: 'Raise the entry now.',
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
      'A check of an upload was given up, or a sweep was not delivered. The version stays pending.',
    ),
    deadLetters(
      'extract-host-nodes-dead-letters',
      'ExtractHostNodesFailures',
      'An extraction of host nodes was given up, or its sweep was not delivered. The version can be downloaded.',
    ),
    {
      name: 'bucket-size',
      meaning: 'The archives take more than 500 GB. S3 measures once a day.',
      look: '`node-version list`, for the publisher',
      action: 'Growth: raise the bound in infra/template/alarms.ts. One publisher: ask it.',
      metric: {
        namespace: 'AWS/S3',
        name: 'BucketSizeBytes',
        statistic: 'Maximum',
        dimensions: { BucketName: bucketName, StorageType: 'StandardStorage' },
      },
      seconds: days,
      periods: [1, 2],
      above: 500e9,
    },
  ];
}

const indexAlarms: Alarm[] = [
  {
    ...deadLetters(
      'write-index-dead-letters',
      'WriteIndexFailures',
      'Changes of the registry were given up after ten attempts, so the public index does not show them.',
    ),
    look: 'the `index` lines with `causes`, throttles of S3',
    action: 'Fix the cause, run `npm run admin -- index rebuild $on`, then purge the queue.',
  },
  {
    name: 'index-age',
    meaning: 'For 15 minutes, the public index was more than 5 minutes behind the registry.',
    look: 'the `index` lines with `causes`, throttles of `writeIndex` and of S3',
    action:
      'Remove the cause; the stream keeps changes for a day. After that, run `npm run admin -- index rebuild $on`.',
    metric: {
      namespace: 'AWS/Lambda',
      name: 'IteratorAge',
      statistic: 'Maximum',
      dimensions: { FunctionName: { Ref: 'WriteIndexLambdaFunction' } },
    },
    ...fifteenMinutes,
    above: 300_000,
  },
];

function deadLetters(name: string, queue: string, meaning: string): Alarm {
  return {
    name,
    meaning,
    look: 'the `faults-` alarm of the function, and its lines',
    action: 'Fix the cause, then [redrive](#redrive-dead-letters).',
    metric: {
      namespace: 'AWS/SQS',
      name: 'ApproximateNumberOfMessagesVisible',
      statistic: 'Maximum',
      dimensions: { QueueName: { 'Fn::GetAtt': [queue, 'QueueName'] } },
    },
    ...anyOfFifteen,
  };
}

function notificationAlarms(stage: Stage): Alarm[] {
  return [
    {
      name: 'notification-failures',
      meaning: 'More than 10 notifications were given up in an hour, after all of their attempts.',
      look: '`notification list`, for hosts and last errors',
      action:
        'One host: tell its owner. Many: can the function reach the internet? Then [retry](#notifications).',
      metric: own(stage, 'deliveries', { outcome: 'failed' }),
      seconds: hours,
      periods: [1, 2],
      above: 10,
    },
    {
      name: 'notification-backlog',
      meaning: 'For 15 minutes, the oldest notification in the queue was older than 15 minutes.',
      look: '`faults-deliverNotifications`, the signing key, the `delivery` lines by `host`',
      action:
        'Remove the cause. If one caller’s receivers hang, the others are not delayed: raise `notificationConcurrency`.',
      metric: {
        namespace: 'AWS/SQS',
        name: 'ApproximateAgeOfOldestMessage',
        statistic: 'Maximum',
        dimensions: { QueueName: { 'Fn::GetAtt': ['Notifications', 'QueueName'] } },
      },
      seconds: 5 * minutes,
      periods: [3, 4],
      above: 900,
    },
    deadLetters(
      'notification-dead-letters',
      'NotificationsFailures',
      'A message about a notification was given up after five receives, because of a fault of ours.',
    ),
    {
      name: 'notification-runs',
      meaning: 'For 15 minutes, a notification was overdue by 15 minutes, or no run handed over what is due.',
      look: '`faults-deliverNotifications`, the signing key, the rule of the schedule, the `hand_over` lines',
      action: 'Remove the cause; what is due is then handed over by itself.',
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
  const { metric, seconds, periods, above, below, mustRun } = alarm;
  const [DatapointsToAlarm, EvaluationPeriods] = periods;
  return {
    AlarmName: `${prefix}-${alarm.name}`,
    AlarmDescription: `${alarm.meaning} Look at: ${alarm.look}. ${alarm.action}`,
    ...(topic && {
      AlarmActions: [topic],
      OKActions: [topic],
      ...(mustRun && { InsufficientDataActions: [topic] }),
    }),
    TreatMissingData: mustRun ? 'missing' : 'notBreaching',
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
