import { randomBytes } from 'node:crypto';
import { callerHash } from '../../lib/caller-hash.ts';
import { listDue } from '../../lib/notifications/outbox.ts';
import {
  type NotificationRecord,
  notificationId,
  notificationRecord,
  notifyShardOf,
  ticketHash,
  ttlFrom,
} from '../../lib/notifications/records.ts';
import { absent } from '../../lib/store/expressions.ts';
import { type Key, keyOf, notificationKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { put, remove, update } from '../../lib/store/write.ts';

const soon = () => ({ deadline: Date.now() + 5000 });

/** A notification as the receiving half leaves it, due at once. */
export async function writeNotification(
  address: string,
  changes: Partial<NotificationRecord> = {},
): Promise<NotificationRecord> {
  const hash = ticketHash(randomBytes(32).toString('base64url'));
  const now = Date.now();
  const at = new Date(now).toISOString();
  const record: NotificationRecord = {
    ...notificationKey(hash, 1),
    id: notificationId(hash, 1),
    caller_hash: callerHash('user:notified'),
    address,
    body: '{"task_id":"1","state":"success"}',
    content_type: 'application/json',
    state: 'success',
    at,
    attempts: 0,
    pending_shard: notifyShardOf(hash),
    pending_since: at,
    result: 'pending',
    ttl: ttlFrom(now),
    ...changes,
  };
  await put(soon(), record, absent);
  return record;
}

export async function storedNotification(key: Key): Promise<NotificationRecord> {
  const record = notificationRecord((await get(soon(), keyOf(key)))[0]);
  if (!record) throw new Error('There is no such notification.');
  return record;
}

/** Makes the time of the next attempt come, as if this much had passed since. */
export async function makeDue(key: Key, sinceMs = 0): Promise<void> {
  const pending_since = new Date(Date.now() - sinceMs).toISOString();
  await update<NotificationRecord>(soon(), key, { pending_since }, [['result', '=', 'pending']]);
}

/** Forgets what other tests have left, also what would be due only later. */
export async function emptyOutbox(): Promise<void> {
  const inTwoDays = Date.now() + 2 * 86_400_000;
  const left = await listDue(soon(), inTwoDays, 10_000);
  await Promise.all(left.map((key) => remove(soon(), keyOf(key), [['pk', 'exists']])));
}
