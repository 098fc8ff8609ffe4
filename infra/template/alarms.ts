import { providerNames } from '../../lib/config.ts';
import { slowRegistryMs } from '../../lib/deployment.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { acceptedMark } from '../../lib/metrics.ts';
import { type Lane, lanes } from '../../lib/work/lanes.ts';
import {
  type Alarm,
  alarm,
  type Metric,
  ofLambda,
  ofQueue,
  upperFirst,
  type When,
} from './alarm-resources.ts';
import { texts } from './alarm-texts.ts';

/*
 * Every alarm of a stage, defined once: its name, its text, its metric and when it fires. The template's
 * alarms and the list in docs/runbook.md are generated from it. The stage's own metrics come from its log
 * lines (lib/metrics.ts).
 */

interface StageFunction {
  name: string;
  isRoute: boolean;
  isPaid: boolean;
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
/** Something runs each minute. */
const mustRun: When = { seconds: 5 * minutes, periods: [3, 3], mustRun: true };
/** Lambda and CloudWatch report within three minutes of the end of an invocation. */
const reportSeconds = 180;

export function alarmsOf(stage: Stage): Alarm[] {
  return [
    ...stage.functions.flatMap((it) => functionAlarms(stage, it)),
    ...apiAlarms,
    alarm('bulk-throttles', texts.bulkThrottles, own(stage, 'bulk_throttles'), above(60, [3, 5], minutes)),
    ...concurrencyAlarms(stage),
    ...tableAlarms(),
    ...providerNames.flatMap((provider) => providerAlarms(stage, provider)),
    ...stage.functions.filter(({ isPaid }) => isPaid).map(({ name }) => paidRouteAlarm(stage, name)),
    ...moneyAlarms(stage),
    ...uploadAlarms(stage),
    ...sweepAlarms(stage),
    ...workAlarms(stage),
    ...indexAlarms(stage),
    ...(stage.servesDownloads ? [readAlarm(stage)] : []),
    ...(stage.countsDownloads ? [bytesAlarm(stage)] : []),
    ...(stage.relays ? notificationAlarms(stage) : []),
  ];
}

/** The alarm on its metric also fires without data. */
const watchedByMetric = 'watchReads';

function functionAlarms(stage: Stage, it: StageFunction): Alarm[] {
  if (it.name === watchedByMetric) return [];
  const { name, isRoute, slowMs = slowRegistryMs, timeoutSeconds } = it;
  const periods = Math.max(10, Math.ceil((timeoutSeconds + reportSeconds) / minutes));
  const internal = own(stage, 'requests', { function: name, code: 'internal_error' });
  return [
    alarm(`faults-${name}`, texts.faults, ofLambda('Errors', 'Sum', name), above(0, [1, periods], minutes)),
    ...(isRoute
      ? [
          alarm(`internal-errors-${name}`, texts.internalErrors, internal, anyOfTen),
          alarm(`slow-${name}`, texts.slow, ofLambda('Duration', 'p95', name), above(slowMs, [3, 4])),
        ]
      : []),
  ];
}

interface SweepAlarms {
  sweep: string;
  /** The text of its alarm if it doesn't run. */
  missing: string;
  seconds?: number;
  /** Per period. */
  minRuns?: number;
  missingPeriods?: When['periods'];
  /** Absent if it never leaves work undone. */
  unvisitedPeriods?: When['periods'];
  /** Only a stage of this kind has the schedule. */
  only?: 'countsDownloads';
}

const hourly: Omit<SweepAlarms, 'sweep'> = {
  missing: texts.noSweep,
  seconds: hours,
  minRuns: 1,
  missingPeriods: [2, 2] as const,
  unvisitedPeriods: [3, 4] as const,
};

const sweeps: SweepAlarms[] = [
  { sweep: 'uploads', ...hourly },
  { sweep: 'host-nodes', ...hourly },
  {
    sweep: 'downloads',
    missing: texts.noDownloads,
    only: 'countsDownloads',
    seconds: 12 * hours,
    minRuns: 1,
  },
  { sweep: 'catalog', missing: texts.noCatalog },
];

/** A sweep runs each minute, unless its row says otherwise. */
function alarmsOfSweep(
  stage: Stage,
  { sweep, missing, unvisitedPeriods, ...schedule }: SweepAlarms,
): Alarm[] {
  const { seconds = 5 * minutes, minRuns = 3, missingPeriods = [3, 3] } = schedule;
  const runs = own(stage, 'sweep_findings', { sweep }, 'SampleCount');
  const tooFew = { ...mustRun, seconds, periods: missingPeriods, below: minRuns };
  const ran = alarm(`sweep-missing-${sweep}`, missing, runs, tooFew);
  if (!unvisitedPeriods) return [ran];
  const left = own(stage, 'sweep_unvisited', { sweep }, 'Maximum');
  return [ran, alarm(`sweep-unvisited-${sweep}`, texts.unvisited, left, above(0, unvisitedPeriods, seconds))];
}

function sweepAlarms(stage: Stage): Alarm[] {
  const found = (sweep: string) => own(stage, 'sweep_findings', { sweep });
  return [
    ...sweeps.filter(({ only }) => !only || stage[only]).flatMap((sweep) => alarmsOfSweep(stage, sweep)),
    alarm('sweep-findings-uploads', texts.foundUploads, found('uploads'), anyOfFifteen),
    alarm('sweep-findings-commands', texts.foundCommands, found('commands'), anyOfFifteen),
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
  alarm('server-errors', texts.serverErrors, rate('5xx', 20), above(5, [3, 5], minutes)),
  alarm('repeated-server-errors', texts.serverErrors, rate('5xx', 1), above(5, [3, 12])),
  alarm('client-errors', texts.clientErrors, rate('4xx', 20), above(50, [3, 4])),
];

/** The most metrics in an alarm's expression: cloudwatch_limits.html. */
const maxMetrics = 10;

/** The throttles of functions, in as few alarms as possible. */
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
    ...throttleAlarms(others, 'function-throttles', texts.functionThrottles, anyOfFifteen),
    ...throttleAlarms(reserved, 'reserved-throttles', texts.reservedThrottles, fifteenMinutes),
  ];
}

/**
 * DynamoDB reports the throttles of an index under the index, and not under its table. Alarms on its metrics
 * keep their state while data is missing, regardless of their settings, so the periods without throttles are
 * filled in.
 */
function tableAlarms(): Alarm[] {
  const table = { TableName: { Ref: 'Table' } };
  const places = { table, index: { ...table, GlobalSecondaryIndexName: 'pending' } };
  return Object.entries(places).flatMap(([place, dimensions]) =>
    ['Read', 'Write'].map((kind) => {
      const name = `${kind}ThrottleEvents`;
      const throttles: Metric = { namespace: 'AWS/DynamoDB', name, statistic: 'Sum', dimensions };
      const filled = { expression: 'FILL(throttles, 0)', metrics: { throttles } };
      return alarm(`${place}-${kind.toLowerCase()}-throttles`, texts.tableThrottles, filled, fifteenMinutes);
    }),
  );
}

function providerAlarms(stage: Stage, provider: string): Alarm[] {
  const metric = (name: string) => own(stage, name, { provider });
  const [credentials, quota] = [metric('provider_credentials_rejected'), metric('provider_quota_exhausted')];
  const failing = {
    expression: '100 * errors / calls',
    metrics: { errors: metric('provider_errors'), calls: metric('provider_calls') },
  };
  return [
    alarm(`${provider}-provider-credentials`, texts.providerCredentials, credentials, anyOfFifteen),
    alarm(`${provider}-provider-quota`, texts.providerQuota, quota, anyOfFifteen),
    alarm(`${provider}-provider-errors`, texts.providerErrors, failing, above(20, [3, 12])),
  ];
}

/** Codes that are the callers' fault in one request, but the provider's or ours if all requests fail. */
function paidRouteAlarm(stage: Stage, name: string): Alarm {
  const mark = (statistic: Metric['statistic']) => own(stage, 'caller_mark', { function: name }, statistic);
  const unaccepted = {
    expression: `IF(calls >= 10 AND high > low AND high < ${acceptedMark}, calls, 0)`,
    metrics: { calls: mark('SampleCount'), low: mark('Minimum'), high: mark('Maximum') },
  };
  return alarm(`no-success-${name}`, texts.noSuccess, unaccepted, above(0, [1, 2], 30 * minutes));
}

function moneyAlarms(stage: Stage): Alarm[] {
  const tooMany = above(stage.creditsPerHour, [1, 2], hours);
  return [
    alarm('credits-per-hour', texts.credits, own(stage, 'credits'), tooMany),
    alarm('credit-ceiling', texts.ceiling, own(stage, 'replies_above_ceiling'), anyOfFifteen),
  ];
}

function uploadAlarms({ bucketName }: Stage): Alarm[] {
  const dimensions = { BucketName: bucketName, StorageType: 'StandardStorage' };
  const size: Metric = { namespace: 'AWS/S3', name: 'BucketSizeBytes', statistic: 'Average', dimensions };
  return [
    deadLetters('finalize-upload', 'FinalizeUploadFailures', texts.lostUploads),
    deadLetters('extraction', 'ExtractionsFailures', texts.lostExtractions),
    backlog('extraction', 'Extractions', texts.oldExtractions, 2 * hours),
    alarm('bucket-size', texts.bucketSize, size, above(500e9, [1, 2], days)),
  ];
}

function indexAlarms(stage: Stage): Alarm[] {
  const age = own(stage, 'index_lag_ms', {}, 'Maximum');
  return [
    deadLetters('write-index', 'WriteIndexFailures', texts.lostChanges),
    backlog('index', 'IndexChanges', texts.oldChanges, hours),
    alarm('index-age', texts.indexAge, age, { ...mustRun, above: 300_000 }),
  ];
}

function readAlarm(stage: Stage): Alarm {
  const failed = own(stage, 'failed_reads', {}, 'Maximum');
  return alarm('failed-reads', texts.failedReads, failed, {
    seconds: minutes,
    periods: [3, 3],
    above: 0,
    mustRun: true,
  });
}

/** CloudFront's own metrics exist in one region only. Its logs arrive within an hour, seldom later. */
function bytesAlarm(stage: Stage): Alarm {
  const bound = above(stage.gigabytesPerHour * 1e9, [1, 2], hours);
  return alarm('download-bytes', texts.downloadBytes, own(stage, 'download_bytes'), bound);
}

/** A message reported as failed in its batch is not an invocation error, so no `faults-` alarm fires. */
function deadLetters(name: string, queue: string, text: string): Alarm {
  const metric = ofQueue('ApproximateNumberOfMessagesVisible', queue);
  return alarm(`${name}-dead-letters`, text, metric, { ...anyOfFifteen, isLasting: true });
}

function backlog(name: string, queue: string, text: string, seconds: number): Alarm {
  const metric = ofQueue('ApproximateAgeOfOldestMessage', queue);
  return alarm(`${name}-backlog`, text, metric, above(seconds, [3, 4]));
}

function notificationAlarms(stage: Stage): Alarm[] {
  const unknown = (provider: string) => own(stage, 'unknown_states', { provider });
  return [
    ...providerNames.map((provider) =>
      alarm(`${provider}-unknown-states`, texts.unknownStates, unknown(provider), anyOfFifteen),
    ),
  ];
}

/** For each lane how old its due work is, in the index and in its queue, and what it gave up; and whether all stand still. */
function workAlarms(stage: Stage): Alarm[] {
  const runs = own(stage, 'oldest_owed_ms', { lane: 'visit' }, 'SampleCount');
  return [
    alarm('work-silent', texts.workSilent, runs, { ...mustRun, below: 3 }),
    ...Object.entries<Lane>(lanes).flatMap(([lane, { maxAgeSeconds, maxGivenUp }]) => {
      const queued = ofQueue('ApproximateAgeOfOldestMessage', `${upperFirst(lane)}Queue`);
      const due = own(stage, 'oldest_owed_ms', { lane }, 'Maximum');
      const age = { expression: 'FILL(due, 0) / 1000 + FILL(queued, 0)', metrics: { due, queued } };
      return [
        alarm(`work-age-${lane}`, texts.workAge, age, above(maxAgeSeconds, [3, 4])),
        alarm(
          `work-given-up-${lane}`,
          texts.workGivenUp,
          own(stage, 'given_up', { lane }),
          above(maxGivenUp, [1, 2], hours),
        ),
      ];
    }),
  ];
}

function own(
  { namespace }: Stage,
  name: string,
  dimensions: Record<string, string> & { code?: ErrorCode } = {},
  statistic: Metric['statistic'] = 'Sum',
): Metric {
  return { namespace, name, statistic, dimensions };
}

function above(bound: number, periods: When['periods'], seconds = 5 * minutes): When {
  return { seconds, periods, above: bound };
}
