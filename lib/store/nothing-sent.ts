import { ApiError } from '../errors.ts';
import { storeError } from './store-errors.ts';

/** A store that cannot be asked must stop a paid request, whatever kind of failure it is. */
export function nothingSent(error: unknown): ApiError {
  const known = storeError(error);
  if (!(known instanceof ApiError)) return new ApiError('internal_error', { cause: error, payment: 'none' });
  const { code, message, headers, cause } = known;
  return known.payment === 'none' ? known : new ApiError(code, { message, headers, cause, payment: 'none' });
}
