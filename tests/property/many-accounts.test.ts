import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, test } from '@jest/globals';
import { callerHash } from '../../lib/caller.ts';
import {
  type AccountRecord,
  dayOfMinute,
  keyOfAccount,
  shardOf,
  shownMinute,
} from '../../lib/spend/account.ts';
import { sweepSpending } from '../../lib/spend/sweep-spending.ts';
import { type UsageRecord, usageName } from '../../lib/spend/usage-records.ts';
import { toAttributes } from '../../lib/store/items.ts';
import { type Key, usageKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { minuteOf, startOfMinute } from '../../lib/windows.ts';
import { intercept } from '../support/intercept.ts';
import { runsOf } from '../support/property-runs.ts';

/** 300 in the gate. `ACCOUNTS=50000` takes some three minutes. */
const accounts = Number(process.env.ACCOUNTS ?? runsOf(30));
/** Enough accounts for several runs of the sweep that are each cut off. */
const runMs = Math.min(50_000, accounts);
const batch = 25;
const writersAtOnce = 4;
const price = 20;
/** One account of so many has an attempt that was never settled. */
const unsettledOf = 10;

const minute = minuteOf(Date.now()) - 10;

/** An account with one task of a closed minute, and the record of that task. */
function recordsOf(caller: string, isSettled: boolean): Key[] {
  const counted = isSettled ? price : 74;
  const at = startOfMinute(minute) + 1000;
  const day = dayOfMinute(minute);
  const account: AccountRecord = {
    ...keyOfAccount(caller),
    caller,
    revision: 1,
    [`credits:${day}`]: counted,
    [`tasks:${day}`]: 1,
    [`credits@${minute}`]: counted,
    [`tasks@${minute}`]: 1,
    [`running@${minute}`]: isSettled ? 0 : 1,
    [`requests@${minute}`]: 1,
    listed: day,
    pending_shard: shardOf(caller),
    pending_since: shownMinute(minute),
  };
  const usage: UsageRecord = {
    ...usageKey(callerHash(caller), usageName({ at, id: randomUUID() })),
    at: new Date(at).toISOString(),
    caller,
    operation: 'textToVideo',
    request_id: 'request',
    state: 'taken',
    credits: price,
    is_exact: true,
    ttl: Math.ceil(at / 1000) + 86_400,
  };
  return [account, usage];
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
    for (const start of starts) {
      const numbers = Array.from({ length: Math.min(batch, accounts - start) }, (_, index) => start + index);
      const records = numbers.map((number) => recordsOf(`user:${number}`, number % unsettledOf !== 0));
      await Promise.all([0, 1].map((kind) => write(records.map((pair) => pair[kind] as Key))));
    }
  };
  await Promise.all(Array.from({ length: writersAtOnce }, writer));
}

test('continues a sweep that was cut off, and closes every account once in few calls', async () => {
  const seeding = performance.now();
  await addAccounts();
  const seeded = performance.now();
  const closed = new Set<string>();
  const runs: object[] = [];
  const cpu = process.cpuUsage();
  let maxHeap = 0;
  const calls: Record<string, number> = {};
  const counts: Record<string, number> = {};
  intercept(dynamodb, ({ command, input, send }) => {
    const name = `${command}${JSON.stringify(input).includes('USAGE#') ? ' of usage' : ''}`;
    calls[name] = (calls[name] ?? 0) + 1;
    return send();
  });
  for (let left = true; left; ) {
    const started = performance.now();
    const report = await sweepSpending(
      { deadline: Date.now() + runMs },
      {
        onVisited: (account, { finding }) => {
          maxHeap = Math.max(maxHeap, process.memoryUsage().heapUsed);
          counts[finding] = (counts[finding] ?? 0) + 1;
          if (finding === 'unvisited') return;
          expect(closed.has(account.pk)).toBe(false);
          closed.add(account.pk);
        },
      },
    );
    runs.push({ ms: Math.round(performance.now() - started), ...report });
    left = report.unvisited + report.unread_shards > 0;
  }
  const ms = performance.now() - seeded;
  const { user, system } = process.cpuUsage(cpu);
  console.info({
    accounts,
    'seconds to write them': Math.round((seeded - seeding) / 1000),
    runs: runs.length,
    first: runs[0],
    last: runs.at(-1),
    'ms an account': Math.round((100 * ms) / accounts) / 100,
    'ms of CPU an account': Math.round((user + system) / accounts / 10) / 100,
    'MB of heap at most': Math.round(maxHeap / 1e6),
    calls,
  });

  expect(closed.size).toBe(accounts);
  const unsettled = Math.ceil(accounts / unsettledOf);
  expect(counts).toMatchObject({ closed: accounts - unsettled, corrected: unsettled });
  expect(calls).toMatchObject({ UpdateItemCommand: accounts, 'QueryCommand of usage': 4 * unsettled });
  expect(runs.length).toBeGreaterThan(1);
}, 1_800_000);
