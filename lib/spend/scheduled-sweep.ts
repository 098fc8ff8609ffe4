import { endOf, type EventInvocation } from '../context.ts';
import { withLogFields } from '../log.ts';
import { type Part, requireNoneFailed } from '../store/due.ts';
import { sweepSpending } from './sweep-spending.ts';

/** For the visits that have begun when the time is up, and the line. A call is given up after two seconds. */
const finishingMs = 5000;

/** One sweep of a schedule, which names its part of the accounts. A failure is left to the next one. */
export async function scheduledSweep({ part }: { part?: Part }, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'sweepSpending', function_request_id: invocation.awsRequestId };
  const context = { deadline: endOf(invocation) - finishingMs };
  requireNoneFailed(await withLogFields(fields, () => sweepSpending(context, { part })));
}
