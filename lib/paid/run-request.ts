import type { Context } from '../context.ts';
import { ApiError, isRefused } from '../errors.ts';
import { describeError, log } from '../log.ts';
import { afterwards } from './afterwards.ts';
import { nothingSent } from './nothing-sent.ts';
import type { Answer, Participant, Sent } from './participant.ts';

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
  const { participants, context } = request;
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
    await together(participants, (each) =>
      afterwards(context, each.name, 'succeed', () => each.succeed?.(sent)),
    );
    return { ...answer, headers: { ...answer.headers, ...headersOf(participants, sent) } };
  } catch (thrown) {
    const known = thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
    const error = participants.reduce((shown, each) => each.inError?.(shown) ?? shown, known);
    await together(participants, (each) => afterwards(context, each.name, 'fail', () => each.fail?.(error)));
    const task = isRefused(error) ? {} : taskHeaders;
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

async function together(
  participants: readonly Participant[],
  end: (participant: Participant) => Promise<void>,
): Promise<void> {
  await Promise.all(participants.map(end));
}

function headersOf(participants: readonly Participant[], sent?: Sent): Record<string, string> {
  return Object.assign({}, ...participants.map((each) => each.headers?.(sent)));
}
