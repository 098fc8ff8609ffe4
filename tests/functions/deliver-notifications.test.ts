import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DynamoDBStreamEvent, EventBridgeEvent } from 'aws-lambda';
import { handler } from '../../functions/deliver-notifications.ts';
import type { NotificationRecord } from '../../lib/notifications/records.ts';
import { readSigningKeys, signedContent } from '../../lib/notifications/signature.ts';
import { type Key, signingKeysKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { sampleEvent } from '../support/invoke.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { emptyOutbox, makeDue, storedNotification, writeNotification } from '../support/notifications.ts';
import { type Answer, type Received, startReceiver } from '../support/receiver.ts';

const receiver = await startReceiver();
const other = await startReceiver('localhost');
const schedule = sampleEvent('deliver-notifications') as unknown as EventBridgeEvent<
  'Scheduled Event',
  unknown
>;
const [signingKey] = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));

beforeEach(async () => {
  await emptyOutbox();
  loggedLines.length = 0;
  for (const { received, answers } of [receiver, other]) {
    received.length = 0;
    answers.length = 0;
  }
});

afterAll(() => Promise.all([receiver.stop(), other.stop()]));

function run(event: Parameters<typeof handler>[0] = schedule, remainingMs = 60_000): Promise<void> {
  return handler(event, { getRemainingTimeInMillis: () => remainingMs });
}

/** What the table's stream says of items that were put. */
function streamOf(...keys: Key[]): DynamoDBStreamEvent {
  return {
    Records: keys.map(({ pk, sk }) => ({
      eventName: 'INSERT',
      dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } },
    })),
  };
}

const lines = (event: string) =>
  loggedLines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
const receivedOf = ({ id }: NotificationRecord): Received[] =>
  [receiver, other].flatMap(({ received }) => received.filter(({ headers }) => headers['webhook-id'] === id));

function isSigned({ headers, body }: Received): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const content = signedContent(String(id), Number(timestamp), body);
  const bytes = Buffer.from(String(signature).replace('v1a,', ''), 'base64');
  return (
    signingKey !== undefined &&
    verify(null, Buffer.from(content), createPublicKey(signingKey.privateKey), bytes)
  );
}

describe('a notification', () => {
  test('is posted as the provider sent it, signed, by the stream at once', async () => {
    const body = '{ "state": "success",\n "text": "größer ✓" }';
    const written = await writeNotification(`${receiver.url}/hook?key=1`, {
      body,
      content_type: 'application/json; charset=utf-8',
    });
    await run(streamOf(written, written));

    expect(receiver.received).toHaveLength(1);
    const [received] = receiver.received as [Received];
    expect(received).toMatchObject({ path: '/hook?key=1', body });
    expect(received.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': written.id,
      'user-agent': 'node-registry',
    });
    expect(Math.abs(Number(received.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(5);
    expect(isSigned(received)).toBe(true);
  });

  test('of a type that no header can hold is JSON all the same', async () => {
    await writeNotification(receiver.url, {
      content_type: 'application/json; charset=\u2713\r\nx-injected: 1',
    });
    await run();

    expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(receiver.received[0]?.headers).not.toHaveProperty('x-injected');
  });

  test('whose writer had a clock a little ahead is delivered at once', async () => {
    const written = await writeNotification(receiver.url, {
      pending_since: new Date(Date.now() + 2000).toISOString(),
    });
    await run(streamOf(written));

    expect(receivedOf(written)).toHaveLength(1);
  });

  test.each([200, 201, 202, 204, 299])('ends with the first %i', async (status) => {
    receiver.answers.push(status);
    const written = await writeNotification(receiver.url);
    await run();
    await run();

    expect(receivedOf(written)).toHaveLength(1);
    const stored = await storedNotification(written);
    expect(stored).toMatchObject({ result: 'delivered', attempts: 1, last_status: status });
    expect(stored).toMatchObject({ delivered_at: expect.stringMatching(/^\d{4}-/) });
    expect(stored).not.toHaveProperty('pending_shard');
    expect(stored).not.toHaveProperty('pending_since');
  });

  test('ends for good with 410', async () => {
    receiver.answers.push(410);
    const written = await writeNotification(receiver.url);
    await run();
    await run();

    expect(receivedOf(written)).toHaveLength(1);
    const stored = await storedNotification(written);
    expect(stored).toMatchObject({ result: 'gone', attempts: 1, last_status: 410 });
    expect(stored).not.toHaveProperty('pending_shard');
  });

  test.each<[Answer, object]>([
    [301, { last_error: 'answered_no', last_status: 301 }],
    [{ redirectTo: other.url }, { last_error: 'answered_no', last_status: 302 }],
    [304, { last_error: 'answered_no', last_status: 304 }],
    [307, { last_error: 'answered_no', last_status: 307 }],
    [400, { last_error: 'answered_no', last_status: 400 }],
    [401, { last_error: 'answered_no', last_status: 401 }],
    [404, { last_error: 'answered_no', last_status: 404 }],
    [429, { last_error: 'answered_no', last_status: 429 }],
    [500, { last_error: 'answered_no', last_status: 500 }],
    [503, { last_error: 'answered_no', last_status: 503 }],
    ['reset', { last_error: 'connection_lost' }],
  ])('is tried again after %j, and nobody is redirected to', async (answer, why) => {
    receiver.answers.push(answer, 204);
    const written = await writeNotification(receiver.url);
    await run();

    expect(await storedNotification(written)).toMatchObject({ result: 'pending', attempts: 1, ...why });
    expect(other.received).toEqual([]);
    await run();
    expect(receivedOf(written)).toHaveLength(1);
    await makeDue(written);
    await run();
    expect(receivedOf(written)).toHaveLength(2);
    const stored = await storedNotification(written);
    expect(stored).toMatchObject({ result: 'delivered', attempts: 2 });
    expect(stored).not.toHaveProperty('last_error');
  });

  test('is tried again where nothing listens', async () => {
    const closed = await startReceiver();
    await closed.stop();
    const written = await writeNotification(closed.url);
    await run();

    expect(await storedNotification(written)).toMatchObject({ attempts: 1, last_error: 'not_connected' });
  });

  test.each<Answer>(['endless', 'halfway'])(
    'counts as delivered by a status of success, whatever the %s rest of the answer is',
    async (answer) => {
      receiver.answers.push(answer);
      const written = await writeNotification(receiver.url);
      await run();

      expect(await storedNotification(written)).toMatchObject({ result: 'delivered', last_status: 200 });
    },
  );

  test('is kept as failed, for 14 days, after eight attempts within 24 hours', async () => {
    receiver.answers.push(500);
    const written = await writeNotification(receiver.url);
    const waits: number[] = [];
    for (let count = 1; count <= 8; count += 1) {
      await run();
      const { attempts, pending_since, result } = await storedNotification(written);
      expect({ attempts, result }).toEqual({ attempts: count, result: count < 8 ? 'pending' : 'failed' });
      if (count < 8) waits.push(Date.parse(String(pending_since)) - Date.now());
      await makeDue(written);
    }
    await run();

    expect(receivedOf(written)).toHaveLength(8);
    expect(new Set(receivedOf(written).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const minutes = [1, 5, 30, 120, 300, 420, 564];
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(Number(minutes[index]) * 60_000);
      expect(wait).toBeGreaterThan(Number(minutes[index]) * 48_000 - 2000);
    }
    expect(minutes.reduce((sum, next) => sum + next)).toBe(24 * 60);
    const { result, ttl, last_status } = await storedNotification(written);
    expect({ result, last_status }).toEqual({ result: 'failed', last_status: 500 });
    expect(ttl - Date.now() / 1000).toBeGreaterThan(14 * 86_400 - 60);
  });

  test('waits for a time of its own, so that what failed together does not come back together', async () => {
    receiver.answers.push(503);
    const written = await Promise.all(Array.from({ length: 20 }, () => writeNotification(receiver.url)));
    await run();
    const next = await Promise.all(
      written.map(async (each) => (await storedNotification(each)).pending_since),
    );

    // Two of them may meet in one millisecond.
    expect(new Set(next).size).toBeGreaterThan(15);
    expect(Math.max(...next.map(seconds)) - Math.min(...next.map(seconds))).toBeGreaterThan(3);
  });

  test('to an address that may not be called is given up at once', async () => {
    const written = await writeNotification('http://169.254.169.254/latest/meta-data/');
    await run();

    expect(await storedNotification(written)).toMatchObject({
      result: 'failed',
      attempts: 1,
      last_error: 'address_refused',
    });
  });
});

function seconds(time: string | undefined): number {
  return Date.parse(String(time)) / 1000;
}

describe('two invocations', () => {
  test('share what is due: each notification is sent once, and none is lost', async () => {
    const written = await Promise.all(Array.from({ length: 60 }, () => writeNotification(receiver.url)));
    await Promise.all([run(), run(), run(streamOf(...written))]);

    expect(written.map((each) => receivedOf(each).length)).toEqual(written.map(() => 1));
    for (const each of written)
      expect(await storedNotification(each)).toMatchObject({ result: 'delivered', attempts: 1 });
  });

  test('never both make the attempt that both have seen due', async () => {
    const written = await writeNotification(receiver.url);
    const meanwhile = beforeNext(dynamodb, /^UpdateItemCommand$/, () => run());
    await run();

    expect(meanwhile.happened()).toBe(true);
    expect(receivedOf(written)).toHaveLength(1);
  });
});

describe('an invocation that dies', () => {
  /** Lets the store fail for every write after the first one, which is the claim. */
  function dieAfterSending(): () => void {
    let claims = 0;
    return intercept(dynamodb, async ({ command, send }) => {
      if (command === 'UpdateItemCommand') claims += 1;
      if (claims > 1) throw new Error('the invocation is gone');
      return send();
    });
  }

  test('after it has sent a notification lets it be sent again, with the same id', async () => {
    const written = await writeNotification(receiver.url);
    const revive = dieAfterSending();
    await expect(run()).rejects.toThrow('1 deliveries were interrupted.');
    revive();

    expect(receivedOf(written)).toHaveLength(1);
    await makeDue(written);
    await run();
    expect(receivedOf(written)).toHaveLength(2);
    expect(await storedNotification(written)).toMatchObject({ result: 'delivered', attempts: 2 });
  });

  test('in the last attempt leaves a notification that is given up, and says so', async () => {
    const written = await writeNotification(receiver.url, { attempts: 7 });
    const revive = dieAfterSending();
    await expect(run()).rejects.toThrow();
    revive();
    await makeDue(written);
    await run();

    expect(receivedOf(written)).toHaveLength(1);
    expect(await storedNotification(written)).toMatchObject({ result: 'failed', attempts: 8 });
    expect(lines('delivery')).toContainEqual(expect.objectContaining({ outcome: 'failed', attempt: 8 }));
  });

  test('with little time left starts nothing that it could not end', async () => {
    const written = await writeNotification(receiver.url);
    await run(schedule, 12_000);

    expect(receiver.received).toEqual([]);
    expect(lines('delivery_run')).toEqual([expect.objectContaining({ due: 1, left: 1 })]);
    await run();
    expect(receivedOf(written)).toHaveLength(1);
  });
});

describe('the log', () => {
  test('has the host, the outcome and the status of a delivery, and how long it took since the change', async () => {
    const written = await writeNotification(`${receiver.url}/secret-path?token=secret-token`);
    await run();

    expect(lines('delivery')).toEqual([
      expect.objectContaining({
        level: 'info',
        function: 'deliverNotifications',
        notification: written.id,
        host: '127.0.0.1',
        state: 'success',
        attempt: 1,
        outcome: 'delivered',
        status: 204,
        delivery_lag_ms: expect.any(Number),
      }),
    ]);
    expect(loggedLines.join()).not.toMatch(/secret-/);
  });

  test('has the first 253 characters of a longer host', async () => {
    await writeNotification(`https://${'a'.repeat(100_000)}.example/`);
    await run();

    expect(lines('delivery')).toEqual([expect.objectContaining({ host: 'a'.repeat(253) })]);
    expect(Math.max(...loggedLines.map((line) => line.length))).toBeLessThan(1500);
  });

  test('and the record never have what a receiver answers', async () => {
    receiver.answers.push({ text: 'an answer that is private' });
    const written = await writeNotification(receiver.url);
    await run();

    expect(JSON.stringify(await storedNotification(written))).not.toContain('private');
    expect(loggedLines.join()).not.toContain('private');
    expect(lines('delivery')).toEqual([expect.objectContaining({ outcome: 'again', status: 500 })]);
  });

  test('has a line a minute, with the age of the oldest that is due', async () => {
    await run();
    expect(lines('delivery_run')).toEqual([expect.objectContaining({ due: 0, left: 0, oldest_due_ms: 0 })]);

    const written = await writeNotification(receiver.url);
    await makeDue(written, 90_000);
    loggedLines.length = 0;
    await run();
    const [{ oldest_due_ms }] = lines('delivery_run');
    expect(oldest_due_ms).toBeGreaterThanOrEqual(90_000);
    expect(oldest_due_ms).toBeLessThan(100_000);
  });
});

test('an event of the stream about nothing that waits sends nothing', async () => {
  const written = await writeNotification(receiver.url, { result: 'delivered' });
  await run(streamOf(written, { pk: 'TICKET#gone', sk: 'NOTIFICATION#0001' }));

  expect(receiver.received).toEqual([]);
});

test('an event of the stream that comes again makes no attempt before its time', async () => {
  receiver.answers.push(500);
  const written = await writeNotification(receiver.url);
  await run(streamOf(written));
  await run(streamOf(written));

  expect(receivedOf(written)).toHaveLength(1);
});

test('the public key of what is signed is stored for the administration', async () => {
  await run();

  expect(await storedNotification(signingKeysKey)).toMatchObject({ public_keys: signingKey?.publicKey });
});
