import { beforeEach, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/deliver-notifications.ts';
import { handler as handOverWork } from '../../functions/hand-over-work.ts';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { signingKeysKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { deleting, write } from '../../lib/store/write.ts';
import { admin, adminJson } from '../support/admin.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext } from '../support/intercept.ts';
import { emptyOutbox, makeDue, storedNotification, writeNotification } from '../support/notifications.ts';
import { runQueue } from '../support/queue.ts';
import { startReceiver } from '../support/receiver.ts';
import { soon } from '../support/registry.ts';

/** What is handed over is delivered. */
async function run(): Promise<void> {
  await handOverWork({}, { getRemainingTimeInMillis: () => 30_000 });
  await runQueue(handler);
}

beforeEach(emptyOutbox);

/** A notification that no try can deliver. */
async function giveUp() {
  const written = await writeNotification('http://169.254.169.254/');
  await run();
  return written;
}

describe('notification list', () => {
  test('lists given-up notifications, the latest first, with the host and the last error', async () => {
    const [first, second] = [await giveUp(), await giveUp()];
    const { stdout } = await admin('notification', 'list');
    const listed = await adminJson('notification', 'list');

    expect(stdout).toMatch(/^ID +HOST +STATE +TRIES +LAST ERROR .*\n/);
    expect(stdout).toContain('169.254.169.254');
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    const { address, state, status_key, at } = second;
    const failed = { host: '169.254.169.254', result: 'failed', tries: 1, last_error: 'address_rejected' };
    const given_up = expect.stringMatching(/Z$/);
    expect(listed[0]).toMatchObject({ address, state, status_key, at, ...failed, given_up });
    expect(listed[0]).not.toHaveProperty('body');
  });

  test('lists waiting notifications by the time of their next try, including those due tomorrow', async () => {
    const late = await writeNotification('https://a.example');
    const early = await writeNotification('https://b.example');
    await makeDue(late, -23 * 3_600_000);
    const listed = await adminJson('notification', 'list', '--waiting');

    expect(listed.map(({ id }: { id: string }) => id)).toEqual([early.id, late.id]);
    expect((await admin('notification', 'list', '--waiting')).stdout).toMatch(/NEXT TRY\n.*b\.example/);
  });
});

describe('notification show', () => {
  test('finds a notification by its webhook-id, with its body', async () => {
    const { id, body } = await giveUp();
    const { stdout } = await admin('notification', 'show', id);

    expect(stdout).toMatch(/http:\/\/169\.254\.169\.254\/.*address_rejected/s);
    expect(await adminJson('notification', 'show', id)).toMatchObject({ id, body });
  });

  test.each([
    ['msg_1_1', 'is not the id of a notification'],
    [`msg_${'0'.repeat(64)}_1`, 'There is no notification'],
  ])('says that there is no %s', async (id, sentence) => {
    const { status, stderr } = await admin('notification', 'show', id);

    expect([status, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });
});

describe('notification retry', () => {
  test('sends a given-up notification again, with the same ID', async () => {
    const receiver = await startReceiver();
    receiver.answers.push(500, 204);
    const written = await writeNotification(receiver.url, { tries: 7 });
    await run();
    expect(await storedNotification(written)).toMatchObject({ result: 'failed', tries: 8 });
    expect((await admin('notification', 'list')).stdout).toMatch(/ answered_no +500 /);

    stopDate(Date.now() + 60_000);
    const { last_error: _, last_status: __, ...before } = await storedNotification(written);
    await admin('notification', 'retry', written.id);
    expect(await storedNotification(written)).toMatchObject({
      ...before,
      result: 'pending',
      tries: 0,
      pending_since: new Date().toISOString(),
      pending_shard: written.pending_shard,
      ttl: Math.ceil(Date.now() / 1000) + 14 * 86_400,
      revision: Number(Object(before).revision) + 1,
      write_id: expect.any(String),
    });
    expect(await adminJson('notification', 'list')).toEqual([]);
    await run();
    expect(await storedNotification(written)).toMatchObject({ result: 'delivered', tries: 1 });
    expect((await admin('notification', 'show', written.id)).stdout).not.toContain('Last error');
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([written.id, written.id]);
  });

  test('sends all that were given up again, and leaves the others', async () => {
    const receiver = await startReceiver();
    const given = await Promise.all(
      Array.from({ length: 22 }, () => writeNotification(receiver.url, { tries: 7 })),
    );
    receiver.answers.push(...given.map(() => 500));
    await run();
    const delivered = await writeNotification(receiver.url, { result: 'delivered', delivered_at: 'then' });

    expect(await adminJson('notification', 'retry', 'all')).toEqual({ retried: 22 });
    expect(await adminJson('notification', 'list')).toEqual([]);
    for (const record of given)
      expect(await storedNotification(record)).toMatchObject({ result: 'pending', tries: 0 });
    expect(await storedNotification(delivered)).toMatchObject({ delivered_at: 'then' });
  });

  test('rejects one that was delivered, and one that is being sent', async () => {
    const delivered = { result: 'delivered', delivered_at: 'then' } as const;
    const { id } = await writeNotification('https://a.example', delivered);
    const waiting = await writeNotification('http://169.254.169.254/');
    expect((await admin('notification', 'retry', id)).stderr).toContain('It was delivered at then.');

    beforeNext(dynamodb, /^UpdateItemCommand$/, run);
    expect((await admin('notification', 'retry', waiting.id)).stderr).toContain(
      'It is being sent at this moment',
    );
  });
});

test('notification keys prints the public keys that the functions sign with, or says when they come', async () => {
  await handler({}, { getRemainingTimeInMillis: () => 30_000 });
  const [key] = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
  const public_keys = String(key?.publicKey);

  expect((await admin('notification', 'keys')).stdout).toBe(`${public_keys}\n`);
  expect(await adminJson('notification', 'keys')).toEqual({
    public_keys: [public_keys],
    since: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(public_keys).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);

  await write(soon(), deleting(signingKeysKey, [['pk', 'exists']]));

  expect(await admin('notification', 'keys')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('within five minutes of the first start'),
  });
});
