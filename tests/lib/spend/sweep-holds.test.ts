import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { holdsOf, keyOfAccount } from '../../../lib/spend/account.ts';
import { reserve } from '../../../lib/spend/reserve.ts';
import { sweepHolds } from '../../../lib/spend/sweep-holds.ts';
import { completeUsage, openUsage, type UsageResult } from '../../../lib/spend/usage-records.ts';
import { storedItem } from '../../support/registry.ts';
import { accountOf, countersOf, usageOf } from '../../support/spending.ts';

const soon = () => ({ deadline: Date.now() + 5000 });
const anHour = 60 * 60 * 1000;

/** What an invocation leaves that dies after so many of its writes. */
async function leave(writes: 'hold' | 'hold and record' | UsageResult): Promise<string> {
  const user = `dead-${randomUUID()}`;
  const caller = `user:${user}`;
  const at = Date.now();
  const attempt = `${new Date(at).toISOString()}#${randomUUID()}`;
  await reserve({ caller, attempt, at, ceiling: 50, context: soon() });
  if (writes === 'hold') return user;
  const request = { operation: 'textToVideo', requestId: 'r', keyHash: undefined };
  await openUsage({ caller, attempt, ceiling: 50, ...request, context: soon() });
  if (typeof writes === 'object') await completeUsage(soon(), caller, attempt, writes);
  return user;
}

async function findingsOf(user: string, now = Date.now() + anHour): Promise<string[]> {
  const swept = await sweepHolds(soon(), now);
  return swept.filter(({ caller }) => caller === `user:${user}`).map(({ finding }) => finding);
}

describe('the sweep', () => {
  test('releases what was reserved and never recorded, since nothing was sent', async () => {
    const user = await leave('hold');

    expect(await findingsOf(user)).toEqual(['released']);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 0, tasks: 0 });
    expect(await usageOf(user)).toEqual([]);
  });

  test('counts in full what was recorded and may have been sent', async () => {
    const user = await leave('hold and record');

    expect(await findingsOf(user)).toEqual(['counted']);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 50, tasks: 1 });
    expect(await usageOf(user)).toMatchObject([{ state: 'unknown', credits: 50 }]);
  });

  test.each<[UsageResult, number, number]>([
    [{ state: 'taken', credits: 20, task_id: 'a' }, 20, 1],
    [{ state: 'refused', credits: 0 }, 0, 0],
    [{ state: 'unknown', credits: 50 }, 50, 1],
  ])('settles by the record that was completed: %j', async (result, credits, tasks) => {
    const user = await leave(result);

    expect(await findingsOf(user)).toEqual(['settled']);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits, tasks });
    expect(await usageOf(user)).toMatchObject([result]);
  });

  test('does it once, also when two sweeps meet, and takes the account off its list', async () => {
    const user = await leave('hold and record');
    await Promise.all([findingsOf(user), findingsOf(user)]);

    expect(await findingsOf(user)).toEqual([]);
    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 50, tasks: 1 });
    const { pk, sk } = keyOfAccount(`user:${user}`);
    expect(await storedItem(pk, sk)).not.toHaveProperty('pending_shard');
  });

  test('leaves alone what an invocation may still be working on', async () => {
    const user = await leave('hold and record');

    expect(await findingsOf(user, Date.now() + 60_000)).toEqual([]);
    const account = await accountOf(user);
    expect(account && holdsOf(account)).toHaveLength(1);
  });
});
