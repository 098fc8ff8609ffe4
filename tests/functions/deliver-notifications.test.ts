import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { EventBridgeEvent } from 'aws-lambda';
import { eventOf } from '../../tools/local/consume-queue.ts';
import { deadLetters, queue, runQueue } from '../support/queue.ts';
import { handler } from '../../functions/deliver-notifications.ts';
import { attemptName, endAttempt, keyOfAttempt, recordSent } from '../../lib/attempts/attempt.ts';
import { beginAttempt, conclude } from '../../lib/notifications/outbox.ts';
import type { NotificationRecord, TaskRecord } from '../../lib/notifications/records.ts';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { dueShard } from '../../lib/store/due.ts';
import { keyOf, signingKeysKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { absent } from '../../lib/store/items.ts';
import { put, remove } from '../../lib/store/write.ts';
import { attemptOf } from '../support/spending.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, failCalls } from '../support/intercept.ts';
import { sampleEvent } from '../support/invoke.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import {
  emptyOutbox,
  makeDue,
  shownStatus,
  storedNotification,
  storeNotification,
  writeNotification,
} from '../support/notifications.ts';
import { type Answer, isSigned, type Received, startReceiver } from '../support/receiver.ts';
import { setVariables } from '../support/variables.ts';

// Each run of the schedule reads 64 shards, and eight tries take eight runs.
jest.setTimeout(60_000);

const receiver = await startReceiver();
const other = await startReceiver('localhost');
type Schedule = EventBridgeEvent<'Scheduled Event', unknown>;
const schedule = sampleEvent('deliver-notifications') as unknown as Schedule;
// SQS may show any message twice, and in any order.
Object.assign(queue.faults, { duplicates: 1, isShuffled: true });

// On schedule, a process stores its public keys before the first signature.
beforeAll(async () => {
  await handOver();
  const [key] = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
  expect(await storedNotification(signingKeysKey)).toMatchObject({ public_keys: key?.publicKey });
});

/** A notification whose time has come, without its message. */
function dueOne(changes: Partial<NotificationRecord> = {}): Promise<NotificationRecord> {
  return storeNotification(receiver.url, { pending_since: now(), ...changes });
}

beforeEach(async () => {
  stopDate();
  await emptyOutbox();
  for (const { received, answers } of [receiver, other]) {
    received.length = 0;
    answers.length = 0;
  }
});

const run = () => runQueue(handler);
const context = { getRemainingTimeInMillis: () => 30_000 };
const message = ({ id }: { id: string }) => ({ MessageId: id, Body: JSON.stringify({ id, tries: 0 }) });

const handOver = (remainingMs = 30_000) => handler(schedule, { getRemainingTimeInMillis: () => remainingMs });

async function deliver(address: string | undefined = receiver.url, changes = {}) {
  const written = await writeNotification(address, changes);
  await run();
  return written;
}

/** Lets the time of the next try come. */
async function nextAttempt(written: NotificationRecord): Promise<void> {
  queue.advance(900_000);
  await makeDue(written);
  await handOver();
  await run();
}

const receivedOf = ({ id }: NotificationRecord): Received[] =>
  [receiver, other].flatMap(({ received }) => received.filter(({ headers }) => headers['webhook-id'] === id));

const now = () => new Date().toISOString();

/** What is left of a notification whose delivery has ended at this moment. */
function ended({ pending_shard: _, pending_since: __, ...written }: NotificationRecord) {
  const ttl = Math.ceil(Date.now() / 1000) + 14 * 86_400;
  return { ...written, ttl, revision: 2, write_id: expect.any(String) };
}

describe('a notification', () => {
  test('posts a notification as it was stored, and signed', async () => {
    const body = '{ "state": "success",\n "text": "größer ✓" }';
    const content_type = 'application/json; charset=utf-8';
    const written = await deliver(`${receiver.url}/hook?key=1`, { body, content_type });

    const [received] = receiver.received as [Received];
    expect(receiver.received).toMatchObject([{ path: '/hook?key=1', body }]);
    expect(received.headers).toEqual({
      ...{ host: new URL(receiver.url).host, connection: 'keep-alive', 'user-agent': 'node-registry' },
      ...{ 'content-length': String(Buffer.byteLength(body)), 'content-type': content_type },
      'webhook-id': written.id,
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': expect.stringMatching(/^v1a,\S+$/),
    });
    expect(isSigned(received)).toBe(true);
  });

  test.each([200, 299, 410])('ends with the first %i', async (last_status) => {
    receiver.answers.push(last_status);
    const written = await writeNotification(receiver.url);
    stopDate(Date.now() + 60_000);
    await run();
    await run();

    expect(receivedOf(written)).toHaveLength(1);
    const how = last_status === 410 ? { result: 'gone' } : { result: 'delivered', delivered_at: now() };
    expect(await storedNotification(written)).toEqual({
      ...ended(written),
      ...{ tries: 1, last_status, ...how },
    });
  });

  test.each<[Answer, string, number | undefined]>([
    ...[304, 400, 429, 503].map((status): [Answer, string, number] => [status, 'answered_no', status]),
    [{ redirectTo: other.url }, 'answered_no', 302],
    [{ text: 'an answer that is private' }, 'answered_no', 500],
    ['reset', 'connection_lost', undefined],
  ])('tries again after %j, and neither follows nor shows the answer', async (answer, error, status) => {
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

  test.each<[Answer | 'closed', object]>([
    ['closed', { result: 'pending', tries: 1, last_error: 'not_connected' }],
    ['endless', { result: 'delivered', last_status: 200 }],
    ['halfway', { result: 'delivered', last_status: 200 }],
  ])('is tried again where nothing listens, and delivered by a status: %s', async (answer, expected) => {
    const own = await startReceiver();
    if (answer === 'closed') await own.stop();
    else own.answers.push(answer);
    const written = await deliver(own.url);

    expect(await storedNotification(written)).toMatchObject(expected);
  });

  test('keeps a failed notification for 14 days, after eight tries within 21 hours', async () => {
    receiver.answers.push(500);
    const written = await deliver();
    for (let count = 1; count < 8; count += 1) {
      expect(await storedNotification(written)).toMatchObject({ tries: count, result: 'pending' });
      await nextAttempt(written);
    }

    expect(receivedOf(written)).toHaveLength(8);
    const ttl = Math.ceil(Date.now() / 1000) + 14 * 86_400;
    const failed = { result: 'failed', tries: 8, last_status: 500, ttl };
    expect(await storedNotification(written)).toMatchObject(failed);
    await nextAttempt(written);
    expect(receivedOf(written)).toHaveLength(8);
  });

  test.each([5, 30, 300, 1800, 7200, 21_600, 43_200].map((seconds, index) => [index + 1, seconds] as const))(
    'waits after try %i for %i seconds or a fifth less, and up to 300 in the queue',
    async (count, s) => {
      receiver.answers.push(500);
      const written = await deliver(receiver.url, { tries: count - 1 });
      const listed = Date.parse(String((await storedNotification(written)).pending_since)) - Date.now();

      const isQueued = s <= 300;
      expect(queue.waits).toHaveLength(isQueued ? 1 : 0);
      // Of a queued one, only a lost message is found by the index.
      const marginMs = isQueued ? 600_000 : 0;
      const isWithin = (ms: number, tolerated = 0) => ms >= s * 800 - tolerated && ms <= s * 1000;
      for (const wait of queue.waits) expect([wait, isWithin(wait * 1000)]).toEqual([wait, true]);
      expect([listed, isWithin(listed - marginMs, isQueued ? 10_000 : 0)]).toEqual([listed, true]);
    },
  );

  test('gives a notification up at once if its address may not be called', async () => {
    const written = await writeNotification('http://169.254.169.254/latest/meta-data/');
    stopDate(Date.now() + 60_000);
    await run();

    expect(await storedNotification(written)).toEqual({
      ...ended(written),
      ...{ result: 'failed', tries: 1, last_error: 'address_rejected', pending_since: now() },
      pending_shard: dueShard('failed-notifications', written.pk.slice('TASK#'.length)),
    });
  });

  test('uses up no try while there is no key to sign with', async () => {
    const written = await writeNotification(receiver.url);
    setVariables({ NOTIFICATION_SIGNING_KEY: 'none' });
    await run();

    expect(await storedNotification(written)).toEqual({ ...written, write_id: expect.any(String) });
  });
});

describe('a notification that comes before the answer', () => {
  const soon = { deadline: Number.POSITIVE_INFINITY };

  async function notified(task: Partial<TaskRecord>) {
    const written = await writeNotification(receiver.url);
    const attempt = attemptOf('notified');
    await recordSent(soon, attempt, 0);
    const names = { caller: attempt.caller, attempt: attemptName(attempt) };
    const record = { ...written, sk: 'TASK', at: now(), result: undefined, pending_shard: undefined };
    await put(soon, { ...record, ...names, ...task }, absent);
    return { written, attempt };
  }

  test('waits until the request is answered, and then names the answered task', async () => {
    const { written, attempt } = await notified({});
    await run();
    expect([receiver.received, new Set(queue.waits)]).toEqual([[], new Set([2])]);
    const end = { payment: 'taken', credits: 1, task_id: 'answered' } as const;
    expect(await endAttempt(soon, keyOfAttempt(attempt), end)).toBe(true);
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

describe('a message', () => {
  test('leads to one try when two invocations have it at the same time', async () => {
    // So that it still waits when the second one begins.
    receiver.answers.push(500);
    const written = await writeNotification(receiver.url);
    const event = eventOf([message(written)]);
    const meanwhile = beforeNext(dynamodb, /^UpdateItemCommand$/, () => handler(event, context));
    await handler(event, context);

    expect(meanwhile.happened()).toBe(true);
    expect(receivedOf(written)).toHaveLength(1);
  });

  test('changes nothing if its try ends after a later one was begun, or has delivered', async () => {
    const soon = { deadline: Date.now() + 5000 };
    const early = (await beginAttempt(soon, await writeNotification(receiver.url))) as NotificationRecord;
    const late = (await beginAttempt(soon, early)) as NotificationRecord;
    await conclude(soon, early, { outcome: 'failed', error: 'timed_out' });
    expect(await storedNotification(late)).toEqual(late);

    await conclude(soon, late, { outcome: 'delivered', status: 200 });
    await conclude(soon, early, { outcome: 'gone', status: 410 });
    expect(await storedNotification(late)).toMatchObject({ result: 'delivered', last_status: 200 });

    await remove(soon, keyOf(late), [['pk', 'exists']]);
    await conclude(soon, late, { outcome: 'delivered', status: 200 });
    await expect(storedNotification(late)).rejects.toThrow('There is no such notification.');
  });

  test('sends nothing for a notification that does not wait', async () => {
    await writeNotification(receiver.url, { result: 'delivered' });
    const result = await handler(eventOf([message({ id: `msg_${'0'.repeat(64)}_1` })]), context);
    await run();

    expect(result).toEqual({ batchItemFailures: [] });
    expect(receiver.received).toEqual([]);
  });

  test.each(['{', '{"id":1,"tries":0}'])('is a dead letter after five receives: %s', async (body) => {
    queue.send(body, { group: undefined, delaySeconds: 0 });
    for (let receive = 1; receive <= 6; receive += 1) {
      await run();
      queue.advance(180_000);
    }

    expect(queue.bodies).toEqual([]);
    expect(deadLetters.bodies).toContain(body);
  });

  test('comes again alone if only its own delivery was interrupted', async () => {
    const written = await Promise.all(Array.from({ length: 3 }, () => writeNotification(receiver.url)));
    const gone = new Error('the store is gone');
    const revive = failCalls(dynamodb, 'BatchGetItemCommand', gone, written[1]?.pk);
    const result = await handler(eventOf(written.map(message)), context);
    revive();

    expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: written[1]?.id }] });
    expect(written.map((each) => receivedOf(each).length)).toEqual([1, 0, 1]);
    const interrupted = { level: 'error', outcome: 'interrupted', message: written[1]?.id };
    expect(lines('delivery')).toContainEqual(expect.objectContaining(interrupted));
  });
});

test('gives up a notification whose last try dies after sending, and says so', async () => {
  const written = await writeNotification(receiver.url, { tries: 7 });
  const revive = failCalls(dynamodb, 'UpdateItemCommand', new Error('it is gone'), 'pending_shard');
  await run();
  revive();
  await nextAttempt(written);

  expect(receivedOf(written)).toHaveLength(1);
  expect(await storedNotification(written)).toMatchObject({ result: 'failed', tries: 8 });
  expect(lines('delivery')).toContainEqual(expect.objectContaining({ outcome: 'failed', try: 8 }));
});

describe('the schedule', () => {
  test('begins no page that it could not end, and says how many shards it left unread', async () => {
    await dueOne();
    for (const remainingMs of [4000, 5500]) await handOver(remainingMs);

    expect(queue.bodies).toEqual([]);
    expect(lines('hand_over')[0]).toMatchObject({ due: 0, unread_shards: 64 });
  });

  test('queues all due notifications once, and delivers nothing itself', async () => {
    // A page holds 100 of a shard.
    const pending_shard = dueShard('notifications', '00');
    const pending_since = new Date(Date.now() - 90_000).toISOString();
    const write = (_: unknown, place: number) =>
      dueOne({ pending_shard, ...(place === 0 && { pending_since }) });
    const written = await Promise.all(Array.from({ length: 101 }, write));
    await handOver();
    await handOver();

    expect(receiver.received).toEqual([]);
    expect(queue.bodies.sort()).toEqual(written.map((each) => message(each).Body).sort());
    const common = { level: 'info', event: 'hand_over', function: 'deliverNotifications' };
    expect(lines('hand_over')).toEqual([
      { ...common, due: 101, handed: 101, unread_shards: 0, interrupted: 0, oldest_due_ms: 90_000 },
      { ...common, due: 0, handed: 0, unread_shards: 0, interrupted: 0, oldest_due_ms: 0 },
    ]);
  });

  test('queues a notification once when two runs meet', async () => {
    await dueOne();
    beforeNext(dynamodb, /^UpdateItemCommand$/, () => handOver());
    await handOver();

    expect(lines('hand_over').map(({ due, handed }) => [due, handed])).toEqual([
      [1, 1],
      [1, 0],
    ]);
    expect(queue.bodies).toHaveLength(1);
  });

  test.each(['BatchGetItem', 'UpdateItem'])(
    'throws for its alarm if %s fails, and tries again',
    async (failing) => {
      await dueOne();
      const gone = Object.assign(new Error('the store is gone'), { name: 'ServiceUnavailable' });
      const revive = failCalls(dynamodb, `${failing}Command`, gone);
      await expect(handOver()).rejects.toThrow(/^\d steps of the run failed\.$/);
      revive();
      await handOver();

      expect(queue.bodies).toHaveLength(1);
    },
  );
});

describe('the log', () => {
  test('contains the host, the outcome and the status of a delivery, and how long it took since the change', async () => {
    const written = await writeNotification(`${receiver.url}/secret-path?token=secret-token`);
    stopDate(Date.parse(written.at) + 90_000);
    await run();

    expect(lines('delivery')).toEqual([
      {
        ...{ level: 'info', event: 'delivery', function: 'deliverNotifications' },
        function_request_id: expect.any(String),
        task_hash: written.id.slice(4, 20),
        notification: written.id,
        ...{ host: '127.0.0.1', state: 'success', try: 1, outcome: 'delivered', status: 204 },
        ...{ ms: 0, delivery_lag_ms: 90_000 },
      },
    ]);
    expect(loggedLines.join()).not.toMatch(/secret-/);
  });
});
