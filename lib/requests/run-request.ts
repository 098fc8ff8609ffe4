import { type Context, inTime } from '../context.ts';
import { ApiError, boughtNothing } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { describeError, log } from '../log.ts';
import type { BoughtTask } from '../providers/exchange.ts';
import { storeError } from '../store/retries.ts';

/** A finished answer, as API Gateway takes it. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** Whether the body is base64, as a compressed one is. */
  isBase64Encoded?: boolean;
}

/** The answer to a request that was sent, and the task that it bought. */
export interface Sent {
  answer: Answer;
  task?: BoughtTask | undefined;
}

/**
 * One concern around a request: its Idempotency-Key, money, notifications or provider call. `runRequest` runs the phases.
 * A participant knows how far it got, so `succeed` and `fail` may follow any phase.
 */
export interface Participant {
  /** The event of the log line when the end of this participant fails. */
  readonly name: string;
  /** Headers that name the task: for every response once it may have started, and for replays. */
  readonly taskHeaders?: Record<string, string>;
  /** In order, before anything is stored for good. An answer ends the request: it was given before. */
  prepare?(): Promise<Answer | undefined>;
  /** Right before sending, all together: everything that must be stored before money can be spent. */
  record?(taskHeaders: Record<string, string>): Promise<void>;
  /** After sending, all together. These phases can neither change the answer nor hold it back. */
  succeed?(sent: Sent): Promise<void>;
  fail?(error: ApiError): Promise<void>;
  /** The answer, or the error, as the caller and a replay may see it. */
  inAnswer?(answer: Answer): Answer;
  inError?(error: ApiError): ApiError;
  /** Headers that are true of this answer only, so a replay lacks them. */
  headers?(sent?: Sent): Record<string, string>;
}

/** The call to the provider takes part too: it prepares before money is reserved. */
export interface Outgoing extends Participant {
  startTask(): Promise<{ task: BoughtTask; reply: JsonObject }>;
}

/** A paid request, as far as its participants need it. */
export interface PaidRequest {
  /** Names this attempt in all that is stored for it. */
  attempt: string;
  caller: string;
  body: unknown;
  requestId: string;
  context: Context;
}

export interface PreparedRequest {
  /** In the order in which they prepare. */
  participants: readonly Participant[];
  /** Whether sending may cost something, so that it must be recorded first. */
  isPaid: boolean;
  send(): Promise<Sent>;
  context: Context;
}

/** Whether something was sent that may cost money. An answer that comes too late must not say that nothing was. */
export interface Progress {
  isSent: boolean;
  /** For an answer that comes too late. */
  taskHeaders?: Record<string, string>;
}

/** A request from its first participant to its answer, top to bottom. */
export async function runRequest(request: PreparedRequest, progress: Progress): Promise<Answer> {
  const { participants } = request;
  const taskHeaders: Record<string, string> = Object.assign(
    {},
    ...participants.map((each) => each.taskHeaders),
  );
  try {
    const kept = await beforeSending(request, taskHeaders);
    if (kept) return kept;
    if (request.isPaid) Object.assign(progress, { isSent: true, taskHeaders });
    const { answer: given, task } = await request.send();
    const named = { ...given, headers: { ...given.headers, ...taskHeaders } };
    const answer = participants.reduce((shown, each) => each.inAnswer?.(shown) ?? shown, named);
    const sent = { answer, task };
    await afterwards(request, 'succeed', (each) => each.succeed?.(sent));
    return { ...answer, headers: { ...answer.headers, ...headersOf(participants, sent) } };
  } catch (thrown) {
    const known = thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
    const error = participants.reduce((shown, each) => each.inError?.(shown) ?? shown, known);
    await afterwards(request, 'fail', (each) => each.fail?.(error));
    const task = boughtNothing(error) ? {} : taskHeaders;
    throw error.with({ headers: { ...error.headers, ...task, ...headersOf(participants) } });
  }
}

/** Whatever fails here, the provider got nothing: no error may say that the outcome is unknown. */
async function beforeSending(
  { participants, isPaid }: PreparedRequest,
  taskHeaders: Record<string, string>,
): Promise<Answer | undefined> {
  try {
    for (const each of participants) {
      const kept = await each.prepare?.();
      if (kept) return kept;
    }
    if (isPaid) await recordAll(participants, taskHeaders);
    return undefined;
  } catch (error) {
    throw nothingSent(error);
  }
}

/** All are waited for even if one fails: how the request ends depends on what is stored. */
async function recordAll(
  participants: readonly Participant[],
  taskHeaders: Record<string, string>,
): Promise<void> {
  const writes = await Promise.allSettled(participants.map((each) => each.record?.(taskHeaders)));
  const [first, ...others] = writes.flatMap((write) => (write.status === 'rejected' ? [write.reason] : []));
  for (const other of others) log('warn', 'second_failure', describeError(other));
  if (first !== undefined) throw first;
}

function headersOf(participants: readonly Participant[], sent?: Sent): Record<string, string> {
  return Object.assign({}, ...participants.map((each) => each.headers?.(sent)));
}

/** Marks an error as "nothing was bought", since nothing was sent. */
function nothingSent(error: unknown): ApiError {
  const known = storeError(error);
  const cause = known instanceof ApiError ? known : new ApiError('internal_error', { cause: error });
  return asProxyError(cause).with({ payment: 'refused' });
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

/** The longest that an answer is held back after the deadline for writes that follow the request. */
const marginMs = 400;

/**
 * Steps after a request can't change or delay its response: a store that hangs would outlast the invocation and lose what
 * was paid for. A step that fails is logged, and must be safe to leave undone.
 */
async function afterwards(
  { participants, context }: PreparedRequest,
  step: 'succeed' | 'fail',
  end: (participant: Participant) => Promise<void> | undefined,
): Promise<void> {
  const late = () => new Error('the store took too long');
  const endOne = async (each: Participant) => {
    const begun = end(each);
    if (!begun) return;
    await inTime(begun, context.deadline + marginMs, late).catch((error: unknown) =>
      log('warn', each.name, { step, ...describeError(error) }),
    );
  };
  await Promise.all(participants.map(endOne));
}
