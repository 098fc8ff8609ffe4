import { ApiError } from '../errors.ts';
import type { Outcome } from './exchange.ts';

const connectionLost =
  'The connection to the provider was lost before its reply came, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.';

/** What our caller is told of an attempt that started no task we know of. */
export function errorOf(outcome: Outcome): ApiError {
  switch (outcome.kind) {
    case 'not_sent':
      return new ApiError('provider_unreachable', { cause: outcome.cause, settlement: 'refused' });
    case 'refused':
      return refusal(outcome);
    case 'answered': {
      // A reply that is neither a success nor an error, such as a redirect, is one that we cannot read.
      const code = outcome.status < 400 ? 'provider_invalid_reply' : 'provider_failed';
      const cause = new Error(`the provider answered ${outcome.status}`);
      return new ApiError(code, { cause, settlement: 'answered' });
    }
    case 'unknown':
      return new ApiError('provider_timeout', {
        ...(!outcome.timedOut && { message: connectionLost }),
        cause: outcome.cause,
        settlement: 'unknown',
      });
  }
}

function refusal({ code, status, text, details, retryAfterMs }: Outcome & { kind: 'refused' }): ApiError {
  const isAboutTheRequest = code === 'provider_rejected';
  const retryAfterSeconds = String(Math.ceil((retryAfterMs ?? 0) / 1000));
  return new ApiError(code, {
    ...(isAboutTheRequest && text && { message: `The provider rejected the request: ${withFullStop(text)}` }),
    ...(isAboutTheRequest && { details }),
    ...(code === 'provider_busy' &&
      retryAfterMs !== undefined && { headers: { 'retry-after': retryAfterSeconds } }),
    cause: new Error(`the provider answered ${status}`),
    settlement: 'refused',
  });
}

function withFullStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
