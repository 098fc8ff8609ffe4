import type { Context as Invocation } from 'aws-lambda';
import { contextUntil } from '../context.ts';
import { requireNoneFailed } from '../store/due.ts';
import { sweepSpending } from './sweep-spending.ts';

const reservedMs = 1000;

/** One sweep of the schedule. A failure is left to the next one. */
export async function scheduledSweep(
  _event: unknown,
  invocation: Pick<Invocation, 'getRemainingTimeInMillis'>,
): Promise<void> {
  const deadline = Date.now() + invocation.getRemainingTimeInMillis() - reservedMs;
  requireNoneFailed(await sweepSpending(contextUntil(deadline)));
}
