import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type Context, inTime } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { taskHash } from '../notifications/records.ts';
import { storeError } from '../store/dynamodb.ts';

/** A request with an Idempotency-Key: the key's owner, and the parts that must be equal for a replay. */
export interface Keyed {
  key: string;
  /** The owner of the key: two callers may choose the same one. */
  scope: string;
  /** The request in a form that is equal for equal requests. */
  request: string;
}

/** One attempt to answer a request: every name that stores, logs or finds it. */
export interface Attempt {
  /** Identifies it in all its records. */
  id: string;
  operation: string;
  caller: string;
  requestId: string;
  /** Identifies the Idempotency-Key without showing it. */
  keyHash: string | undefined;
  /** Only for a task whose provider notifies this service. */
  relayedTask: RelayedTask | undefined;
}

export interface RelayedTask {
  /** Known only to the provider, and stored nowhere: its holder can report the task's state. */
  secret: string;
  hash: string;
}

/** This many bytes can't be guessed, and make 43 characters. */
const secretBytes = 32;

export function nameAttempt(
  request: Pick<Attempt, 'operation' | 'caller' | 'requestId'>,
  { keyed, isRelayed }: { keyed?: Keyed | undefined; isRelayed: boolean },
): Attempt {
  const keyHash = keyed && hashOfKey(keyed);
  return { id: randomUUID(), ...request, keyHash, relayedTask: isRelayed ? newRelayedTask() : undefined };
}

function newRelayedTask(): RelayedTask {
  const secret = randomBytes(secretBytes).toString('base64url');
  return { secret, hash: taskHash(secret) };
}

export function hashOfKey({ scope, key }: Keyed): string {
  return hash('sha256', `${scope}\n${key}`);
}

/** A finished response, as API Gateway expects it. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** Whether the body is base64, for example compressed. */
  isBase64Encoded?: boolean;
}

/** Whether something was sent that may cost money. A late error must not say that nothing was sent. */
export interface Progress {
  isSent: boolean;
  /** For a late response. */
  taskHeaders?: Record<string, string>;
}

/** The phases before sending. If one fails, the provider got nothing, so no error may call the outcome unknown. */
export async function beforeSending<Result>(phases: () => Promise<Result>): Promise<Result> {
  try {
    return await phases();
  } catch (error) {
    const known = apiErrorOf(storeError(error));
    throw asProxyError(known).with({ payment: 'rejected' });
  }
}

export function apiErrorOf(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
}

/** Lost races and oversized records get a code of a proxy. */
function asProxyError(cause: ApiError): ApiError {
  if (cause.code === 'conflict') return new ApiError('unavailable', { cause });
  if (cause.code !== 'record_too_large') return cause;
  return new ApiError('invalid_request', {
    message: 'A field of the request is too large to be recorded.',
    cause,
  });
}

/** Waits for all writes even if one fails: how the request ends depends on the stored state. */
export async function allStored(writes: readonly (Promise<void> | undefined)[]): Promise<void> {
  const ended = await Promise.allSettled(writes);
  const [first, ...others] = ended.flatMap((write) => (write.status === 'rejected' ? [write.reason] : []));
  for (const other of others) log('warn', 'second_failure', describeError(other));
  if (first !== undefined) throw first;
}

/** How long after the deadline a response may wait for the writes that follow the request. */
const marginMs = 400;

/**
 * Waits for the writes that follow a request, by the log event for a failed one. They can't change or delay
 * its response: a store that hangs would outlast the invocation and lose a paid result. Each must be safe to
 * leave undone.
 */
export async function afterwards(
  { deadline }: Context,
  step: 'succeed' | 'fail',
  writes: Record<string, Promise<void> | undefined>,
): Promise<void> {
  const late = () => new Error('the store took too long');
  const ends = Object.entries(writes).map(async ([event, write]) => {
    if (!write) return;
    await inTime(write, deadline + marginMs, late).catch((error: unknown) =>
      log('warn', event, { step, ...describeError(error) }),
    );
  });
  await Promise.all(ends);
}
