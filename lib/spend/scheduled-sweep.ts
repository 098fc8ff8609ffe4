import { contextUntil, type EventInvocation } from '../context.ts';
import { withLogFields } from '../log.ts';
import { requireNoneFailed } from '../store/due.ts';
import { sweepSpending } from './sweep-spending.ts';

const reservedMs = 1000;

/** One sweep of the schedule. A failure is left to the next one. */
export async function scheduledSweep(_event: unknown, invocation: EventInvocation): Promise<void> {
  const deadline = Date.now() + invocation.getRemainingTimeInMillis() - reservedMs;
  const fields = { function: 'sweepSpending', function_request_id: invocation.awsRequestId };
  requireNoneFailed(await withLogFields(fields, () => sweepSpending(contextUntil(deadline))));
}
