import { type ProviderName, providerNames } from '../../lib/config.ts';
import { acceptedMark } from '../../lib/metrics.ts';
import { type Lane, lanes } from '../../lib/work/lanes.ts';
import {
  type Alarm,
  alarm,
  anyAbove,
  type Level,
  type Metric,
  ofLambda,
  ofQueue,
  sumOf,
  upperFirst,
  type When,
} from './alarm-resources.ts';
import { texts } from './alarm-texts.ts';

/*
 * Every alarm of a stage, defined once: its name, whether it wakes the operator, its text, its metrics and when it fires.
 * The template's alarms and the table in docs/runbook.md are generated from it. The stage's own metrics come from its log
 * lines (lib/metrics.ts). An alarm of several functions watches the metric of each.
 */

const usualSlowMs = 2000;

interface StageFunction {
  name: string;
  isRoute: boolean;
  /** Of a paid operation. */
  provider: ProviderName | undefined;
  /** The threshold of `slow-`, if it differs from most routes'. */
  slowMs: number | undefined;
  timeoutSeconds: number;
  /** Concurrent executions that are reserved for it. */
  reserved: number | undefined;
}

export interface Stage {
  namespace: string;
  functions: StageFunction[];
  relays: boolean;
  servesDownloads: boolean;
  countsDownloads: boolean;
  bucketName: string;
  creditsPerHour: number;
  gigabytesPerHour: number;
}

const minutes = 60;
const hours = 3600;
const days = 86_400;
/** Any event of the last ten minutes or so, including one that is reported late. */
const anyOfTen = above(0, [1, 10], minutes);
const anyOfFifteen = above(0, [1, 3]);
/** The last period may have no data yet. */
const fifteenMinutes = above(0, [3, 4]);
/** Of all functions of the account and region, which share its concurrency. A reservation may be used up for a while. */
const accountThrottles: Metric = {
  namespace: 'AWS/Lambda',
  name: 'Throttles',
  statistic: 'Sum',
  dimensions: {},
};
/** Something runs each minute. */
const mustRun: When = { seconds: 5 * minutes, periods: [3, 3], mustRun: true };
/** Lambda and CloudWatch report within three minutes of the end of an invocation. */
const reportSeconds = 180;

export function alarmsOf(stage: Stage): Alarm[] {
  return [
    stageDown,
    ...functionAlarms(stage),
    alarm('throttles', 'notice', texts.throttles, accountThrottles, fifteenMinutes),
    alarm('internal-errors', 'wake', texts.internalErrors, own(stage, 'internal_errors'), anyOfTen),
    ...apiAlarms,
    alarm(
      'bulk-throttles',
      'notice',
      texts.bulkThrottles,
      own(stage, 'bulk_throttles'),
      above(60, [3, 5], minutes),
    ),
    tableAlarm(),
    ...providerAlarms(stage),
    ...moneyAlarms(stage),
    ...uploadAlarms(stage),
    ...sweepAlarms(stage),
    ...workAlarms(stage),
    ...indexAlarms(stage),
    ...(stage.servesDownloads ? [readAlarm(stage)] : []),
    ...(stage.countsDownloads ? [bytesAlarm(stage)] : []),
    ...(stage.relays ? [unknownStates(stage)] : []),
  ];
}

/** The requests fail because of the stage, the public files can't be read, or all work behind requests stands still. */
const stageDown: Alarm = {
  name: 'stage-down',
  level: 'wake',
  text: texts.stageDown,
  rule: '(server-errors AND (internal-errors OR faults-requests OR faults-proxies OR table-throttles)) OR failed-reads OR (work-silent AND index-age)',
};

/** The most metrics in an alarm's expression: cloudwatch_limits.html. */
const maxMetrics = 10;

/** As few alarms as possible over some of the functions, lanes, …: the second of a name ends in `-2`. */
function inTens<T>(
  all: readonly T[],
  name: string,
  alarmOf: (name: string, some: readonly T[]) => Alarm,
  metricsOfEach = 1,
): Alarm[] {
  const most = Math.floor(maxMetrics / metricsOfEach);
  return Array.from({ length: Math.ceil(all.length / most) }, (_, place) =>
    alarmOf(place === 0 ? name : `${name}-${place + 1}`, all.slice(place * most, (place + 1) * most)),
  );
}

/** The alarm on its metric also fires without data. */
const watchedByMetric = 'watchReads';

/** Of the proxies, of the other functions that answer requests, and of those that work behind them. */
function functionAlarms({ functions }: Stage): Alarm[] {
  const watched = functions.filter(({ name }) => name !== watchedByMetric);
  const faults = (some: readonly StageFunction[]) =>
    sumOf(some.map(({ name }) => [name, ofLambda('Errors', 'Sum', name)]));
  const groups = Object.entries({
    proxies: watched.filter(({ provider }) => provider),
    requests: watched.filter(({ provider, isRoute }) => !provider && isRoute),
    work: watched.filter(({ isRoute }) => !isRoute),
  });
  return groups.flatMap(([group, members]) => {
    const level: Level = group === 'work' ? 'notice' : 'wake';
    const seconds = Math.max(...members.map(({ timeoutSeconds }) => timeoutSeconds)) + reportSeconds;
    const periods = Math.max(10, Math.ceil(seconds / minutes));
    const slow = (some: readonly StageFunction[]) =>
      anyAbove(
        some.map(({ name, slowMs = usualSlowMs }) => [name, ofLambda('Duration', 'p95', name), slowMs]),
      );
    return [
      ...inTens(members, `faults-${group}`, (name, some) =>
        alarm(name, level, texts.faults, faults(some), above(0, [1, periods], minutes)),
      ),
      ...inTens(group === 'work' ? [] : members, `slow-${group}`, (name, some) =>
        alarm(name, 'notice', texts.slow, slow(some), fifteenMinutes),
      ),
    ];
  });
}

/** Functions on a schedule of their own leave a line at each run. */
function sweepAlarms(stage: Stage): Alarm[] {
  const missing = (sweep: string, text: string, when: Partial<When>) => {
    const runs = own(stage, 'sweep_findings', { sweep }, 'SampleCount');
    return alarm(`sweep-missing-${sweep}`, 'notice', text, runs, { ...mustRun, ...when });
  };
  return [
    ...(stage.countsDownloads
      ? [missing('downloads', texts.noDownloads, { seconds: 12 * hours, below: 1 })]
      : []),
    missing('catalog', texts.noCatalog, { below: 3 }),
  ];
}

const ofApi = (name: string): Metric => {
  const dimensions = { ApiId: { Ref: 'HttpApi' } };
  return { namespace: 'AWS/ApiGateway', name, statistic: 'Sum', dimensions };
};

/** A period without requests has no rate, because only missing errors are filled in. */
const rate = (errors: string, atLeast: number) => ({
  expression: `IF(requests >= ${atLeast}, 100 * FILL(errors, 0) / requests, 0)`,
  metrics: { errors: ofApi(errors), requests: ofApi('Count') },
});

const apiAlarms: Alarm[] = [
  alarm('server-errors', 'wake', texts.serverErrors, rate('5xx', 20), above(5, [3, 5], minutes)),
  alarm('repeated-server-errors', 'notice', texts.serverErrors, rate('5xx', 1), above(5, [3, 12])),
  alarm('client-errors', 'notice', texts.clientErrors, rate('4xx', 20), above(50, [3, 4])),
];

/**
 * DynamoDB reports the throttles of an index under the index, and not under its table. Alarms on its metrics
 * keep their state while data is missing, regardless of their settings, so the periods without throttles are
 * filled in.
 */
function tableAlarm(): Alarm {
  const table = { TableName: { Ref: 'Table' } };
  const places = { table, index: { ...table, GlobalSecondaryIndexName: 'pending' } };
  const metrics = Object.entries(places).flatMap(([place, dimensions]) =>
    ['Read', 'Write'].map((kind): [string, Metric] => [
      `${place}${kind}`,
      { namespace: 'AWS/DynamoDB', name: `${kind}ThrottleEvents`, statistic: 'Sum', dimensions },
    ]),
  );
  return alarm('table-throttles', 'notice', texts.tableThrottles, sumOf(metrics), fifteenMinutes);
}

function providerAlarms(stage: Stage): Alarm[] {
  const of = (name: string) =>
    sumOf(providerNames.map((provider) => [provider, own(stage, name, { provider })]));
  const [rejected, empty] = [of('provider_credentials_rejected'), of('provider_quota_exhausted')];
  const failing = {
    expression: providerNames
      .map((provider) => `(100 * FILL(${provider}_errors, 0) > 20 * FILL(${provider}_calls, 0))`)
      .join(' + '),
    metrics: Object.fromEntries(
      providerNames.flatMap((provider) =>
        ['errors', 'calls'].map((name) => [
          `${provider}_${name}`,
          own(stage, `provider_${name}`, { provider }),
        ]),
      ),
    ),
  };
  return [
    alarm('provider-credentials', 'wake', texts.providerCredentials, rejected, anyOfFifteen),
    alarm('provider-quota', 'wake', texts.providerQuota, empty, anyOfFifteen),
    alarm('provider-errors', 'notice', texts.providerErrors, failing, above(0, [3, 12])),
    ...providerNames.flatMap((provider) =>
      inTens(
        stage.functions.filter((it) => it.provider === provider),
        `no-success-${provider}`,
        (name, some) => noSuccess(stage, name, some),
        3,
      ),
    ),
  ];
}

/** Codes that are the callers' fault in one request, but the provider's or ours if all requests fail. */
function noSuccess(stage: Stage, alarmName: string, some: readonly StageFunction[]): Alarm {
  const names = some.map(({ name }) => name);
  const statistics = { calls: 'SampleCount', low: 'Minimum', high: 'Maximum' } as const;
  const metrics = names.flatMap((name) =>
    Object.entries(statistics).map(([id, statistic]) => [
      `${name}_${id}`,
      own(stage, 'caller_mark', { function: name }, statistic),
    ]),
  );
  const fails = names.map((name) => {
    const [calls, low, high] = Object.keys(statistics).map((id) => `FILL(${name}_${id}, 0)`);
    return `(${calls} >= 10 AND ${high} > ${low} AND ${high} < ${acceptedMark})`;
  });
  const expression = fails.join(' OR ');
  const unaccepted = { expression, metrics: Object.fromEntries(metrics) };
  return alarm(alarmName, 'wake', texts.noSuccess, unaccepted, above(0, [1, 2], 30 * minutes));
}

function moneyAlarms(stage: Stage): Alarm[] {
  const tooMany = above(stage.creditsPerHour, [1, 2], hours);
  return [
    alarm('credits-per-hour', 'wake', texts.credits, own(stage, 'credits'), tooMany),
    alarm('credit-ceiling', 'wake', texts.ceiling, own(stage, 'replies_above_ceiling'), anyOfFifteen),
  ];
}

function uploadAlarms({ bucketName }: Stage): Alarm[] {
  const dimensions = { BucketName: bucketName, StorageType: 'StandardStorage' };
  const size: Metric = { namespace: 'AWS/S3', name: 'BucketSizeBytes', statistic: 'Average', dimensions };
  return [alarm('bucket-size', 'notice', texts.bucketSize, size, above(500e9, [1, 2], days))];
}

function indexAlarms(stage: Stage): Alarm[] {
  const age = own(stage, 'index_lag_ms', {}, 'Maximum');
  const lost = ofQueue('ApproximateNumberOfMessagesVisible', 'WriteIndexFailures');
  const oldest = ofQueue('ApproximateAgeOfOldestMessage', 'IndexChanges');
  return [
    // A message reported as failed in its batch is not an invocation error, so no `faults-` alarm fires.
    alarm('write-index-dead-letters', 'notice', texts.lostChanges, lost, {
      ...anyOfFifteen,
      isLasting: true,
    }),
    alarm('index-backlog', 'notice', texts.oldChanges, oldest, above(hours, [3, 4])),
    alarm('index-age', 'wake', texts.indexAge, age, { ...mustRun, above: 300_000 }),
  ];
}

function readAlarm(stage: Stage): Alarm {
  const failed = own(stage, 'failed_reads', {}, 'Maximum');
  return alarm('failed-reads', 'wake', texts.failedReads, failed, {
    seconds: minutes,
    periods: [3, 3],
    above: 0,
    mustRun: true,
  });
}

/** CloudFront's own metrics exist in one region only. Its logs arrive within an hour, seldom later. */
function bytesAlarm(stage: Stage): Alarm {
  const bound = above(stage.gigabytesPerHour * 1e9, [1, 2], hours);
  return alarm('download-bytes', 'wake', texts.downloadBytes, own(stage, 'download_bytes'), bound);
}

function unknownStates(stage: Stage): Alarm {
  const states = sumOf(
    providerNames.map((provider) => [provider, own(stage, 'unknown_states', { provider })]),
  );
  return alarm('unknown-states', 'notice', texts.unknownStates, states, anyOfFifteen);
}

const lanesThatGiveUp = Object.entries<Lane>(lanes).filter(([, { maxGivenUp }]) => maxGivenUp !== undefined);

/**
 * For each lane how old its due work is, in the index and in its queue, and what it gave up; whether one item fails
 * again and again; and whether all stand still. Work that may wait for a quarter of an hour only is what people wait for.
 */
function workAlarms(stage: Stage): Alarm[] {
  const runs = own(stage, 'hand_overs');
  return [
    alarm('work-silent', 'wake', texts.workSilent, runs, { ...mustRun, below: 3 }),
    ...Object.entries<Lane>(lanes).map(([lane, { maxAgeSeconds }]) => {
      const queued = ofQueue('ApproximateAgeOfOldestMessage', `${upperFirst(lane)}Queue`);
      const due = own(stage, 'oldest_owed_ms', { lane }, 'Maximum');
      const age = { expression: 'FILL(due, 0) / 1000 + FILL(queued, 0)', metrics: { due, queued } };
      const level: Level = maxAgeSeconds <= 15 * minutes ? 'wake' : 'notice';
      return alarm(`work-age-${lane}`, level, texts.workAge, age, above(maxAgeSeconds, [3, 4]));
    }),
    alarm('work-failing', 'wake', texts.workFailing, own(stage, 'failing_work'), anyOfFifteen),
    ...inTens(lanesThatGiveUp, 'work-given-up', (name, some) => {
      const tooMany = anyAbove(
        some.map(([lane, { maxGivenUp = 0 }]) => [lane, own(stage, 'given_up', { lane }), maxGivenUp]),
      );
      return alarm(name, 'notice', texts.workGivenUp, tooMany, above(0, [1, 2], hours));
    }),
  ];
}

function own(
  { namespace }: Stage,
  name: string,
  dimensions: Record<string, string> = {},
  statistic: Metric['statistic'] = 'Sum',
): Metric {
  return { namespace, name, statistic, dimensions };
}

function above(bound: number, periods: When['periods'], seconds = 5 * minutes): When {
  return { seconds, periods, above: bound };
}
