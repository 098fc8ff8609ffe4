import { ApiError } from '../errors.ts';
import { storeError } from '../store/store-errors.ts';

/** The same error, saying that nothing was bought: whatever failed, nothing had been sent yet. */
export function nothingSent(error: unknown): ApiError {
  const known = storeError(error);
  if (!(known instanceof ApiError))
    return new ApiError('internal_error', { cause: error, payment: 'refused' });
  return known.payment === 'refused' ? known : known.with({ payment: 'refused' });
}
