import type { Context } from '../context.ts';
import { inTime } from '../in-time.ts';
import { describeError, log } from '../log.ts';

/** The longest that an answer is held back after the deadline for writes that follow the request. */
const marginMs = 400;

/**
 * The steps after a request cannot change what the caller gets, nor may they hold it back: a store that hangs
 * would outlast the invocation, and what was paid for would be lost. What such a step leaves undone is logged, and
 * has to be safe to leave.
 */
export async function afterwards(
  context: Context,
  event: string,
  step: string,
  work: () => Promise<unknown> | undefined,
): Promise<void> {
  const late = () => new Error('the store took too long');
  const begun = work();
  if (!begun) return;
  await inTime(begun, context.deadline + marginMs, late).catch((error: unknown) =>
    log('warn', event, { step, ...describeError(error) }),
  );
}
