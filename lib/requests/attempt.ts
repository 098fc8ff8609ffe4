import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type Context, inTime } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { ticketHash } from '../notifications/records.ts';
import { storeError } from '../store/dynamodb.ts';

/** A request with an Idempotency-Key: whose it is, and what must be equal for a replay. */
export interface Keyed {
  key: string;
  /** The owner of the key: two callers may choose the same one. */
  scope: string;
  /** The request in a form that is equal for equal requests. */
  request: string;
}

/** One attempt to answer a request: every name by which it is stored, logged and found again. */
export interface Attempt {
  /** Names it in all that is stored for it. */
  id: string;
  operation: string;
  caller: string;
  requestId: string;
  /** Names the Idempotency-Key without showing it. */
  keyHash: string | undefined;
  /** Of a task whose provider notifies this service. */
  ticket: Ticket | undefined;
}

export interface Ticket {
  /** Known to the provider alone, and stored nowhere: who has it reports the task's state. */
  secret: string;
  hash: string;
}

/** So many bytes cannot be guessed, and make 43 characters. */
const ticketBytes = 32;

export function nameAttempt(
  request: Pick<Attempt, 'operation' | 'caller' | 'requestId'>,
  { keyed, isRelayed }: { keyed?: Keyed | undefined; isRelayed: boolean },
): Attempt {
  const keyHash = keyed && hashOfKey(keyed);
  return { id: randomUUID(), ...request, keyHash, ticket: isRelayed ? newTicket() : undefined };
}

function newTicket(): Ticket {
  const secret = randomBytes(ticketBytes).toString('base64url');
  return { secret, hash: ticketHash(secret) };
}

export function hashOfKey({ scope, key }: Keyed): string {
  return hash('sha256', `${scope}\n${key}`);
}

/** A finished answer, as API Gateway takes it. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** Whether the body is base64, as a compressed one is. */
  isBase64Encoded?: boolean;
}

/** Whether something was sent that may cost money. An answer that comes too late must not say that nothing was. */
export interface Progress {
  isSent: boolean;
  /** For an answer that comes too late. */
  taskHeaders?: Record<string, string>;
}

/** The phases before sending. Whatever fails in them, the provider got nothing: no error may say that it is unknown. */
export async function beforeSending<Result>(phases: () => Promise<Result>): Promise<Result> {
  try {
    return await phases();
  } catch (error) {
    const known = apiErrorOf(storeError(error));
    throw asProxyError(known).with({ payment: 'refused' });
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

/** All writes are waited for even if one fails: how the request ends depends on what is stored. */
export async function allStored(writes: readonly (Promise<void> | undefined)[]): Promise<void> {
  const ended = await Promise.allSettled(writes);
  const [first, ...others] = ended.flatMap((write) => (write.status === 'rejected' ? [write.reason] : []));
  for (const other of others) log('warn', 'second_failure', describeError(other));
  if (first !== undefined) throw first;
}

/** The longest that an answer is held back after the deadline for writes that follow the request. */
const marginMs = 400;

/**
 * Waits for the writes that follow a request, by the event of the log line if one fails. They can't change or delay its
 * response: a store that hangs would outlast the invocation and lose what was paid for. Each must be safe to leave undone.
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
