import { ApiError } from '../errors.ts';

/** What a failed call to the store means to the caller. */
export function storeError(error: unknown): unknown {
  if (isOverload(error)) return new ApiError('unavailable', { cause: error });
  return tooLargeOr(error, error instanceof Error ? error.message : '');
}

/** Reads a sentence, because DynamoDB has no code for an item that is too large. */
export function tooLargeOr(error: unknown, message: string): unknown {
  return /size .*exceeded|exceeds .*size|too large/i.test(message)
    ? new ApiError('record_too_large', { cause: error })
    : error;
}

const overloadNames = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'LimitExceededException',
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
]);

/** Throttled, failing on its side, or unreachable: worth another try, and not the caller's mistake. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  return (
    overloadNames.has(error.name) ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    (typeof code === 'string' && /^E[A-Z]+$/.test(code))
  );
}
