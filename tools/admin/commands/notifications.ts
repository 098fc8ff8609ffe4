import type { NotificationRecord } from '../../../lib/notifications/records.ts';
import { fields, table } from 'command-line/table';
import { command } from '../command.ts';
import {
  listFailed,
  listWaiting,
  readNotification,
  readPublicKeys,
  retryFailed,
  retryNotification,
} from '../notifications.ts';

export const list = command({
  parameters: [],
  summary: 'List notifications that were given up or are still waiting',
  readsOnly: true,
  notes:
    'Given-up ones are listed latest first, waiting ones by the time of their next attempt; 1,000 at most.',
  options: { waiting: { about: 'List those that are still waiting' } },
  examples: ['notification list', 'notification list --waiting --json'],
  async run(_, { waiting }) {
    const records = waiting ? await listWaiting() : await listFailed();
    const rows = records.map((record) => [
      record.id,
      record.address === undefined ? undefined : URL.parse(record.address)?.host,
      record.state,
      record.attempts,
      why(record),
      record.pending_since,
    ]);
    const headings = ['ID', 'HOST', 'STATE', 'ATTEMPTS', 'LAST ERROR', waiting ? 'NEXT' : 'GIVEN UP'];
    const none = waiting ? 'No notifications are waiting.' : 'No notifications were given up.';
    return { data: records.map(shown), text: table(headings, rows, { none }) };
  },
});

export const show = command({
  parameters: ['id'],
  summary: 'Show a notification, by its webhook-id',
  readsOnly: true,
  examples: ['notification show msg_0f3a…_2'],
  async run({ id }) {
    const record = await readNotification(id);
    const { state, address, at, result, attempts, pending_since, delivered_at, body } = record;
    const about = fields({
      Id: id,
      State: state,
      Address: address,
      'Came in': at,
      Result: result,
      Attempts: attempts,
      'Last error': why(record),
      'Next attempt': result === 'pending' ? pending_since : undefined,
      Delivered: delivered_at,
    });
    return { data: { ...shown(record), body }, text: `${about}\n\n${body}` };
  },
});

export const retry = command({
  parameters: ['id'],
  summary: 'Send a given-up notification, or all of them, again within a minute',
  notes: 'It gets eight more attempts and keeps its id. A waiting one is sent earlier.',
  examples: ['notification retry msg_0f3a…_2', 'notification retry all'],
  async run({ id }) {
    if (id === 'all') {
      const retried = await retryFailed();
      return { data: { retried }, text: `Sent again within a minute: ${retried}.` };
    }
    await retryNotification(id);
    return { data: { id }, text: `${id} is sent within a minute.` };
  },
});

export const keys = command({
  parameters: [],
  summary: 'Show the public keys with which receivers check notifications',
  readsOnly: true,
  notes:
    'There are two while the key is replaced. The private key is in the secret store; the running functions publish which key they sign with.',
  examples: ['notification keys'],
  async run() {
    const known = await readPublicKeys();
    return { data: { public_keys: known.keys, since: known.at }, text: known.keys.join('\n') };
  },
});

/** A response that ended the delivery has a status, but isn't an error. */
function why({ last_error, last_status }: NotificationRecord): string | undefined {
  return last_error && last_status !== undefined ? `${last_error} ${last_status}` : last_error;
}

/** Without the body, which may be long, and what the store needs only. */
function shown({ pk: _, sk: __, body: ___, ...record }: NotificationRecord): object {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([name]) => !['write_id', 'revision', 'pending_shard', 'ttl'].includes(name),
    ),
  );
}
