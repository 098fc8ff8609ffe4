import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { noon, stopDate } from '@node-registry/testing/clock';
import { folder } from '@node-registry/testing/folders';
import { entryName, entryOf, keyOfAccount, reservationOf } from '../../lib/attempts/account.ts';
import { taskHash } from '../../lib/notifications/records.ts';
import { takeReport } from '../../lib/notifications/store-report.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { taskKey } from '../../lib/store/keys.ts';
import { admin, adminJson } from '../support/admin.ts';
import { beforeNext } from '../support/intercept.ts';
import { say } from '../support/notified.ts';
import { misbehave, simulation } from '../support/proxies.ts';
import { setFields, storedItem } from '../support/registry.ts';
import { pathOf } from '../support/relay.ts';
import { accountOf, attemptOf, countersOf, pay, spender, usageOf } from '../support/spending.ts';

const at = (hours: number) => `${new Date(noon() + hours * 3_600_000).toISOString().slice(0, 16)}Z`;
const conclude = ['usage', 'conclude', '--from', at(-3), '--to', at(-1)];
const apply = (...options: string[]) => adminJson(...conclude, '--apply', ...options);
const key = { headers: { 'idempotency-key': 'k' } };

beforeEach(() => stopDate(noon()));

/** A request, three hours before noon, after which the provider may have started a task. */
async function unknown(): Promise<string> {
  const user = await spender();
  stopDate(noon() - 3 * 3_600_000 + 1000);
  misbehave({ kind: 'status', status: 500, accepted: true });
  await pay(user, 'text-to-video', key);
  stopDate(noon());
  return user;
}

test('usage conclude shows what it would change, changes it once, and says so; the key stays used up', async () => {
  const user = await unknown();
  const expected = { user, attempts: 1, before: 74, after: 0, skipped: 0 };
  expect(await adminJson(...conclude, '--user', user, '--rejected')).toEqual([expected]);
  expect(countersOf(await accountOf(user))).toMatchObject({ credits: 74, tasks: 1 });
  const task = taskKey(String((await usageOf(user))[0]?.task_hash));
  expect(await storedItem(task)).toHaveProperty('pending_shard');
  expect(await apply('--user', user, '--rejected')).toEqual([expected]);
  expect(await apply('--user', user, '--rejected')).toEqual([]);

  expect(countersOf(await accountOf(user))).toMatchObject({ credits: 0, tasks: 0 });
  const concluded_at = new Date().toISOString();
  expect(await usageOf(user)).toMatchObject([{ payment: 'rejected', credits: 0, concluded_at }]);
  const [entry] = (await adminJson('limit', 'show', user)).history;
  expect(entry).toMatchObject({ action: 'usage conclude', detail: expect.stringContaining('74 -> 0') });
  expect((await pay(user, 'text-to-video', key)).body.error).toBe('idempotency_consumed');
  expect(await storedItem(task)).not.toHaveProperty('pending_shard');
});

test('usage conclude counts what was told later, or billed, and leaves what a provider names', async () => {
  const users = [await unknown(), await unknown(), await unknown()];
  const paths = simulation.received.slice(-3).map(({ body }) => pathOf(body.callback_url));
  await say(paths[0] as never, { state: 'success', id: 'told', credits: 20 });
  await say(paths[1] as never, { state: 'success', id: 'billed' });
  expect(await apply('--told')).toMatchObject([{ user: users[0], before: 74, after: 20 }]);
  const bill = join(folder, 'bill.csv');
  writeFileSync(bill, 'task_id,credits\nbilled,30.5\n');
  expect(await apply('--bill', bill)).toMatchObject([{ user: users[1], before: 74, after: 31 }]);
  const report = () => say(paths[2] as never, { state: 'processing', id: 'named meanwhile' });
  const last = ['--user', String(users[2]), '--rejected'];
  const { happened } = beforeNext(dynamodb, /^(TransactWriteItems|UpdateItem)Command$/, report);
  await admin(...conclude, '--apply', ...last);
  expect(happened()).toBe(true);
  expect(await apply(...last)).toEqual([]);

  const accounts = await Promise.all(users.map(accountOf));
  expect(accounts.map((each) => countersOf(each))).toMatchObject(
    [20, 31, 74].map((credits) => ({ credits, tasks: 1 })),
  );
  expect(await usageOf(String(users[0]))).toMatchObject([{ payment: 'taken', credits: 20, task_id: 'told' }]);
});

test('usage conclude leaves what a provider reported without an ID, or a bill names twice, not what nobody heard of', async () => {
  const users = [await unknown(), await unknown(), await unknown(), await unknown(), await unknown()];
  const paths = simulation.received.slice(-5).map(({ body }) => pathOf(body.callback_url));
  await say(paths[0] as never, { state: 'processing' });
  await say(paths[1] as never, { message: 'no word for its state', id: 'twice' });
  for (const id of [undefined, 'twice']) await say(paths[2] as never, { state: 'processing', id });
  const report = { provider: 'video', body: '{"state":"failed"}', isGivenUp: true } as const;
  for (const { task } of paths.slice(3))
    await takeReport({ deadline: noon() + 60_000 }, { ...report, taskHash: taskHash(task) });
  await say(paths[4] as never, { state: 'processing' });
  const bill = join(folder, 'twice.csv');
  writeFileSync(bill, 'task_id,credits\ntwice,30\n');

  expect(await apply('--bill', bill, '--user', String(users[1]))).toEqual([]);
  const concluded = users.map((user) => apply('--user', user, '--rejected'));
  expect(await Promise.all(concluded)).toMatchObject([[], [], [], [{ after: 0 }], []]);
});

test('usage conclude touches no day that is no longer counted, and no attempt that is still open', async () => {
  const [old, open] = [await unknown(), await unknown()];
  const day = new Date().toISOString().slice(0, 10);
  await setFields(keyOfAccount(`user:${old}`), { [`credits:${day}`]: null, [`tasks:${day}`]: null });
  const entry = reservationOf((await usageOf(open))[0] ?? attemptOf(open));
  await setFields(keyOfAccount(`user:${open}`), { [entryName(entry)]: entryOf(entry) });
  await apply('--user', old, '--rejected');
  const { status, stdout } = await admin(...conclude, '--apply', '--user', open, '--rejected', '--json');

  expect(countersOf(await accountOf(old))).not.toHaveProperty('credits');
  expect(await usageOf(old)).toMatchObject([{ payment: 'rejected', credits: 0 }]);
  expect([status, JSON.parse(stdout)]).toMatchObject([1, [{ attempts: 0, before: 0, after: 0, skipped: 1 }]]);
  expect(countersOf(await accountOf(open)).credits).toBe(74);
  expect(await usageOf(open)).toMatchObject([{ payment: 'unknown', credits: 74 }]);
  expect((await adminJson('limit', 'show', open)).history).toEqual([]);
});

test.each([
  [['--from', at(-3), '--to', at(-0.5), '--rejected'], '--to must be an hour ago'],
  [['--from', at(-3), '--to', at(-1), '--told', '--rejected'], 'Give one of'],
  [['--from', 'yesterday', '--to', at(-1), '--told'], 'is not a time'],
  [['--from', '2026-02-30', '--to', at(-1), '--told'], 'is not a day'],
  [['--from', at(-1), '--to', at(-3), '--told'], 'is not before'],
])('usage conclude rejects %j', async (options, sentence) => {
  const { status, stderr } = await admin('usage', 'conclude', ...options);

  expect([status, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});
