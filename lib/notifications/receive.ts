import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import { enqueue, makeDueNow } from './outbox.ts';
import { type NotificationRecord, ticketHash } from './records.ts';
import { type Receipt, type Report, storeReport } from './store-report.ts';

/**
 * Stores what a provider says of a task, with the notification of it, before the provider gets its response. Then queues the
 * notification.
 */
export function receive(context: Context, call: Omit<Report, 'ticketHash'> & { ticket: string }) {
  return takeReport(context, { ...call, ticketHash: ticketHash(call.ticket) });
}

export async function takeReport(context: Context, report: Report): Promise<Receipt> {
  const { receipt, notification } = await storeReport(context, report);
  if (notification) await queueOrList(context, notification);
  return receipt;
}

/** What was said is stored, so the provider needs no error: the next run queues what this one could not. */
async function queueOrList(context: Context, notification: NotificationRecord): Promise<void> {
  try {
    await enqueue(context, notification);
  } catch (error) {
    log('warn', 'notification_not_queued', { notification: notification.id, ...describeError(error) });
    await makeDueNow(context, notification).catch(() => {});
  }
}
