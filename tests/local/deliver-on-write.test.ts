import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DynamoDBStreamEvent } from 'aws-lambda';
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
const { put, transact, update } = await import('../../lib/store/write.ts');

const hash = 'a'.repeat(64);
const soon = () => Date.now() + 5000;

beforeAll(() => createTable(server.url, String(process.env.TABLE_NAME)));

beforeEach(() => {
  events.length = 0;
  fails = false;
});

afterAll(() => server.stop());

/** What is heard before a last notification, which this puts and waits for. */
async function keysHeard() {
  const last = notificationKey(randomUUID(), 1);
  await put(last, absent, soon());
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
  await transact(
    [
      { update: ticketKey(hash), changes: { state: 'success' }, when: absent },
      { put: notificationKey(hash, 1), when: absent },
    ],
    soon(),
  );

  expect(await keysHeard()).toEqual(['INSERT NOTIFICATION#0001']);
});

test('a notification that is put alone reaches the function; an update of it, and a task, do not', async () => {
  await put(notificationKey(hash, 2), absent, soon());
  await update(notificationKey(hash, 2), { attempts: 1 }, [['pk', 'exists']], soon());
  await put(ticketKey('b'.repeat(64)), absent, soon());

  expect(await keysHeard()).toEqual(['INSERT NOTIFICATION#0002']);
});

test('what was not written reaches nobody', async () => {
  await put(notificationKey(hash, 2), absent, soon());
  await transact([{ put: notificationKey(hash, 2), when: absent }], soon());

  expect(await keysHeard()).toEqual([]);
});

test('a function that fails disturbs no write', async () => {
  fails = true;

  expect(await put(notificationKey(hash, 3), absent, soon())).toMatchObject({ written: true });
  expect(await keysHeard()).toEqual(['INSERT NOTIFICATION#0003']);
});
