import { randomBytes } from 'node:crypto';
import { callerHash } from '../../lib/caller.ts';
import {
  type NotificationRecord,
  notificationId,
  notificationRecord,
  taskHash,
  ttlFrom,
} from '../../lib/notifications/records.ts';
import { absent } from '../../lib/store/items.ts';
import { type Key, keyOf, notificationKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { deleting, putting, updating, write } from '../../lib/store/write.ts';
import { owe } from '../../lib/work/lanes.ts';
import { send } from '../../lib/work/send.ts';
import { listWork } from '../../tools/admin/registry/work.ts';
import { readObject } from './bucket-objects.ts';
import { queue, runQueue } from './queue.ts';
import { soon } from './registry.ts';

/** A notification as the receiving half leaves it, with its message in the queue. */
export async function writeNotification(
  address: string | undefined,
  changes: Partial<NotificationRecord> = {},
): Promise<NotificationRecord> {
  const hash = taskHash(randomBytes(32).toString('base64url'));
  const now = Date.now();
  const at = new Date(now).toISOString();
  const record: NotificationRecord = {
    ...notificationKey(hash, 1),
    id: notificationId(hash, 1),
    address,
    body: '{"task_id":"1","state":"success"}',
    state: 'success',
    at,
    ...owe('deliver', notificationKey(hash, 1), callerHash('user:notified')),
    status_key: `status/${hash.slice(0, 27)}.json`,
    result: 'pending',
    ttl: ttlFrom(now),
    ...changes,
  };
  await write(soon(), putting(record, absent));
  await send(soon(), 'deliver', [record]);
  return record;
}

export async function storedNotification(key: Key): Promise<NotificationRecord> {
  const record = notificationRecord((await get(soon(), keyOf(key)))[0]);
  if (!record) throw new Error('There is no such notification.');
  return record;
}

/** The public status that a notification is to show. */
export async function shownStatus(record: Pick<NotificationRecord, 'status_key'> | undefined) {
  const { headers, text } = await readObject(String(record?.status_key));
  return { content: JSON.parse(text), cacheControl: headers.CacheControl, contentType: headers.ContentType };
}

/** Makes the time of the next try come, as if this much had passed since. */
export async function makeDue(key: Key, sinceMs = 0): Promise<void> {
  const pending_since = new Date(Date.now() - sinceMs).toISOString();
  await write(soon(), updating<NotificationRecord>(key, { pending_since }, [['result', '=', 'pending']]));
}

/** Deletes the records of other tests, even those that are due later or were given up. */
export async function emptyOutbox(): Promise<void> {
  const listOf = (isGivenUp: boolean) => listWork('deliver', isGivenUp, 10_000);
  const left = (await Promise.all([true, false].map(listOf))).flat();
  await Promise.all(left.map((key) => write(soon(), deleting(keyOf(key), [['pk', 'exists']]))));
  queue.advance(2 * 86_400_000);
  await runQueue(async () => undefined);
}
