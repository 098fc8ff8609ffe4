// Only types: a function may need these before it needs the client.
import type { CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';

/** Why a call may go better later. All but `unanswered`, which may have been applied, have done nothing. */
type Failure = 'conflict' | 'throttled' | 'unsent' | 'unanswered';

const conflictNames = new Set(['TransactionConflictException', 'TransactionInProgressException']);
const throttledNames = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'LimitExceededException',
]);
const throttledReasons = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);
const unansweredNames = new Set(['InternalServerError', 'ServiceUnavailable', 'TimeoutError']);

/** Undefined if the same call would fail again. */
export function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (conflictNames.has(error.name)) return 'conflict';
  if (isCanceled(error)) return failureOfCanceled(error);
  if (throttledNames.has(error.name)) return 'throttled';
  if (wasNeverSent(error)) return 'unsent';
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  const isUnanswered =
    unansweredNames.has(error.name) ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    (typeof code === 'string' && /^E[A-Z]+$/.test(code));
  return isUnanswered ? 'unanswered' : undefined;
}

/** Without a connection no byte of the call has left. A connection that was lost may have carried it. */
function wasNeverSent(error: Error): boolean {
  const { syscall, errors } = error as { syscall?: unknown; errors?: unknown };
  // One error for each address that a name has.
  if (error instanceof AggregateError) return Array.isArray(errors) && errors.every(wasNeverSent);
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

/** A transaction that was not applied; its reasons say why. */
export function isCanceled(error: unknown): error is TransactionCanceledException {
  return error instanceof Error && error.name === 'TransactionCanceledException';
}

function failureOfCanceled(error: TransactionCanceledException): Failure | undefined {
  const codes = reasonsOf(error).map(({ Code }) => String(Code));
  if (codes.includes('ConditionalCheckFailed') || codes.includes('ValidationError')) return undefined;
  if (codes.includes('TransactionConflict')) return 'conflict';
  return codes.some((code) => throttledReasons.has(code)) ? 'throttled' : undefined;
}

/** Why each part of a transaction was canceled; empty for another error. */
export function reasonsOf(error: unknown): CancellationReason[] {
  return isCanceled(error) ? (error.CancellationReasons ?? []) : [];
}

/** The caller's error for a call that failed for good. */
export function storeError(error: unknown): unknown {
  if (failureOf(error) !== undefined) return new ApiError('unavailable', { cause: error });
  return tooLargeOr(error, error instanceof Error ? error.message : '');
}

/** Reads a sentence, because DynamoDB has no code for an item that is too large. */
export function tooLargeOr(error: unknown, message: string): unknown {
  return /size .*exceeded|exceeds .*size|too large/i.test(message)
    ? new ApiError('record_too_large', { cause: error })
    : error;
}
