import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, jest, test } from '@jest/globals';
import { callerHash } from '../../lib/caller.ts';
import {
  type AccountRecord,
  accountRecord,
  dayOfMinute,
  keyOfAccount,
  openMinutes,
  shardOf,
  shownMinute,
} from '../../lib/spend/account.ts';
import type { KeyOutcome } from '../../lib/spend/kept-outcome.ts';
import { type UsageRecord, usageName } from '../../lib/spend/usage-records.ts';
import { toAttributes } from '../../lib/store/items.ts';
import { firstDue } from '../../lib/store/due.ts';
import { idempotencyKey, type Key, usageKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { tableName } from '../../lib/store/table.ts';
import { minuteOf, startOfMinute } from '../../lib/windows.ts';
import { startMeter } from '../../tools/local/dynamodb-meter.ts';
import { startFunctionProcess } from '../support/function-process.ts';
import { runsOf } from 'testing/property-runs';

/** 300 in the gate. `ACCOUNTS=1000000` takes 40 minutes, half of them to make, in as many processes as there are schedules. */
const accounts = Number(process.env.ACCOUNTS ?? runsOf(30));
jest.setTimeout(120_000 + accounts * 20);
const parts = accounts > 10_000 ? 4 : 1;
/** Percent of the accounts whose attempt crashed before it could say how it ended, which takes most calls to close. */
const crashed = Number(process.env.CRASHED ?? 10);
/** As a function is cut off. */
const maxRunMs = 60_000;
/** The first one is so earlier in the gate, and its calls take long, so that any machine leaves work to the next one. */
const firstRunMs = Math.min(maxRunMs, 5000 + accounts);
const hold = { ms: 20 };
const batch = 8;
const writersAtOnce = 4;
const price = 20;
const ceiling = 74;

const minute = minuteOf(Date.now()) - 20;
const callerOf = (number: number) => `user:${number}`;
const hasCrashed = (number: number) => number % 100 < crashed;

/** An account with one task of a closed minute, the record of that task, and its key if that says nothing either. */
function recordsOf(number: number): Key[] {
  const caller = callerOf(number);
  const isSettled = !hasCrashed(number);
  const credits = isSettled ? price : ceiling;
  const at = startOfMinute(minute) + 1000;
  const day = dayOfMinute(minute);
  const attempt = randomUUID();
  const account: AccountRecord = {
    ...keyOfAccount(caller),
    caller,
    revision: 1,
    [`credits:${day}`]: credits,
    [`tasks:${day}`]: 1,
    [`credits@${minute}`]: credits,
    [`tasks@${minute}`]: 1,
    [`running@${minute}`]: isSettled ? 0 : 1,
    [`requests@${minute}`]: 1,
    ...(isSettled && { listed: day }),
    pending_shard: shardOf(caller),
    pending_since: shownMinute(minute),
  };
  const key_hash = isSettled ? undefined : callerHash(attempt);
  const usage: UsageRecord = {
    ...usageKey(callerHash(caller), usageName({ at, id: attempt })),
    at: new Date(at).toISOString(),
    caller,
    operation: 'textToVideo',
    request_id: 'request',
    key_hash,
    state: isSettled ? 'taken' : 'reserved',
    credits,
    ttl: Math.ceil(at / 1000) + 86_400,
  };
  if (key_hash === undefined) return [account, usage];
  const key: KeyOutcome = { ...idempotencyKey(key_hash), attempt, state: 'sent' };
  return [account, usage, key];
}

/** The service's own gives up a call after two seconds, and this writes as fast as it can. */
const patient = new DynamoDBClient({ maxAttempts: 10 });

async function write(records: readonly Key[]): Promise<void> {
  const requests = records.map((record) => ({ PutRequest: { Item: toAttributes(record) } }));
  await patient.send(new BatchWriteItemCommand({ RequestItems: { [tableName()]: requests } }));
}

async function addAccounts(): Promise<void> {
  const starts = Array.from({ length: Math.ceil(accounts / batch) }, (_, index) => index * batch).values();
  const writer = async () => {
    for (const start of starts) await write(numbersFrom(start, batch).flatMap(recordsOf));
  };
  await Promise.all(Array.from({ length: writersAtOnce }, writer));
}

function numbersFrom(start: number, count: number): number[] {
  return Array.from({ length: Math.min(count, accounts - start) }, (_, index) => start + index);
}

const soon = () => ({ deadline: Date.now() + 60_000 });

async function isLeft(): Promise<boolean> {
  const period = { from: 0, to: Date.now() };
  return (await firstDue(soon(), { work: 'spending', period, order: 'oldest first' }, 1)).length > 0;
}

const calls: Record<string, number> = {};
const meter = await startMeter(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), {
  hold,
  onCall: () => (call) => {
    const [kind] = (call.targets[0]?.target.partition ?? '').split('#');
    const name = `${call.operation} ${kind?.split(':')[0]}`;
    calls[name] = (calls[name] ?? 0) + 1;
  },
});
afterAll(() => meter.stop());

test('continues sweeps that were cut off, and closes every account once in few calls', async () => {
  await addAccounts();
  const environment = { ...process.env, AWS_ENDPOINT_URL_DYNAMODB: meter.url };
  const hosts = await Promise.all(
    Array.from({ length: parts }, () => startFunctionProcess(['sweep-spending'], environment)),
  );
  const sweep = (remainingMs: number) =>
    Promise.all(
      hosts.map((host, index) => host.call('sweep-spending', { part: { index, of: parts } }, remainingMs)),
    );
  const cpuMs = () => hosts.reduce((sum, host) => sum + host.used().cpuMs, 0);
  // Without time, to learn what starting took.
  await sweep(0);
  const [started, cpuBefore] = [performance.now(), cpuMs()];
  let runs = 0;
  for (; await isLeft(); runs += 1) {
    await sweep(runs === 0 ? firstRunMs : maxRunMs);
    hold.ms = 0;
  }
  const cpuAfter = cpuMs();
  console.info({
    accounts,
    'percent of them crashed': crashed,
    parts,
    runs,
    seconds: Math.round((performance.now() - started) / 1000),
    'CPU seconds of the functions per 1,000': Math.round((cpuAfter - cpuBefore) / accounts / 0.01) / 100,
    'MB of a process at most': Math.round(Math.max(...hosts.map((host) => host.used().maxMegabytes))),
    calls,
  });
  await Promise.all(hosts.map((host) => host.stop()));

  for (let start = 0; start < accounts; start += 100) {
    const numbers = numbersFrom(start, 100);
    const found = await get(soon(), ...numbers.map((number) => keyOfAccount(callerOf(number))));
    for (const account of found.map((item) => accountRecord(item))) {
      expect(account).not.toHaveProperty('pending_shard');
      expect(account && openMinutes(account)).toEqual([]);
    }
  }
  const ended = numbersFrom(0, accounts).filter(hasCrashed).length;
  // Some of the 24 visits that are cut off with a run begin again with the next one.
  const repeated = 24 * parts * (runs - 1);
  for (const [name, count] of [
    // A minute with a crash is looked at again.
    ['UpdateItem CALLER', accounts + ended],
    ['UpdateItem USAGE', ended],
  ] as const) {
    expect(calls[name] ?? 0).toBeGreaterThanOrEqual(count);
    expect(calls[name] ?? 0).toBeLessThanOrEqual(count + repeated);
  }
  expect(calls['Query USAGE'] ?? 0).toBeLessThanOrEqual(4 * (2 * ended + repeated));
  expect(runs).toBeGreaterThan(1);
});
