import { slowRegistryMs } from '../../lib/deployment.ts';
import { providerNames } from '../../lib/config.ts';
import { acceptedMark } from '../../lib/metrics.ts';
import { type Alarm, alarm, type Metric, ofLambda, ofQueue, type When } from './alarm-resources.ts';

/*
 * Every alarm of a stage, once: what it watches, and a line for its meaning, where to look and what to do. The template's
 * alarms, their descriptions and the list in docs/runbook.md are made from here. Metrics of the stage's own come from its
 * log lines (lib/metrics.ts).
 */

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
const anyOfTen: When = { seconds: minutes, periods: [1, 10], above: 0 };
const anyOfFifteen: When = { seconds: 5 * minutes, periods: [1, 3], above: 0 };
/** The last period may have no data yet. */
const fifteenMinutes: When = { seconds: 5 * minutes, periods: [3, 4], above: 0 };
const thriceAnHour: When = { seconds: 5 * minutes, periods: [3, 12] };
/** Something runs each minute. */
const mustRun: When = { seconds: 5 * minutes, periods: [3, 3], mustRun: true };
/** Lambda and CloudWatch report within three minutes of the end of an invocation. */
const reportSeconds = 180;

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

function functionAlarms(stage: Stage, { name, isRoute, slowMs, timeoutSeconds }: StageFunction): Alarm[] {
  const periods = Math.max(10, Math.ceil((timeoutSeconds + reportSeconds) / minutes));
  const faults = alarm(
    `faults-${name}`,
    'A crash, no time or memory left, or a failed event. See `causes`; `sending` lines without a `request`. Since a deployment: [roll back](#roll-back).',
    ofLambda('Errors', 'Sum', name),
    { ...anyOfTen, periods: [1, periods] },
  );
  return [faults, ...(isRoute ? routeAlarms(stage, name, slowMs) : [])];
}

function routeAlarms(stage: Stage, name: string, slowMs = slowRegistryMs): Alarm[] {
  return [
    alarm(
      `internal-errors-${name}`,
      'The function returned `internal_error`. See `causes`; a `secret` line names a bad secret. Since a deployment: [roll back](#roll-back).',
      own(stage, 'requests', { function: name, code: 'internal_error' }),
      anyOfTen,
    ),
    alarm(
      `slow-${name}`,
      'The p95 is above 2 s (proxies: 15 s). See `ms`, `provider_ms`, `cold_start`, table throttles, the issuer. `provider_ms` close to `ms`: tell the provider.',
      ofLambda('Duration', 'p95', name),
      { ...fifteenMinutes, above: slowMs },
    ),
  ];
}

interface Sweep {
  sweep: string;
  missing: string;
  missingAction?: string;
  seconds?: number;
  /** In a period. */
  minRuns?: number;
  missingPeriods?: When['periods'];
  /** Absent if it leaves nothing undone. */
  unvisitedPeriods?: When['periods'];
  /** Only a stage of this kind has the schedule. */
  only?: 'relays' | 'countsDownloads';
}

const hourly: Omit<Sweep, 'sweep'> = {
  ...{ missing: 'The sweep has not run for two hours.', missingAction: 'Enable the rule.' },
  ...{ seconds: hours, minRuns: 1, missingPeriods: [2, 2] as const, unvisitedPeriods: [3, 4] as const },
};

const sweeps: Sweep[] = [
  { sweep: 'uploads', ...hourly },
  { sweep: 'host-nodes', ...hourly },
  {
    ...{ sweep: 'downloads', only: 'countsDownloads', seconds: 12 * hours, minRuns: 1 },
    missing: 'The daily count of downloads has not ended for 36 hours.',
    missingAction: 'Enable its rule: the next run counts a week.',
  },
  {
    sweep: 'catalog',
    missing: 'Lists, pages, feed and sitemap have not been renewed for 15 minutes.',
  },
  {
    // Four parts run five times. A run may fall into the next period, and without one part there are 15.
    ...{ sweep: 'spending', minRuns: 18, unvisitedPeriods: [3, 4] },
    missing: 'A part of the sweep has not run for 15 minutes, so accounts count too much.',
    missingAction: 'Enable its rules. Until then: `npm run admin -- usage sweep $on`.',
  },
  {
    ...{ sweep: 'unheard', only: 'relays', unvisitedPeriods: [12, 12] },
    missing: 'No run asks for tasks whose end was not notified.',
  },
];

/** A sweep runs each minute, unless its row says something else. */
function alarmsOfSweep(stage: Stage, { sweep, missing, unvisitedPeriods, ...schedule }: Sweep): Alarm[] {
  const { seconds = 5 * minutes, minRuns = 3, missingPeriods = [3, 3] } = schedule;
  const unvisited = (periods: When['periods']) =>
    alarm(
      `sweep-unvisited-${sweep}`,
      'The sweep leaves work undone. See the sweep’s lines. Remove what keeps failing, or sweep with `npm run admin`.',
      { ...own(stage, 'sweep_unvisited', { sweep }), statistic: 'Maximum' },
      { seconds, periods, above: 0 },
    );
  return [
    alarm(
      `sweep-missing-${sweep}`,
      `${missing} See its \`faults-\` alarm and throttles. ${schedule.missingAction ?? 'Enable its rule.'}`,
      { ...own(stage, 'sweep_findings', { sweep }), statistic: 'SampleCount' },
      { ...mustRun, seconds, periods: missingPeriods, below: minRuns },
    ),
    ...(unvisitedPeriods ? [unvisited(unvisitedPeriods)] : []),
  ];
}

function sweepAlarms(stage: Stage): Alarm[] {
  return [
    ...sweeps.filter(({ only }) => !only || stage[only]).flatMap((sweep) => alarmsOfSweep(stage, sweep)),
    alarm(
      'sweep-findings-uploads',
      'The sweep published a version whose event was lost. See the `swept` lines. If repeated, check the bucket’s events and time-outs.',
      own(stage, 'sweep_findings', { sweep: 'uploads' }),
      anyOfFifteen,
    ),
  ];
}

const ofApi = (name: string): Metric => {
  const dimensions = { ApiId: { Ref: 'HttpApi' } };
  return { namespace: 'AWS/ApiGateway', name, statistic: 'Sum', dimensions };
};

/** A period without requests has no rate, since only the errors are filled in. */
const rate = (errors: string, atLeast: number) => ({
  expression: `IF(requests >= ${atLeast}, 100 * FILL(errors, 0) / requests, 0)`,
  metrics: { errors: ofApi(errors), requests: ofApi('Count') },
});

const about5xx =
  'Over 5 % of requests got a 5xx, in 3 of 5 minutes or (`repeated-`) three times an hour. See 5xx lines by `code`; the access log’s `gateway_error`. `unavailable`: read `causes`.';

const apiAlarms: Alarm[] = [
  alarm('server-errors', about5xx, rate('5xx', 20), { seconds: minutes, periods: [3, 5], above: 5 }),
  alarm('repeated-server-errors', about5xx, rate('5xx', 1), { ...thriceAnHour, above: 5 }),
  alarm(
    'client-errors',
    'Over half of at least 20 requests got a 4xx. See lines by `code` and `principal`; 429 in the access log. `unauthorized`: did the issuer or its keys change? 429: raise `rateLimit`. One caller: disable it at the issuer.',
    rate('4xx', 20),
    { ...fifteenMinutes, above: 50 },
  ),
];

/** As many as an alarm of an expression may look at: cloudwatch_limits.html. */
const maxMetrics = 10;

/** The throttles of functions, in as few alarms as they fit in. */
function throttleAlarms(names: readonly string[], first: string, text: string, when: When): Alarm[] {
  return Array.from({ length: Math.ceil(names.length / maxMetrics) }, (_, place) => {
    const some = names.slice(place * maxMetrics, (place + 1) * maxMetrics);
    const metrics = Object.fromEntries(some.map((name) => [name, ofLambda('Throttles', 'Sum', name)]));
    const expression = some.map((name) => `FILL(${name}, 0)`).join(' + ');
    return alarm(place === 0 ? first : `${first}-${place + 1}`, text, { expression, metrics }, when);
  });
}

function concurrencyAlarms({ functions }: Stage): Alarm[] {
  const [others = [], reserved = []] = [false, true].map((isReserved) =>
    functions.filter((it) => (it.reserved !== undefined) === isReserved).map(({ name }) => name),
  );
  return [
    ...throttleAlarms(
      others,
      'function-throttles',
      'Lambda throttled functions without a reservation. See `ConcurrentExecutions` of the account and its quota. Raise the quota, or lower `rateLimit`.',
      anyOfFifteen,
    ),
    ...throttleAlarms(
      reserved,
      'reserved-throttles',
      'A reserved concurrency is used up. See `provider_ms`; lines by `principal`. Limit the caller, tell a slow provider, or raise the reservation.',
      fifteenMinutes,
    ),
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
    ['Read', 'Write'].map((kind) => {
      const name = `${kind}ThrottleEvents`;
      const throttles: Metric = { namespace: 'AWS/DynamoDB', name, statistic: 'Sum', dimensions };
      return alarm(
        `${place}-${kind.toLowerCase()}-throttles`,
        'DynamoDB throttles the table or its index. See lines with `throttled`: `MaxOnDemandThroughputExceeded` is a ceiling, `KeyRangeThroughputExceeded` a hot key. Ceiling: raise `tableMaxReads` or `tableMaxWrites`. Hot key: limit its caller.',
        { expression: 'FILL(throttles, 0)', metrics: { throttles } },
        fifteenMinutes,
      );
    }),
  );
}

function providerAlarms(stage: Stage, provider: string): Alarm[] {
  const metric = (name: string) => own(stage, name, { provider });
  return [
    alarm(
      `${provider}-provider-credentials`,
      'The provider rejects our key; all requests fail, uncharged. See who changed the key. [Store a valid key](#keys-and-tokens).',
      metric('provider_credentials_refused'),
      anyOfFifteen,
    ),
    alarm(
      `${provider}-provider-quota`,
      'Our account has no credits; all requests fail, uncharged. See the provider’s account. Buy credits.',
      metric('provider_quota_exhausted'),
      anyOfFifteen,
    ),
    alarm(
      `${provider}-provider-errors`,
      'Over 20 % of calls failed, timed out or got an invalid reply. See `provider_status`. Tell the provider. Time-outs may have been charged.',
      {
        expression: '100 * errors / calls',
        metrics: { errors: metric('provider_errors'), calls: metric('provider_calls') },
      },
      { ...thriceAnHour, above: 20 },
    ),
  ];
}

/** Codes that are the callers' fault in one request, and the provider's or ours if all requests fail. */
function paidRouteAlarm(stage: Stage, name: string): Alarm {
  const mark = own(stage, 'caller_mark', { function: name });
  return alarm(
    `no-success-${name}`,
    'At least 10 calls in 30 minutes by several callers, and the provider accepted none. See lines by `code`, `provider_status` and `causes`. 404: correct the provider’s URL. 400: did its API change? 429: ask the provider.',
    {
      expression: `IF(calls >= 10 AND high > low AND high < ${acceptedMark}, calls, 0)`,
      metrics: {
        calls: { ...mark, statistic: 'SampleCount' },
        low: { ...mark, statistic: 'Minimum' },
        high: { ...mark, statistic: 'Maximum' },
      },
    },
    { seconds: 30 * minutes, periods: [1, 2], above: 0 },
  );
}

function moneyAlarms(stage: Stage): Alarm[] {
  return [
    alarm(
      'credits-per-hour',
      'The providers charged more than `creditsPerHourAlarm` in an hour. See lines with `credits` by `principal`. Leaked token: [block its caller](#keys-and-tokens). Growth: raise the parameter.',
      own(stage, 'credits', {}),
      { seconds: hours, periods: [1, 2], above: stage.creditsPerHour },
    ),
    alarm(
      'credit-ceiling',
      'A task cost more than its ceiling. See `credits_above_ceiling`. Raise its rate in `creditRates` now.',
      own(stage, 'replies_above_ceiling', {}),
      anyOfFifteen,
    ),
  ];
}

function uploadAlarms({ bucketName }: Stage): Alarm[] {
  const dimensions = { BucketName: bucketName, StorageType: 'StandardStorage' };
  return [
    deadLetters(
      'finalize-upload-dead-letters',
      'FinalizeUploadFailures',
      'An upload’s check was given up, so its version stays pending; or a sweep got lost.',
    ),
    deadLetters(
      'extraction-dead-letters',
      'ExtractionsFailures',
      'Reading host nodes crashed five times, or failed because of us.',
    ),
    oldestMessage(
      'extraction-backlog',
      'An archive has waited over two hours. See `faults-extractHostNodes`, throttles, `extraction` lines by `outcome`. Too many publishes: raise `maximumConcurrency` in `serverless.yml`.',
      ['Extractions', 2 * hours],
    ),
    alarm(
      'bucket-size',
      'The archives take more than 500 GB. See `node-version list`. Growth: raise the bound in `infra/template/alarms.ts`. One publisher: ask it.',
      { namespace: 'AWS/S3', name: 'BucketSizeBytes', statistic: 'Average', dimensions },
      { seconds: days, periods: [1, 2], above: 500e9 },
    ),
  ];
}

const indexAlarms = (stage: Stage): Alarm[] => [
  deadLetters(
    'write-index-dead-letters',
    'WriteIndexFailures',
    'Changes of the public index were given up after ten retries.',
    'See `index` lines with `causes`. Fix the cause, `npm run admin -- index rebuild $on`, then purge the queue.',
  ),
  oldestMessage(
    'index-backlog',
    'A change of the public index has waited over an hour in its queue. See `index` lines with `causes`, throttles and the event source of `writeIndex`. Remove the cause. A large publisher takes long.',
    ['IndexChanges', hours],
  ),
  alarm(
    'index-age',
    'The public index is over 5 minutes behind, or not even the heartbeat came for 15 minutes. See `index` lines with `causes`, throttles and the event source of `writeIndex`, `heartbeat` lines. Remove the cause. After a day, the stream has lost changes: `npm run admin -- index rebuild $on`.',
    { ...own(stage, 'index_lag_ms', {}), statistic: 'Maximum' },
    { ...mustRun, above: 300_000 },
  ),
];

/** A message reported as failed in its batch is not an invocation error, so no `faults-` alarm fires. */
function deadLetters(
  name: string,
  queue: string,
  meaning: string,
  rest = 'See `causes` in its lines; none if it crashed. Fix the cause, then [redrive](#redrive-dead-letters).',
): Alarm {
  const metric = ofQueue('ApproximateNumberOfMessagesVisible', queue);
  return alarm(name, `${meaning} ${rest}`, metric, { ...anyOfFifteen, isLasting: true });
}

function oldestMessage(name: string, text: string, [queue, above]: [string, number]): Alarm {
  return alarm(name, text, ofQueue('ApproximateAgeOfOldestMessage', queue), { ...fifteenMinutes, above });
}

function notificationAlarms(stage: Stage): Alarm[] {
  return [
    ...providerNames.map((provider) =>
      alarm(
        `${provider}-unknown-states`,
        'The provider named a state of a task that this service doesn’t know. See `unknown_state` lines. Add the word to `providerStates`.',
        own(stage, 'unknown_states', { provider }),
        anyOfFifteen,
      ),
    ),
    alarm(
      'notification-failures',
      'Over 10 notifications failed all attempts in an hour. See `notification list`: hosts, last errors. One host: tell its owner. Many: check the function’s internet access. Then [retry](#notifications).',
      own(stage, 'deliveries', { outcome: 'failed' }),
      { seconds: hours, periods: [1, 2], above: 10 },
    ),
    oldestMessage(
      'notification-backlog',
      'A notification has waited over 15 minutes in its queue. See `faults-deliverNotifications`, the signing key, `delivery` lines by `host`. Slow receivers: raise `maximumConcurrency` in `serverless.yml`.',
      ['Notifications', 15 * minutes],
    ),
    deadLetters(
      'notification-dead-letters',
      'NotificationsFailures',
      'A notification was given up after five tries, for a fault of ours.',
    ),
    alarm(
      'notification-runs',
      'A notification is 15 minutes overdue, or no run hands over what is due. See `faults-deliverNotifications`, the signing key, its schedule, `hand_over` lines. Remove the cause.',
      { ...own(stage, 'oldest_due_ms', {}), statistic: 'Maximum' },
      { ...mustRun, above: 900_000 },
    ),
  ];
}

function own({ namespace }: Stage, name: string, dimensions: Record<string, string>): Metric {
  return { namespace, name, statistic: 'Sum', dimensions };
}
