import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { until } from '@node-registry/testing/until';
import { handler } from '../../functions/deliver-notifications.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { endAttempt, recordSent } from '../../lib/attempts/attempt.ts';
import type { NotificationRecord, TaskRecord } from '../../lib/notifications/records.ts';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { absent, present } from '../../lib/store/items.ts';
import { keyOf, signingKeysKey } from '../../lib/store/keys.ts';
import { putting, updating, write } from '../../lib/store/write.ts';
import { owesNothing } from '../../lib/work/lanes.ts';
import { startHttpServer } from '../../tools/processes/http-server.ts';
import { intercept } from '../support/intercept.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { emptyOutbox, shownStatus, storedNotification, writeNotification } from '../support/notifications.ts';
import { queue, runQueue } from '../support/queue.ts';
import { type Answer, isSigned, type Received, startReceiver } from '../support/receiver.ts';
import { attemptOf } from '../support/spending.ts';
import { setVariables } from '../support/variables.ts';

const receiver = await startReceiver();
const other = await startReceiver('localhost');
// SQS may show any message twice, and in any order.
Object.assign(queue.faults, { duplicates: 1, isShuffled: true });

// On schedule, a process stores its public key before the first signature.
beforeAll(async () => {
  await handler({}, { getRemainingTimeInMillis: () => 30_000 });
  const [key] = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
  expect(await storedNotification(signingKeysKey)).toMatchObject({ public_keys: key?.publicKey });
});

beforeEach(async () => {
  stopDate();
  await emptyOutbox();
  for (const { received, answers } of [receiver, other]) {
    received.length = 0;
    answers.length = 0;
  }
});

const run = () => runQueue(handler);
const soon = { deadline: Number.POSITIVE_INFINITY };

async function deliver(address: string | undefined = receiver.url, changes = {}) {
  const written = await writeNotification(address, changes);
  await run();
  return written;
}

const receivedOf = ({ id }: NotificationRecord): Received[] =>
  [receiver, other].flatMap(({ received }) => received.filter(({ headers }) => headers['webhook-id'] === id));

const now = () => new Date().toISOString();

describe('a notification', () => {
  test('posts a notification as it was stored, and signed, and logs the host and how long it took', async () => {
    const body = '{ "state": "success",\n "text": "größer ✓" }';
    const written = await writeNotification(`${receiver.url}/secret-hook?key=secret`, { body });
    stopDate(Date.parse(written.at) + 90_000);
    await run();

    const [received] = receiver.received as [Received];
    expect(receiver.received).toMatchObject([{ path: '/secret-hook?key=secret', body }]);
    expect(received.headers).toEqual({
      host: new URL(receiver.url).host,
      connection: 'keep-alive',
      'user-agent': 'node-registry',
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/json',
      'webhook-id': written.id,
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': expect.stringMatching(/^v1a,\S+$/),
    });
    expect(isSigned(received)).toBe(true);
    expect(lines('delivery')).toEqual([
      {
        level: 'info',
        event: 'delivery',
        function: 'deliverNotifications',
        function_request_id: expect.any(String),
        task_hash: written.id.slice(4, 20),
        notification: written.id,
        host: '127.0.0.1',
        state: 'success',
        try: 1,
        outcome: 'delivered',
        status: 204,
        ms: 0,
        delivery_lag_ms: 90_000,
      },
    ]);
    expect(loggedLines.join()).not.toContain('secret');
  });

  test.each([200, 299, 410])('ends with the first %i', async (last_status) => {
    receiver.answers.push(last_status);
    const written = await writeNotification(receiver.url);
    stopDate(Date.now() + 60_000);
    await run();
    await run();

    expect(receivedOf(written)).toHaveLength(1);
    const how = last_status === 410 ? { result: 'gone' } : { result: 'delivered', delivered_at: now() };
    const stored = await storedNotification(written);
    expect(stored).toMatchObject({ tries: 1, last_status, ...how });
    expect(stored).not.toHaveProperty('pending_shard');
  });

  test.each<readonly [string, Answer, string, number | undefined]>([
    ...[304, 400, 429, 503].map((status) => ['a status', status, 'answered_no', status] as const),
    ['a redirect', (at) => at.writeHead(302, { location: other.url }).end(), 'answered_no', 302],
    ['a private text', (at) => at.writeHead(500).end('an answer that is private'), 'answered_no', 500],
    ['a reset', ({ socket }) => socket?.resetAndDestroy(), 'connection_lost', undefined],
  ])('tries again after %s, and neither follows nor shows the answer', async (_, answer, error, status) => {
    receiver.answers.push(answer, 204);
    const written = await deliver(receiver.url, { last_error: 'timed_out', last_status: 418 });

    const record = await storedNotification(written);
    expect(record).toMatchObject({ result: 'pending', tries: 1, last_error: error });
    expect(lines('delivery')).toEqual([expect.objectContaining({ outcome: 'again', error })]);
    expect([record.last_status, lines('delivery')[0].status]).toEqual([status, status]);
    expect(JSON.stringify([record, loggedLines])).not.toContain('private');
    expect(other.received).toEqual([]);
    await run();
    expect(receivedOf(written)).toHaveLength(1);
    queue.advance(5000);
    await run();
    expect(receivedOf(written)).toHaveLength(2);
    const stored = await storedNotification(written);
    expect(stored).toMatchObject({ result: 'delivered', tries: 2 });
    expect(stored).not.toHaveProperty('last_error');
  });

  test('is tried again if nothing listens', async () => {
    const own = await startReceiver();
    await own.stop();
    const written = await deliver(own.url);

    const expected = { result: 'pending', tries: 1, last_error: 'not_connected' };
    expect(await storedNotification(written)).toMatchObject(expected);
  });

  test.each<[string, Answer]>([
    ['is endless', (response) => pour(response.writeHead(200))],
    ['breaks off', (at) => at.writeHead(200).write('a', () => at.socket?.destroy())],
  ])('is delivered by the status of an answer that %s', async (_, answer) => {
    receiver.answers.push(answer);
    const written = await deliver();

    expect(await storedNotification(written)).toMatchObject({ result: 'delivered', last_status: 200 });
  });

  test('stays delivered if another of its tries ends otherwise', async () => {
    const meanwhile = await startHttpServer(async (_, response) => {
      const delivered = { ...owesNothing, result: 'delivered', delivered_at: now() } as const;
      await write(soon, updating<NotificationRecord>(keyOf(written), delivered, present));
      response.writeHead(410).end();
    });
    const written = await writeNotification(meanwhile.url);
    await run();
    await meanwhile.stop();

    expect(await storedNotification(written)).toMatchObject({ result: 'delivered', delivered_at: now() });
  });

  test.each(['in order', 'late'])('shows the last word for a state, if it comes %s', async (order) => {
    const states = ['rendering', 'upscaling'].map((provider_state, place) => {
      const at = new Date(Date.now() + place).toISOString();
      return { state: 'processing', provider_state, at, status_key: `status/words-${order}.json` } as const;
    });
    for (const changes of order === 'late' ? states.toReversed() : states) {
      await writeNotification(undefined, changes);
      await run();
    }

    const [shown] = states;
    expect((await shownStatus(shown)).content.provider_state).toBe('upscaling');
  });

  test('waits while there is no key to sign with', async () => {
    const written = await writeNotification(receiver.url);
    setVariables({ NOTIFICATION_SIGNING_KEY: 'none' });
    await run();

    expect(await storedNotification(written)).toMatchObject({ result: 'pending', tries: 1 });
  });
});

describe('a notification that comes before the answer', () => {
  async function notified(task: Partial<TaskRecord>) {
    const written = await writeNotification(receiver.url);
    const attempt = attemptOf('notified');
    await recordSent(soon, attempt);
    const names = { caller: attempt.caller, attempt: attempt.sk };
    const record = { ...written, sk: 'TASK', at: now(), result: undefined, pending_shard: undefined };
    await write(soon, putting({ ...record, ...names, ...task }, absent));
    return { written, attempt };
  }

  test('waits until the request is answered, and then names the answered task', async () => {
    const { written, attempt } = await notified({});
    await run();
    expect([receiver.received, new Set(queue.waits)]).toEqual([[], new Set([2])]);
    const end = { payment: 'taken', credits: 1, task_id: 'answered' } as const;
    expect(await endAttempt(soon, attempt, end)).toBe(true);
    queue.advance(2000);
    await run();

    expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual([
      { task_id: 'answered', state: 'success' },
    ]);
    expect(isSigned(receiver.received[0] as Received)).toBe(true);
    expect((await shownStatus(written)).content).toMatchObject({ task_id: 'answered' });
  });

  test('waits for no request that died a minute ago', async () => {
    const { written } = await notified({ at: new Date(Date.now() - 60_000).toISOString() });
    await run();

    expect(receivedOf(written)).toHaveLength(1);
  });
});

describe('the status of a task', () => {
  test('has the fields that every notification has, and nothing else of the provider', async () => {
    const common = { task_id: '1', state: 'success', media: ['https://videos.example/1.mp4'] };
    const film = { id: '1-1', url: 'https://videos.example/1.mp4' };
    const unsafe = { id: '1-2', url: 'javascript:alert(1)' };
    const body = JSON.stringify({ ...common, creations: [{ ...film, n: 1 }, unsafe], payload: 'private' });
    const written = await writeNotification(undefined, { body });
    await run();

    const { content, cacheControl, contentType } = await shownStatus(written);
    const creations = [{ ...film, cover_url: '' }];
    expect(content).toEqual({ ...common, creations, updated_at: written.at });
    expect([cacheControl, contentType]).toEqual(['public, max-age=2', 'application/json']);
  });

  test('keeps the last of four states that are delivered side by side', async () => {
    const status_key = `status/${crypto.randomUUID()}.json`;
    const states = ['created', 'queueing', 'processing', 'success'] as const;
    const [written] = await Promise.all(
      states.map((state) => writeNotification(undefined, { status_key, ...said(state) })),
    );
    await run();

    expect((await shownStatus(written)).content).toMatchObject({ state: 'success' });
  });

  test.each([
    ['GetObjectCommand', 'processing', 'success'],
    ['PutObjectCommand', 'success', 'processing'],
  ] as const)('shows the last state after a foreign answer to %s', async (broken, second, first) => {
    const status_key = `status/${crypto.randomUUID()}.json`;
    const written = await writeNotification(undefined, { status_key, ...said(first) });
    await run();
    await writeNotification(undefined, { status_key, ...said(second) });
    const repair = intercept(s3(), async ({ command, send }) => (command === broken ? {} : send()));
    await run();
    repair();
    queue.advance(180_000);
    await run();

    expect((await shownStatus(written)).content).toMatchObject({ state: 'success' });
  });

  test('is shown before a receiver that hangs is called', async () => {
    const receiver = await startReceiver();
    receiver.answers.push(() => {});
    const written = await writeNotification(receiver.url);
    const running = run();
    await until(() => receiver.received.length > 0);

    expect((await shownStatus(written)).content).toMatchObject({ state: 'success' });
    await receiver.stop();
    await running;
  });
});

/** Writes until the other side hangs up. */
function pour(response: ServerResponse): void {
  if (!response.destroyed) response.write('x'.repeat(1024), () => setImmediate(pour, response));
}

function said(state: NotificationRecord['state']) {
  return { state, body: JSON.stringify({ task_id: '1', state, media: [] }) };
}
