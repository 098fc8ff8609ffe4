import { ApiError } from '../errors.ts';
import { storeError } from '../store/send.ts';

/** Marks an error as "nothing was bought", since nothing was sent. Lost races and oversized records get a code of a proxy. */
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
