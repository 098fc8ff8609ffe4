import { type Context, inTime } from '../context.ts';
import { describeError, log } from '../log.ts';

/** The longest that an answer is held back after the deadline for writes that follow the request. */
const marginMs = 400;

/**
 * Steps after a request can't change or delay its response: a store that hangs would outlast the invocation and lose what
 * was paid for. A step that fails is logged, and must be safe to leave undone.
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
