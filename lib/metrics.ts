import * as config from './config.ts';
import type { ErrorCode } from './errors.ts';

/*
 * Metrics leave in log lines that are written anyway: CloudWatch reads them out of a line whose `_aws` field says
 * which of the others are metrics, and by which they are separated (the "embedded metric format"). So there is no
 * second line, no call and no waiting. Each combination of dimensions is paid for as a metric of its own, so they
 * are few, and none has as many values as there are callers or nodes.
 */

type Fields = Record<string, unknown>;
type Unit = 'Count' | 'Milliseconds';

interface Measurement {
  dimensions: string[];
  metrics: Record<string, Unit>;
  /** The values that are not already fields of the line. */
  fields?: Fields;
}

/** The line to write: with its metrics, if it has any and the stage collects them. */
export function withMetrics(line: Fields): Fields {
  const { METRICS_NAMESPACE: namespace } = config.metrics();
  const measurements = namespace === undefined ? [] : (measures[String(line.event)]?.(line) ?? []);
  if (measurements.length === 0) return line;
  const directives = measurements.map(({ dimensions, metrics }) => ({
    Namespace: namespace,
    Dimensions: [dimensions],
    Metrics: Object.entries(metrics).map(([Name, Unit]) => ({ Name, Unit })),
  }));
  const fields = measurements.map((measurement) => measurement.fields);
  return Object.assign({}, line, ...fields, {
    _aws: { Timestamp: Date.now(), CloudWatchMetrics: directives },
  });
}

const measures: Record<string, (line: Fields) => Measurement[]> = {
  request: (line) => [
    {
      dimensions: ['function', 'code'],
      metrics: { requests: 'Count' },
      fields: { code: line.code ?? 'ok', requests: 1 },
    },
    ...(line.idempotent_replay ? [replay] : []),
    ...(line.provider === undefined ? [] : [providerCall(line), ...charged(line), callerMark(line)]),
    ...(line.credits_above_ceiling === undefined ? [] : [aboveCeiling]),
  ],
  upload: (line) => [counted('uploads'), ...milliseconds('lag_ms', line)],
  delivery: (line) => [counted('deliveries'), ...milliseconds('delivery_lag_ms', line)],
  unknown_state: () => [
    { dimensions: ['provider'], metrics: { unknown_states: 'Count' }, fields: { unknown_states: 1 } },
  ],
  hand_over: (line) => milliseconds('oldest_due_ms', line),
  index: ({ lag_ms }) => milliseconds('index_lag_ms', { index_lag_ms: lag_ms }),
  sweep: () => [{ dimensions: ['sweep'], metrics: sweepMetrics }],
  copied_during_ban: () => [
    {
      dimensions: ['sweep'],
      metrics: { sweep_findings: 'Count' },
      fields: { sweep: 'commands', sweep_findings: 1 },
    },
  ],
};

function counted(name: string): Measurement {
  return { dimensions: ['outcome'], metrics: { [name]: 'Count' }, fields: { [name]: 1 } };
}

/** Each sweep leaves a line, even if it finds nothing. */
const sweepMetrics = { sweep_findings: 'Count', sweep_unvisited: 'Count' } as const;

/** Of a field that is a number. */
function milliseconds(name: string, line: Fields): Measurement[] {
  if (!Number.isFinite(line[name])) return [];
  return [{ dimensions: [], metrics: { [name]: 'Milliseconds' }, fields: { [name]: line[name] } }];
}

const replay: Measurement = {
  dimensions: ['function'],
  metrics: { idempotent_replays: 'Count' },
  fields: { idempotent_replays: 1 },
};

/** A limit is exact only as long as this does not happen. */
const aboveCeiling: Measurement = {
  dimensions: [],
  metrics: { replies_above_ceiling: 'Count' },
  fields: { replies_above_ceiling: 1 },
};

/** Failures that count against a provider. Being out of our credits, being busy and rejecting a bad request do not. */
const providerFaults = new Set<ErrorCode>([
  'provider_failed',
  'provider_unreachable',
  'provider_invalid_reply',
  'provider_timeout',
]);

function providerCall({ code, credits }: Fields): Measurement {
  return {
    dimensions: ['provider'],
    metrics: {
      provider_calls: 'Count',
      provider_errors: 'Count',
      provider_credentials_refused: 'Count',
      provider_quota_exhausted: 'Count',
      provider_ms: 'Milliseconds',
      ...(typeof credits === 'number' && { credits: 'Count' }),
    },
    fields: {
      provider_calls: 1,
      provider_errors: providerFaults.has(code as ErrorCode) ? 1 : 0,
      provider_credentials_refused: code === 'provider_credentials' ? 1 : 0,
      provider_quota_exhausted: code === 'provider_quota' ? 1 : 0,
    },
  };
}

/** The mark of an accepted call is at least this, and that of any other below it. */
export const acceptedMark = 2 ** 32;

/**
 * Metrics can't count callers. A number of each shows in its minimum and maximum whether there were two, and whether the
 * provider accepted one of their calls.
 */
function callerMark({ principal = '0', code }: Fields): Measurement {
  const caller = Number.parseInt(String(principal).slice(0, 8), 16);
  const caller_mark = code === undefined || code === 'ok' ? caller + acceptedMark : caller;
  return { dimensions: ['function'], metrics: { caller_mark: 'Count' }, fields: { caller_mark } };
}

/** The sum of both providers has its own alarm. */
function charged({ credits }: Fields): Measurement[] {
  return typeof credits === 'number' ? [{ dimensions: [], metrics: { credits: 'Count' } }] : [];
}
