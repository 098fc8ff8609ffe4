import {
  type CancellationReason,
  DynamoDBClient,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { calling, type Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { isObject } from '../json.ts';
import { note } from '../log.ts';
import * as config from '../config.ts';

export const tableName = () => config.registry().TABLE_NAME;

export const dynamodb = new DynamoDBClient({
  // Only `untilAnswered` retries: it knows which writes must not be repeated, and when to give up.
  retryStrategy: { retry: (send, call) => send(call) },
  // The SDK would use AWS's time from the second call on, but tokens, keys, days and upload URLs use this
  // clock. AWS rejects signatures that are five minutes off: so a function with a wrong clock does nothing,
  // and logs why.
  disableClockSkewCorrection: true,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: 2000,
    // Otherwise the SDK only warns about a request that takes longer than requestTimeout, and keeps waiting.
    throwOnRequestTimeout: true,
  },
});

// It copies each request and response for a possible logger: a tenth of a cold bulk of 1,000, and half of a warm one.
dynamodb.middlewareStack.remove('loggerMiddleware');

/** With a limit of two seconds for each call, a store that hangs or is down is given up after about eight. */
const maxWithoutAnswer = 4;

/**
 * Calls the table until it answers. Throttled calls, and calls that conflict with a transaction, have done
 * nothing and are repeated while the request's budget allows it. An unanswered call is repeated a few times;
 * if it may have been applied, only with `isRepeatable`.
 */
export async function untilAnswered<Result>(
  context: Context,
  operation: string,
  call: () => Promise<Result>,
  isRepeatable = true,
): Promise<Result> {
  const name = `DynamoDB ${operation}`;
  const failures: StoreFailure[] = [];
  for (;;) {
    try {
      return await calling(context, name, call);
    } catch (error) {
      await outlast(context, { name, isRepeatable, failures }, error);
    }
  }
}

interface Tries {
  name: string;
  isRepeatable: boolean;
  /** So far, the last one last. */
  failures: StoreFailure[];
}

/** Waits after a failure of a call. Throws if it would fail again, or there is no time or no repeat left for it. */
async function outlast(context: Context, { name, isRepeatable, failures }: Tries, cause: unknown) {
  const failure = failureOf(cause);
  if (failure === undefined) throw cause;
  noteThrottling(cause);
  failures.push(failure);
  const withoutAnswer = failures.length - 1 - failures.findLastIndex(isAnswer);
  const isOver = withoutAnswer === maxWithoutAnswer || (failure === 'unanswered' && !isRepeatable);
  if (!isOver && (await pauseBefore(context, failures.length, failure !== 'conflict'))) return;
  const Given = failure === 'unanswered' ? UnansweredError : ApiError;
  const reason = `${name}: ${failure}`;
  throw new Given(failure === 'conflict' ? 'conflict' : 'unavailable', { cause, reason });
}

/** A call that was given up without an answer, so it may have been applied, or be applied later. */
export class UnansweredError extends ApiError {}

function takeRepeat({ retries }: Context, waitMs: number): boolean {
  if (!retries) return true;
  retries.until ??= Date.now() + retries.ms;
  if (retries.repeats === 0 || Date.now() + waitMs > retries.until) return false;
  retries.repeats -= 1;
  return true;
}

/** Full jitter: any time up to a limit that doubles, so that colliding requests don't collide again. */
function jitter(round: number): number {
  return Math.random() * Math.min(1000, 20 * 2 ** round);
}

/** Waits before another round; returns false at once if there is no time or no repeat left for it. */
async function pauseBefore(context: Context, round: number, isMetered: boolean): Promise<boolean> {
  const wait = jitter(round);
  if (Date.now() + wait > context.deadline || (isMetered && !takeRepeat(context, wait))) return false;
  await new Promise((resolve) => setTimeout(resolve, wait));
  return true;
}

const maxRounds = 100;

/**
 * The optimistic loop of every read-decide-write: runs again while it returns undefined, which means that
 * another writer changed the data that it had read.
 */
export async function untilWritten<Result>(
  context: Context,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let round = 0; round < maxRounds; round += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (!(await pauseBefore(context, 0, false))) break;
  }
  throw new ApiError('conflict');
}

/** Why a call may succeed later. All except `unanswered`, which may have been applied, have done nothing. */
type StoreFailure = 'conflict' | 'throttled' | 'unsent' | 'unanswered';

const isAnswer = (failure: StoreFailure) => failure === 'conflict' || failure === 'throttled';

const conflictNames = new Set(['TransactionConflictException', 'TransactionInProgressException']);
const throttledNames = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'LimitExceededException',
]);
const throttledReasons = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);
const unansweredNames = new Set(['InternalServerError', 'ServiceUnavailable', 'TimeoutError']);

/** Some keys of a batch read were not read: DynamoDB gives no reason. */
export class KeysThrottled extends Error {
  override readonly name = 'ProvisionedThroughputExceededException';
}

/** Notes whether a ceiling was reached or a key is hot, and the ARN of the table or index. */
function noteThrottling(error: unknown): void {
  const { ThrottlingReasons, throttlingReasons = ThrottlingReasons } = Object(error);
  if (!Array.isArray(throttlingReasons)) return;
  const reasons = throttlingReasons.filter(isObject).map(({ reason, resource }) => `${reason} ${resource}`);
  note({ throttled: [...new Set(reasons)] });
}

/** Undefined if the same call would fail again. */
function failureOf(error: unknown): StoreFailure | undefined {
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

/** Without a connection no byte of the call has left. A lost connection may have carried it. */
function wasNeverSent(error: Error): boolean {
  const { syscall, errors } = error as { syscall?: unknown; errors?: unknown };
  // One error for each address of a name.
  if (error instanceof AggregateError) return Array.isArray(errors) && errors.every(wasNeverSent);
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

/** A transaction that was not applied; its reasons say why. */
export function isCanceled(error: unknown): error is TransactionCanceledException {
  return error instanceof Error && error.name === 'TransactionCanceledException';
}

function failureOfCanceled(error: TransactionCanceledException): StoreFailure | undefined {
  const codes = reasonsOf(error).map(({ Code }) => String(Code));
  if (codes.includes('ConditionalCheckFailed') || codes.includes('ValidationError')) return undefined;
  if (codes.includes('TransactionConflict')) return 'conflict';
  return codes.some((code) => throttledReasons.has(code)) ? 'throttled' : undefined;
}

/** Why each part of a transaction was canceled; empty for another error. */
export function reasonsOf(error: unknown): CancellationReason[] {
  return isCanceled(error) ? (error.CancellationReasons ?? []) : [];
}

/** The caller's error for an item that is too large. DynamoDB has no code for it, so this reads the error's text. */
export function tooLargeOr(error: unknown, message = error instanceof Error ? error.message : ''): unknown {
  return /size .*exceeded|exceeds .*size|too large/i.test(message)
    ? new ApiError('record_too_large', { cause: error })
    : error;
}
