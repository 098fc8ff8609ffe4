import { callerHash } from '../caller.ts';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import { dueShard } from '../store/due.ts';
import { absent, type Changes, IfAbsent, onRevision, present } from '../store/items.ts';
import { notificationKey, ticketKey, usageKey } from '../store/keys.ts';
import { untilWritten } from '../store/retries.ts';
import { putting, transact, updating, type Write } from '../store/write.ts';
import type { UsageRecord } from '../spend/usage-records.ts';
import { replaceOurUrl } from './hidden-ticket.ts';
import { enqueue, listNow, lostAfterMs } from './outbox.ts';
import {
  isFinal,
  isForward,
  type ProviderNotification,
  readNotification,
  withCommonFields,
} from './provider-notification.ts';
import {
  type NotificationRecord,
  type NotifyingProvider,
  notificationId,
  readTask,
  shownHash,
  type TaskRecord,
  ticketHash,
  ttlFrom,
  statusKey,
} from './records.ts';

/** A call of a provider, with its body as it came. */
interface ReceivedCall {
  provider: NotifyingProvider;
  ticket: string;
  body: string;
  contentType: string;
}

type Receipt =
  | { result: 'written' | 'repeated'; shownHash: string; state: string }
  | { result: 'rejected'; reason: 'state' | 'unknown_ticket' };

/**
 * Stores a later state together with its notification before the provider gets its response, then queues it. Any other
 * state changes nothing: providers repeat their calls, in any order.
 */
export async function receive(context: Context, call: ReceivedCall): Promise<Receipt> {
  const taken = await storeState(context, call);
  if ('notification' in taken) await queueOrList(context, taken.notification);
  return taken.receipt;
}

interface Taken {
  receipt: Receipt;
  /** The stored notification that is still to be sent. */
  notification?: NotificationRecord;
}

async function storeState(context: Context, call: ReceivedCall): Promise<Taken> {
  const said = readNotification(call.provider, call.body);
  if (said === undefined) return { receipt: { result: 'rejected', reason: 'state' } };
  const { state } = said;
  const hash = ticketHash(call.ticket);
  return untilWritten(context, async (): Promise<Taken | undefined> => {
    const task = await readTask(context, hash);
    if (!task || task.provider !== call.provider || isExpired(task))
      return { receipt: { result: 'rejected', reason: 'unknown_ticket' } };
    if (!isForward(task.state, state))
      return { receipt: { result: 'repeated', shownHash: shownHash(hash), state } };
    const now = Date.now();
    const at = new Date(now).toISOString();
    const sequence = task.sequence + 1;
    const taskId = task.task_id ?? said.taskId;
    const notification: NotificationRecord = {
      ...notificationKey(hash, sequence),
      id: notificationId(hash, sequence),
      caller_hash: callerHash(task.caller),
      address: task.address,
      status_key: statusKey(call.ticket),
      body: bodyFor(task, call, taskId),
      content_type: call.contentType,
      state,
      at,
      attempts: 0,
      pending_shard: dueShard('notifications', hash),
      // Only if its message is lost is it handed over by this time.
      pending_since: new Date(now + lostAfterMs).toISOString(),
      result: 'pending',
      ttl: ttlFrom(now),
    };
    const changes = { state, sequence, task_id: taskId, ttl: ttlFrom(now) };
    const writes: Write[] = [
      updating<TaskRecord>(ticketKey(hash), changes, onRevision(task)),
      putting(notification, absent),
    ];
    const isWritten = await writeWithUsage(
      context,
      writes,
      isFinal(state) ? usageOf(task, { ...said, taskId }, at) : undefined,
    );
    const receipt: Receipt = { result: 'written', shownHash: shownHash(hash), state };
    return isWritten ? { receipt, notification } : undefined;
  });
}

/** The provider's own text, without our address, and with the fields that every notification has. */
function bodyFor({ address }: TaskRecord, { provider, body, ticket }: ReceivedCall, taskId?: string): string {
  const text = replaceOurUrl(body, ticket, address);
  const said = readNotification(provider, text);
  return said ? withCommonFields(text, { ...said, taskId }) : text;
}

/** The call is stored, so the provider needs no error: the next run queues what this one could not. */
async function queueOrList(context: Context, notification: NotificationRecord): Promise<void> {
  try {
    await enqueue(context, notification);
  } catch (error) {
    log('warn', 'notification_not_queued', { notification: notification.id, ...describeError(error) });
    await listNow(context, notification).catch(() => {});
  }
}

/** Expiry is compared here: DynamoDB deletes expired records up to two days late. */
function isExpired({ ttl }: TaskRecord): boolean {
  return ttl * 1000 <= Date.now();
}

/** How the task ended, for its usage record, and what the response should have told: it may have been lost. */
function usageOf(
  { caller, attempt }: TaskRecord,
  { state, taskId, credits }: ProviderNotification,
  at: string,
): Write | undefined {
  if (attempt === undefined) return undefined;
  const changes: Changes<UsageRecord> = {
    final_state: state,
    final_at: at,
    task_id: taskId === undefined ? undefined : new IfAbsent(taskId),
    credits_told: credits === undefined ? undefined : new IfAbsent(credits),
  };
  return updating<UsageRecord>(usageKey(callerHash(caller), attempt), changes, present);
}

/** A usage record that is gone holds no notification up. */
async function writeWithUsage(context: Context, writes: Write[], usage: Write | undefined): Promise<boolean> {
  const failed = await transact(context, usage ? [...writes, usage] : writes);
  if (failed.length === 1 && failed[0] === writes.length) return writeWithUsage(context, writes, undefined);
  return failed.length === 0;
}
