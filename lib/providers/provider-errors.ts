import { TransportError } from '../outgoing/http-request.ts';
import { ApiError } from '../errors.ts';
import type { ExchangeResult } from './exchange.ts';

type Failure = Exclude<ExchangeResult, { payment: 'taken' }>;

const connectionLost =
  'The connection to the provider was lost before its reply came, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.';

/** Our caller's error for a call that started no task that we can name. */
export function errorFor(result: Failure): ApiError {
  if (result.payment === 'refused') return refusalError(result);
  const { code, cause, task } = result;
  const isLost = cause instanceof TransportError && cause.reason !== 'timeout';
  return new ApiError(code, { ...(isLost && { message: connectionLost }), cause, payment: 'unknown', task });
}

function refusalError({
  code,
  text,
  details,
  retryAfterMs,
  cause,
}: Failure & { payment: 'refused' }): ApiError {
  const isAboutTheRequest = code === 'provider_rejected';
  const isBusy = code === 'provider_busy' && retryAfterMs !== undefined;
  return new ApiError(code, {
    ...(isAboutTheRequest && text && { message: `The provider rejected the request: ${withFullStop(text)}` }),
    ...(isAboutTheRequest && { details }),
    ...(isBusy && { headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } }),
    cause,
    payment: 'refused',
  });
}

function withFullStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
