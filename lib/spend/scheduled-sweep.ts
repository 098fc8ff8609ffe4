import { contextOf, type EventInvocation } from '../context.ts';
import { withLogFields } from '../log.ts';
import { requireNoneFailed } from '../store/due.ts';
import { sweepSpending } from './sweep-spending.ts';

/** One sweep of the schedule. A failure is left to the next one. */
export async function scheduledSweep(_event: unknown, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'sweepSpending', function_request_id: invocation.awsRequestId };
  requireNoneFailed(await withLogFields(fields, () => sweepSpending(contextOf(invocation))));
}
