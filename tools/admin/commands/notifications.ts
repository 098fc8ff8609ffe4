import { inParallel } from '../../../lib/in-parallel.ts';
import {
  keysOfNotification,
  type NotificationRecord,
  notificationRecord,
  signingKeysRecord,
  ttlFrom,
} from '../../../lib/notifications/records.ts';
import { type Key, keyOf, signingKeysKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { updating, write } from '../../../lib/store/write.ts';
import { owe } from '../../../lib/work/lanes.ts';
import { command } from '../command.ts';
import { newContext, Rejection } from '../registry/administration.ts';
import { givenUpPages, listWork } from '../registry/work.ts';
import { fieldsOf, tableOf } from '../view.ts';

export const list = command({
  parameters: [],
  summary: 'List notifications that were given up or are still waiting',
  readsOnly: true,
  notes:
    'Given-up ones are listed latest first, waiting ones by the latest time of their next try; 1,000 at most.',
  options: { waiting: { about: 'List those that are still waiting' } },
  examples: ['notification list', 'notification list --waiting --json'],
  async run(_, { waiting }) {
    const records = await readAll((await listWork('deliver', !waiting, maxListed)).map(keyOf));
    const data = records.map((record) => ({ ...shown(record), host: URL.parse(record.address ?? '')?.host }));
    const time = waiting ? 'next_try' : 'given_up';
    const columns = ['id', 'host', 'state', 'tries', 'last_error', 'last_status', time];
    const none = waiting ? 'No notifications are waiting.' : 'No notifications were given up.';
    return { data, text: tableOf(data, none, columns) };
  },
});

export const show = command({
  parameters: ['id'],
  summary: 'Show a notification, by its webhook-id',
  readsOnly: true,
  examples: ['notification show msg_0f3a…_2'],
  async run({ id }) {
    const record = await requireNotification(id);
    const data = shown(record);
    return { data: { ...data, body: record.body }, text: `${fieldsOf(data)}\n\n${record.body}` };
  },
});

export const retry = command({
  parameters: ['id'],
  summary: 'Send a given-up notification, or all of them, again within a minute',
  notes: 'It gets eight more tries and keeps its id. A waiting one is sent earlier.',
  examples: ['notification retry msg_0f3a…_2', 'notification retry all'],
  async run({ id }) {
    if (id === 'all') {
      const retried = await retryFailed();
      return { data: { retried }, text: `Sent again within a minute: ${retried}.` };
    }
    const record = await requireNotification(id);
    if (record.result === 'delivered') throw new Rejection(`It was delivered at ${record.delivered_at}.`);
    if (!(await makeDueAgain(record)))
      throw new Rejection('It is being sent at this moment; look at it again.');
    return { data: { id }, text: `${id} is sent within a minute.` };
  },
});

export const keys = command({
  parameters: [],
  summary: 'Show the public keys that verify notifications',
  readsOnly: true,
  notes:
    'There are two while the key is replaced. The private key is in the secret store; the running functions publish which key they sign with.',
  examples: ['notification keys'],
  async run() {
    const record = signingKeysRecord((await get(newContext(), signingKeysKey))[0]);
    if (!record)
      throw new Rejection(
        'No keys are published here. With notifications=relay, they are within five minutes of the first start.',
      );
    const public_keys = record.public_keys.split(' ');
    return { data: { public_keys, since: record.at }, text: public_keys.join('\n') };
  },
});

/** Without the body, which may be long, and fields that only the store needs. */
function shown({ pk: _, sk: __, body: ___, pending_since, ...record }: NotificationRecord): object {
  const time = record.result === 'pending' ? 'next_try' : 'given_up';
  const own = Object.entries({ ...record, [time]: pending_since }).filter(
    ([name]) => !['write_id', 'revision', 'pending_shard', 'ttl'].includes(name),
  );
  return Object.fromEntries(own.sort());
}

/** The most entries in a listing. */
const maxListed = 1000;

async function readAll(keys: readonly Key[]): Promise<NotificationRecord[]> {
  return (await get(newContext(), ...keys)).flatMap((item) => notificationRecord(item) ?? []);
}

async function requireNotification(id: string): Promise<NotificationRecord> {
  const [key] = keysOfNotification(id) ?? [];
  if (!key) throw new Rejection(`"${id}" is not the id of a notification, such as msg_0f3a…_2.`);
  const record = notificationRecord((await get(newContext(), key))[0]);
  if (!record) throw new Rejection(`There is no notification ${id}; they are kept for 14 days.`);
  return record;
}

const retriedAtOnce = 20;

/** Retries all given-up notifications. Returns their number. */
async function retryFailed(): Promise<number> {
  let retried = 0;
  for await (const page of givenUpPages('deliver')) {
    const failed = (await readAll(page.map(keyOf))).filter(({ result }) => result === 'failed');
    await inParallel(failed.values(), retriedAtOnce, async (record) => {
      if (await makeDueAgain(record)) retried += 1;
    });
  }
  return retried;
}

/** Gives a notification all its tries again, the first one at once. False if it has changed since it was read. */
async function makeDueAgain(record: NotificationRecord): Promise<boolean> {
  const now = Date.now();
  const changes = {
    result: 'pending' as const,
    ...owe('deliver', record, record.group ?? '', now),
    ttl: ttlFrom(now),
  };
  const asRead = [
    ['result', '=', record.result],
    ['tries', '=', record.tries],
  ] as const;
  return write(newContext(), updating(record, changes, asRead));
}
