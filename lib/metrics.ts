import type { ErrorCode } from './errors.ts';

/*
 * Metrics leave in log lines that are written anyway. CloudWatch extracts them from a line whose `_aws` field
 * names the fields that are metrics, and their dimensions (the "embedded metric format"). So there is no
 * second line, no call and no waiting. Each combination of dimensions is billed as a metric of its own, so
 * there are few, and none has a value per caller or node.
 */

type Fields = Record<string, unknown>;
type Unit = 'Bytes' | 'Count' | 'Milliseconds';

interface Measurement {
  dimensions: string[];
  metrics: Record<string, Unit>;
  /** Values that aren't already fields of the line. */
  fields?: Fields;
}

/** Adds the line's metrics, if it has any. */
export function withMetrics(line: Fields, namespace: string): Fields {
  const measurements = measures[String(line.event)]?.(line) ?? [];
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
    one('requests', ['function', 'code'], { code: line.code ?? 'ok' }),
    ...milliseconds('service_ms', { service_ms: Number(line.ms) - Number(line.provider_ms ?? 0) }),
    ...(line.code === 'provider_credentials' ? [one('provider_credentials_rejected')] : []),
    ...(line.code === 'provider_quota' ? [one('provider_quota_exhausted')] : []),
    ...(line.provider === undefined ? [] : [providerCall(line), ...charged(line), callerMark(line)]),
    ...(line.credits_above_ceiling === undefined ? [] : [one('replies_above_ceiling')]),
  ],
  upload: (line) => [one('uploads', ['outcome']), ...milliseconds('lag_ms', line)],
  delivery: (line) => [one('deliveries', ['outcome']), ...milliseconds('delivery_lag_ms', line)],
  unknown_state: () => [one('unknown_states')],
  // A lane that owes nothing has no age, and costs no metric. Each run hands over all lanes.
  hand_over: ({ lane, oldest_owed_ms }) => [
    ...(lane === 'visit' ? [one('hand_overs')] : []),
    ...(Number(oldest_owed_ms) > 0
      ? [{ dimensions: ['lane'], metrics: { oldest_owed_ms: 'Milliseconds' as const } }]
      : []),
  ],
  work: ({ outcome, tries }) => [
    ...(outcome === 'given_up' ? [one('given_up', ['lane'])] : []),
    // By then, every lane has waited for five minutes at least.
    ...(outcome === 'failed' && Number(tries) > 3 ? [one('failing_work')] : []),
  ],
  log_file: ({ download_bytes }) =>
    download_bytes === undefined ? [] : [{ dimensions: [], metrics: { download_bytes: 'Bytes' } }],
  reads: () => [{ dimensions: [], metrics: { failed_reads: 'Count' } }],
  index: ({ lag_ms }) => milliseconds('index_lag_ms', { index_lag_ms: lag_ms }),
  // Each sweep leaves a line, even if it finds nothing.
  sweep: () => [{ dimensions: ['sweep'], metrics: { sweep_findings: 'Count' } }],
};

/** Counts the line itself; without dimensions, over all functions and providers. */
function one(name: string, dimensions: string[] = [], fields: Fields = {}): Measurement {
  return { dimensions, metrics: { [name]: 'Count' }, fields: { ...fields, [name]: 1 } };
}

function milliseconds(name: string, line: Fields): Measurement[] {
  if (!Number.isFinite(line[name])) return [];
  return [{ dimensions: [], metrics: { [name]: 'Milliseconds' }, fields: { [name]: line[name] } }];
}

/** Failures that count against a provider: not a lack of our credits, a busy provider or a rejected bad request. */
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
      provider_errors: 'Count',
      provider_ms: 'Milliseconds',
      ...(typeof credits === 'number' && { credits: 'Count' }),
    },
    // Their average is the rate.
    fields: { provider_errors: providerFaults.has(code as ErrorCode) ? 1 : 0 },
  };
}

/** Marks of accepted calls are at least this; all others are below. */
export const acceptedMark = 2 ** 32;

/**
 * Metrics can't count callers. With one number per caller, the minimum and maximum show whether there were
 * two, and whether the provider accepted a call of one of them.
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
