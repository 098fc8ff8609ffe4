import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { NotificationRecord, TaskRecord } from '../../lib/notifications/records.ts';
import { createTable } from '../../tools/local/dynamodb.ts';
import { startStrictDynamoDb } from '../../tools/local/dynamodb-conflicts.ts';
import { deliverOnWrite } from '../../tools/local/deliver-on-write.ts';

/** The events that the function would get, and how it ends. */
const events: DynamoDBStreamEvent[] = [];
let fails = false;
const deliver = async (event: DynamoDBStreamEvent) => {
  events.push(event);
  if (fails) throw new Error('no luck');
};

const server = await startStrictDynamoDb({ onPut: deliverOnWrite(async () => deliver) });
process.env.AWS_ENDPOINT_URL_DYNAMODB = server.url;
process.env.TABLE_NAME = `test-${randomUUID()}`;
const { absent } = await import('../../lib/store/expressions.ts');
const { notificationKey, ticketKey } = await import('../../lib/store/keys.ts');
const { put, putting, transact, update, updating } = await import('../../lib/store/write.ts');

const hash = 'a'.repeat(64);
const soon = () => ({ deadline: Date.now() + 5000 });

beforeAll(() => createTable(server.url, String(process.env.TABLE_NAME)));

beforeEach(() => {
  events.length = 0;
  fails = false;
});

afterAll(() => server.stop());

/** What is heard before a last notification, which this puts and waits for. */
async function keysHeard() {
  const last = notificationKey(randomUUID(), 1);
  await put(soon(), last, absent);
  for (;;) {
    const heard = events.flatMap(({ Records }) =>
      Records.map(({ eventName, dynamodb }) => ({ eventName, keys: dynamodb?.Keys })),
    );
    const place = heard.findIndex(({ keys }) => keys?.pk?.S === last.pk);
    if (place >= 0) return heard.slice(0, place).map(({ eventName, keys }) => `${eventName} ${keys?.sk?.S}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a notification that a transaction puts reaches the function, and what else it writes does not', async () => {
  await transact(soon(), [
    updating<TaskRecord>(ticketKey(hash), { state: 'success' }, absent),
    putting(notificationKey(hash, 1), absent),
  ]);

  expect(await keysHeard()).toEqual(['INSERT NOTIFICATION#0001']);
});

test('a notification that is put alone reaches the function; an update of it, and a task, do not', async () => {
  await put(soon(), notificationKey(hash, 2), absent);
  await update<NotificationRecord>(soon(), notificationKey(hash, 2), { attempts: 1 }, [['pk', 'exists']]);
  await put(soon(), ticketKey('b'.repeat(64)), absent);

  expect(await keysHeard()).toEqual(['INSERT NOTIFICATION#0002']);
});

test('what was not written reaches nobody', async () => {
  await put(soon(), notificationKey(hash, 2), absent);
  await transact(soon(), [putting(notificationKey(hash, 2), absent)]);

  expect(await keysHeard()).toEqual([]);
});

test('a function that fails disturbs no write', async () => {
  fails = true;

  expect(await put(soon(), notificationKey(hash, 3), absent)).toMatchObject({ written: true });
  expect(await keysHeard()).toEqual(['INSERT NOTIFICATION#0003']);
});
