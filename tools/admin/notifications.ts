import {
  keysOfNotification,
  type NotificationRecord,
  notificationRecord,
  signingKeysRecord,
  ttlFrom,
} from '../../lib/notifications/records.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { dueShard, duePages, firstDue } from '../../lib/store/due.ts';
import { type Key, signingKeysKey, ticketHashOf } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { update } from '../../lib/store/write.ts';
import { newContext, Rejection } from './registry/administration.ts';

/** What one listing shows at most. */
const maxListed = 1000;

/** No attempt is further away, and no clock that far ahead. */
const untilTomorrow = () => ({ from: 0, to: Date.now() + 24 * 60 * 60 * 1000 });

/** What was given up, the latest first. */
export async function listFailed(): Promise<NotificationRecord[]> {
  const listed = { work: 'failed-notifications', period: untilTomorrow(), order: 'newest first' } as const;
  return readAll(await firstDue(newContext(), listed, maxListed));
}

/** What is still to be sent, the next first. */
export async function listWaiting(): Promise<NotificationRecord[]> {
  const listed = { work: 'notifications', period: untilTomorrow(), order: 'oldest first' } as const;
  return readAll(await firstDue(newContext(), listed, maxListed));
}

async function readAll(keys: readonly Key[]): Promise<NotificationRecord[]> {
  return (await get(newContext(), ...keys)).flatMap((item) => notificationRecord(item) ?? []);
}

export async function readNotification(id: string): Promise<NotificationRecord> {
  const [key] = keysOfNotification(id) ?? [];
  if (!key) throw new Rejection(`"${id}" is not the id of a notification, such as msg_0f3a…_2.`);
  const record = notificationRecord((await get(newContext(), key))[0]);
  if (!record) throw new Rejection(`There is no notification ${id}; they are kept for 14 days.`);
  return record;
}

/** Gives a notification all its attempts again, the first one at once. */
export async function retryNotification(id: string): Promise<void> {
  const record = await readNotification(id);
  if (record.result === 'delivered') throw new Rejection(`It was delivered at ${record.delivered_at}.`);
  if (!(await makeDueAgain(record)))
    throw new Rejection('It is being sent at this moment; look at it again.');
}

const retriedAtOnce = 20;

/** The same for all that were given up until now. Returns their number. */
export async function retryFailed(): Promise<number> {
  let retried = 0;
  const context = { ...newContext() };
  const period = { from: 0, to: Date.now() };
  const due = { work: 'failed-notifications', period, order: 'oldest first', hasTime: () => true } as const;
  for await (const { keys: page } of duePages(context, due)) {
    const failed = (await readAll(page)).filter(({ result }) => result === 'failed');
    await inParallel(failed.values(), retriedAtOnce, async (record) => {
      if (await makeDueAgain(record)) retried += 1;
    });
    context.deadline = newContext().deadline;
  }
  return retried;
}

/** False if something has happened to it since it was read. */
async function makeDueAgain(record: NotificationRecord): Promise<boolean> {
  const now = Date.now();
  const changes = {
    result: 'pending' as const,
    attempts: 0,
    pending_shard: dueShard('notifications', ticketHashOf(record)),
    pending_since: new Date(now).toISOString(),
    ttl: ttlFrom(now),
  };
  const asRead = [
    ['result', '=', record.result],
    ['attempts', '=', record.attempts],
  ] as const;
  return (await update<NotificationRecord>(newContext(), record, changes, asRead)).written;
}

/** What the running functions sign with, as they say themselves. */
export async function readPublicKeys(): Promise<{ keys: string[]; at: string }> {
  const record = signingKeysRecord((await get(newContext(), signingKeysKey))[0]);
  if (!record)
    throw new Rejection(
      'Nothing signs notifications here yet. With notifications=relay, the key is known a minute after the deployment.',
    );
  return { keys: record.public_keys.split(' '), at: record.at };
}
