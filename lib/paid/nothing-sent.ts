import { ApiError } from '../errors.ts';
import { storeError } from '../store/store-errors.ts';

/**
 * The same error, saying that nothing was bought: whatever failed, nothing had been sent yet. What the records of a paid
 * request lose to others, or what does not fit into them, has a code that a caller of a proxy knows.
 */
export function nothingSent(error: unknown): ApiError {
  const known = storeError(error);
  if (!(known instanceof ApiError))
    return new ApiError('internal_error', { cause: error, payment: 'refused' });
  if (known.code === 'conflict') return new ApiError('unavailable', { cause: known, payment: 'refused' });
  if (known.code === 'record_too_large') {
    const message = 'A field of the request is too large to be recorded.';
    return new ApiError('invalid_request', { message, cause: known, payment: 'refused' });
  }
  return known.payment === 'refused' ? known : known.with({ payment: 'refused' });
}
