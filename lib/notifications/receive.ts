import type { Context } from '../context.ts';
import { callerHash } from '../caller-hash.ts';
import { absent, present } from '../store/expressions.ts';
import { notificationKey, ticketKey, usageKey } from '../store/keys.ts';
import { untilWritten } from '../store/retries.ts';
import { putting, transact, updating, type Write } from '../store/write.ts';
import type { TaskState } from '../schemas/video.ts';
import type { UsageRecord } from '../spend/usage-records.ts';
import { hideTicket } from './hidden-ticket.ts';
import { isFinal, isForward, readNotification } from './provider-notification.ts';
import {
  type NotificationRecord,
  type NotifyingProvider,
  notificationId,
  notifyShardOf,
  readTask,
  shownHash,
  type TaskRecord,
  ticketHash,
  ttlFrom,
} from './records.ts';

/** A call of a provider, with its body as it came. */
interface ProviderCall {
  provider: NotifyingProvider;
  ticket: string;
  body: string;
  contentType: string;
  context: Context;
}

type Receipt =
  | { result: 'written' | 'repeated'; shownHash: string; state: string }
  | { result: 'rejected'; reason: 'state' | 'unknown_ticket' };

/**
 * Takes what a provider says about a task. A state that moves the task on is stored together with the notification
 * to be delivered, before the provider gets its answer. A state that does not changes nothing: providers repeat
 * their calls, and these arrive in any order.
 */
export async function receive(call: ProviderCall): Promise<Receipt> {
  const said = readNotification(call.provider, call.body);
  if (said === undefined) return { result: 'rejected', reason: 'state' };
  const { state, taskId } = said;
  const hash = ticketHash(call.ticket);
  return untilWritten(call.context, async () => {
    const task = await readTask(call.context, hash);
    if (!task || task.provider !== call.provider || isExpired(task))
      return { result: 'rejected', reason: 'unknown_ticket' };
    if (!isForward(task.state, state)) return { result: 'repeated', shownHash: shownHash(hash), state };
    const now = Date.now();
    const at = new Date(now).toISOString();
    const sequence = task.sequence + 1;
    const notification: NotificationRecord = {
      ...notificationKey(hash, sequence),
      id: notificationId(hash, sequence),
      caller_hash: callerHash(task.caller),
      address: task.address,
      body: hideTicket(call.body, call.ticket, task.address),
      content_type: call.contentType,
      state,
      at,
      attempts: 0,
      pending_shard: notifyShardOf(hash),
      pending_since: at,
      result: 'pending',
      ttl: ttlFrom(now),
    };
    const changes = { state, sequence, task_id: task.task_id ?? taskId, ttl: ttlFrom(now) };
    const writes: Write[] = [
      updating<TaskRecord>(ticketKey(hash), changes, [['revision', '=', task.revision]]),
      putting(notification, absent),
    ];
    const isWritten = await writeWithUsage(
      call.context,
      writes,
      isFinal(state) ? usageOf(task, state, at) : undefined,
    );
    return isWritten ? { result: 'written', shownHash: shownHash(hash), state } : undefined;
  });
}

/** Expiry is compared here: DynamoDB deletes expired records up to two days late. */
function isExpired({ ttl }: TaskRecord): boolean {
  return ttl * 1000 <= Date.now();
}

/** How the task ended, for its usage record. */
function usageOf({ caller, attempt }: TaskRecord, state: TaskState, at: string): Write | undefined {
  if (attempt === undefined) return undefined;
  const changes = { final_state: state, final_at: at };
  return updating<UsageRecord>(usageKey(callerHash(caller), attempt), changes, present);
}

/** A usage record that is gone holds no notification up. */
async function writeWithUsage(context: Context, writes: Write[], usage: Write | undefined): Promise<boolean> {
  const failed = await transact(context, usage ? [...writes, usage] : writes);
  if (failed.length === 1 && failed[0] === writes.length) return writeWithUsage(context, writes, undefined);
  return failed.length === 0;
}
