import { AsyncLocalStorage } from 'node:async_hooks';
import * as config from './config.ts';
import { withMetrics } from './metrics.ts';

type Fields = Record<string, unknown>;

const requestFields = new AsyncLocalStorage<Fields>();

/** Adds `fields` and the surrounding ones to all log lines inside `work`. */
export function withLogFields<Result>(fields: Fields, work: () => Result): Result {
  return requestFields.run({ ...requestFields.getStore(), ...fields }, work);
}

/** Adds fields to the running request that are known only deep inside it, such as a provider's latency. */
export function note(fields: Fields): void {
  Object.assign(requestFields.getStore() ?? {}, fields);
}

/** Writes one JSON line to standard output, where Lambda collects it. */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Fields = {}): void {
  const { RELEASE, AWS_LAMBDA_FUNCTION_VERSION, METRICS_NAMESPACE } = config.metrics();
  const code = { release: RELEASE, function_version: AWS_LAMBDA_FUNCTION_VERSION };
  const line = { level, event, ...code, ...requestFields.getStore(), ...fields };
  const written = METRICS_NAMESPACE === undefined ? line : withMetrics(line, METRICS_NAMESPACE);
  process.stdout.write(`${JSON.stringify(written)}\n`);
}

const maxCauses = 8;

/** An error and its causes, as fields of a log line. */
export function describeError(error: unknown): Fields {
  const causes: string[] = [];
  let current = error;
  while (current instanceof Error && causes.length < maxCauses) {
    causes.push(`${current.name}: ${current.message}`);
    current = current.cause;
  }
  return { causes, ...(error instanceof Error && { stack: error.stack }) };
}
