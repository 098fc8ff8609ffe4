import { type ProviderName, providerNames } from '../../lib/config.ts';
import { acceptedMark } from '../../lib/metrics.ts';
import { type Lane, lanes } from '../../lib/work/lanes.ts';
import type { Values } from '../parameters/parameters.ts';
import {
  type Alarm,
  alarm,
  anyAbove,
  type Level,
  type Metric,
  ofQueue,
  sumOf,
  upperFirst,
  type When,
} from './alarm-resources.ts';
import { texts } from './alarm-texts.ts';
import { conditionsOf } from './conditions.ts';

/*
 * Every alarm of a stage, defined once: its name, whether it wakes the operator, its text, its metrics and when it fires.
 * The template's alarms and the table in docs/runbook.md are generated from it. The stage's own metrics come from its log
 * lines (lib/metrics.ts). Each metric that an alarm watches costs 0.10 a month.
 */

export interface Stage {
  namespace: string;
  /** The functions behind requests. */
  workers: readonly string[];
  /** The paid operations of each provider. */
  paid: Readonly<Record<ProviderName, readonly string[]>>;
  values: Values;
}

const minutes = 60;
const hours = 3600;
const days = 86_400;
/**
 * Any event of the last ten minutes or so, including one that is reported late: Lambda and CloudWatch report within three
 * minutes of the end of an invocation, which lasts up to five.
 */
const anyOfTen = above(0, [1, 10], minutes);
const anyOfFifteen = above(0, [1, 3]);
/** The last period may have no data yet. */
const fifteenMinutes = above(0, [3, 4]);
/** Something runs each minute. */
const mustRun: When = { seconds: 5 * minutes, periods: [3, 3], mustRun: true };

export function alarmsOf(stage: Stage): Alarm[] {
  const { ServesDownloads, CountsDownloads, RelaysNotifications } = conditionsOf(stage.values);
  return [
    stageDown,
    ...functionAlarms(stage),
    ...apiAlarms(stage),
    tableAlarm(),
    ...providerAlarms(stage),
    ...moneyAlarms(stage),
    sizeAlarm(stage),
    ...(CountsDownloads
      ? [missing(stage, 'downloads', texts.noDownloads, { seconds: 12 * hours, below: 1 })]
      : []),
    missing(stage, 'catalog', texts.noCatalog, { below: 3 }),
    ...workAlarms(stage),
    ...indexAlarms(stage),
    ...(ServesDownloads ? [readAlarm(stage)] : []),
    ...(CountsDownloads ? [bytesAlarm(stage)] : []),
    ...(RelaysNotifications ? [stateAlarm(stage)] : []),
  ];
}

/** The requests fail because of the stage, the public files can't be read, or all work behind requests stands still. */
const stageDown: Alarm = {
  name: 'stage-down',
  level: 'wake',
  text: texts.stageDown,
  rule: '(server-errors AND (faults OR table-throttles)) OR failed-reads OR (work-silent AND index-age)',
};

/** The alarm on its metric also fires without data. */
const watchedByMetric = 'watchReads';

function functionAlarms(stage: Stage): Alarm[] {
  const ofLambda = (name: string, dimensions: Metric['dimensions']): Metric => {
    return { namespace: 'AWS/Lambda', name, statistic: 'Sum', dimensions };
  };
  const failures = stage.workers
    .filter((name) => name !== watchedByMetric)
    .map((name): [string, Metric] => {
      return [name, ofLambda('Errors', { FunctionName: { Ref: `${upperFirst(name)}LambdaFunction` } })];
    });
  // Of all functions of the account and region, which share its concurrency. A reservation may be used up for a while.
  const throttles = ofLambda('Throttles', {});
  return [
    alarm('faults', 'wake', texts.faults, own(stage, 'faults'), anyOfTen),
    alarm('faults-work', 'notice', texts.faultsWork, sumOf(failures), anyOfTen),
    alarm('slow-requests', 'notice', texts.slow, own(stage, 'service_ms', {}, 'p95'), above(2000, [3, 4])),
    alarm('throttles', 'notice', texts.throttles, throttles, fifteenMinutes),
  ];
}

function apiAlarms(stage: Stage): Alarm[] {
  const ofApi = (name: string): Metric => {
    const dimensions = { ApiId: { Ref: 'HttpApi' } };
    return { namespace: 'AWS/ApiGateway', name, statistic: 'Sum', dimensions };
  };
  // A period without requests has no rate, because only missing errors are filled in.
  const rate = (errors: string, atLeast: number) => ({
    expression: `IF(requests >= ${atLeast}, 100 * FILL(errors, 0) / requests, 0)`,
    metrics: { errors: ofApi(errors), requests: ofApi('Count') },
  });
  const bulkThrottles = own(stage, 'bulk_throttles');
  return [
    alarm('server-errors', 'wake', texts.serverErrors, rate('5xx', 20), above(5, [3, 5], minutes)),
    alarm('repeated-server-errors', 'notice', texts.serverErrors, rate('5xx', 1), above(5, [3, 12])),
    alarm('client-errors', 'notice', texts.clientErrors, rate('4xx', 20), above(50, [3, 4])),
    alarm('bulk-throttles', 'notice', texts.bulkThrottles, bulkThrottles, above(60, [3, 5], minutes)),
  ];
}

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
  const anyOf = (name: string, statistic: Metric['statistic'], bound: number) =>
    anyAbove(providerNames.map((provider) => [provider, own(stage, name, { provider }, statistic), bound]));
  // Each call adds a 0 or a 1.
  const failing = anyOf('provider_errors', 'Average', 0.2);
  const [rejected, empty] = [
    own(stage, 'provider_credentials_rejected'),
    own(stage, 'provider_quota_exhausted'),
  ];
  return [
    alarm('provider-credentials', 'wake', texts.providerCredentials, rejected, anyOfFifteen),
    alarm('provider-quota', 'wake', texts.providerQuota, empty, anyOfFifteen),
    alarm('provider-errors', 'notice', texts.providerErrors, failing, above(0, [3, 12])),
    alarm(
      'slow-providers',
      'notice',
      texts.slowProviders,
      anyOf('provider_ms', 'p95', 15_000),
      fifteenMinutes,
    ),
    ...providerNames.map((provider) => noSuccess(stage, provider)),
  ];
}

/** Codes that are the callers' fault in one request, but the provider's or ours if all requests fail. */
function noSuccess(stage: Stage, provider: ProviderName): Alarm {
  const statistics = { calls: 'SampleCount', low: 'Minimum', high: 'Maximum' } as const;
  const metrics = stage.paid[provider].flatMap((name) =>
    Object.entries(statistics).map(([id, statistic]) => [
      `${name}_${id}`,
      own(stage, 'caller_mark', { function: name }, statistic),
    ]),
  );
  const fails = stage.paid[provider].map((name) => {
    const [calls, low, high] = Object.keys(statistics).map((id) => `FILL(${name}_${id}, 0)`);
    return `(${calls} >= 10 AND ${high} > ${low} AND ${high} < ${acceptedMark})`;
  });
  const unaccepted = { expression: fails.join(' OR '), metrics: Object.fromEntries(metrics) };
  return alarm(`no-success-${provider}`, 'wake', texts.noSuccess, unaccepted, above(0, [1, 2], 30 * minutes));
}

function moneyAlarms(stage: Stage): Alarm[] {
  const tooMany = above(Number(stage.values.creditsPerHourAlarm), [1, 2], hours);
  const aboveCeiling = own(stage, 'replies_above_ceiling');
  return [
    alarm('credits-per-hour', 'wake', texts.credits, own(stage, 'credits'), tooMany),
    alarm('credit-ceiling', 'wake', texts.ceiling, aboveCeiling, anyOfFifteen),
  ];
}

function sizeAlarm({ values }: Stage): Alarm {
  const dimensions = { BucketName: String(values.bucketName), StorageType: 'StandardStorage' };
  const size: Metric = { namespace: 'AWS/S3', name: 'BucketSizeBytes', statistic: 'Average', dimensions };
  return alarm('bucket-size', 'notice', texts.bucketSize, size, above(500e9, [1, 2], days));
}

/** Functions on a schedule of their own leave a line at each run. */
function missing(stage: Stage, sweep: string, text: string, when: Partial<When>): Alarm {
  const runs = own(stage, 'sweep_findings', { sweep }, 'SampleCount');
  return alarm(`sweep-missing-${sweep}`, 'notice', text, runs, { ...mustRun, ...when });
}

/**
 * For each lane how old its due work is, in the index and in its queue, and what it gave up; whether one item fails
 * again and again; and whether all stand still. Work that may wait for a quarter of an hour only is what people wait for.
 */
function workAlarms(stage: Stage): Alarm[] {
  const givenUp = Object.entries<Lane>(lanes).flatMap(([lane, { maxGivenUp }]) =>
    maxGivenUp === undefined ? [] : [[lane, own(stage, 'given_up', { lane }), maxGivenUp] as const],
  );
  return [
    alarm('work-silent', 'wake', texts.workSilent, own(stage, 'hand_overs'), { ...mustRun, below: 3 }),
    ...Object.entries<Lane>(lanes).map(([lane, { maxAgeSeconds }]) => {
      const queued = ofQueue('ApproximateAgeOfOldestMessage', `${upperFirst(lane)}Queue`);
      const due = own(stage, 'oldest_owed_ms', { lane }, 'Maximum');
      const age = { expression: 'FILL(due, 0) / 1000 + FILL(queued, 0)', metrics: { due, queued } };
      const level: Level = maxAgeSeconds <= 15 * minutes ? 'wake' : 'notice';
      return alarm(`work-age-${lane}`, level, texts.workAge, age, above(maxAgeSeconds, [3, 4]));
    }),
    alarm('work-failing', 'wake', texts.workFailing, own(stage, 'failing_work'), anyOfFifteen),
    alarm('work-given-up', 'notice', texts.workGivenUp, anyAbove(givenUp), above(0, [1, 2], hours)),
  ];
}

function indexAlarms(stage: Stage): Alarm[] {
  const age = own(stage, 'index_lag_ms', {}, 'Maximum');
  const lost = ofQueue('ApproximateNumberOfMessagesVisible', 'WriteIndexFailures');
  const oldest = ofQueue('ApproximateAgeOfOldestMessage', 'IndexChanges');
  return [
    // A message reported as failed in its batch is not an invocation error, so `faults-work` doesn't fire.
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
  return alarm('failed-reads', 'wake', texts.failedReads, failed, { ...mustRun, seconds: minutes, above: 0 });
}

/** CloudFront's own metrics exist in one region only. Its logs arrive within an hour, seldom later. */
function bytesAlarm(stage: Stage): Alarm {
  const bound = above(Number(stage.values.gigabytesPerHourAlarm) * 1e9, [1, 2], hours);
  return alarm('download-bytes', 'wake', texts.downloadBytes, own(stage, 'download_bytes'), bound);
}

function stateAlarm(stage: Stage): Alarm {
  return alarm('unknown-states', 'notice', texts.unknownStates, own(stage, 'unknown_states'), anyOfFifteen);
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
