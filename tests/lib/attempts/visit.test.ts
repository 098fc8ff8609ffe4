import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { noon, stopDate } from '@node-registry/testing/clock';
import { type AccountRecord, keyOfAccount } from '../../../lib/attempts/account.ts';
import { type AttemptRecord, endAttempt, recordSent } from '../../../lib/attempts/attempt.ts';
import { reserve } from '../../../lib/attempts/reserve.ts';
import { callerHash } from '../../../lib/caller.ts';
import { dayCallerKey } from '../../../lib/store/keys.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { intercept } from '../../support/intercept.ts';
import { lines } from '../../support/logged-lines.ts';
import { setFields, soon, storedItem } from '../../support/registry.ts';
import { accountOf, attemptOf, countersOf, pay, sweepAfter, usageOf } from '../../support/spending.ts';

const minuteMs = 60_000;
/** What an invocation leaves that dies after so many of its steps. */
async function leave(steps: 'reserved' | 'recorded', user = `dead-${randomUUID()}`) {
  const attempt = attemptOf(user);
  await reserve(soon(), attempt);
  if (steps === 'recorded') expect(await recordSent(soon(), attempt)).toBe(true);
  return { user, attempt, began: Date.parse(attempt.at) };
}

beforeEach(() => stopDate(noon()));

// What visits and requests leave when they meet or die: tests/property/attempts.test.ts and tests/interleavings.
describe('a visit of an account', () => {
  test('releases a reservation without a record, whose late record is not sent', async () => {
    const { user, attempt } = await leave('reserved');
    await sweepAfter(12);

    expect(countersOf(await accountOf(user))).toEqual({ credits: 0, tasks: 0, requests: 1 });
    expect(await usageOf(user)).toEqual([]);
    expect(await recordSent(soon(), attempt)).toBe(false);
    const ttl = Math.ceil(Date.now() / 1000) + 2 * 86_400;
    expect(await storedItem(attempt)).toMatchObject({ payment: 'rejected', ttl });
  });

  test('counts what may have been sent in full, for the day before midnight, and keeps nothing else of it in the account', async () => {
    stopDate(noon() + (12 * 60 - 5) * minuteMs);
    const { user, attempt } = await leave('recorded');
    stopDate(Date.now() + 12 * minuteMs);
    await sweepAfter(0);

    const { at } = attempt;
    const day = at.slice(0, 10);
    expect(await accountOf(user)).toEqual({
      ...keyOfAccount(attempt.caller),
      caller: attempt.caller,
      [`credits:${day}`]: 50,
      [`tasks:${day}`]: 1,
      listed: day,
      open: 0,
      revision: 3,
      write_id: expect.any(String),
    });
    const completed_at = new Date().toISOString();
    const unknown = { at, payment: 'unknown', credits: 50, is_exact: false, completed_at };
    expect(await usageOf(user)).toMatchObject([unknown]);
    expect(lines('visit')).toContainEqual(expect.objectContaining({ level: 'info', at, payment: 'unknown' }));
    expect(await storedItem(keyOfDay(attempt))).toMatchObject({ caller: attempt.caller });
  });

  test('leaves an attempt alone that is younger than twelve minutes, and comes again for the next', async () => {
    const { user, began } = await leave('recorded');
    for (const later of [7 * minuteMs, 5 * minuteMs + 1]) {
      stopDate(began + later);
      await leave('recorded', user);
    }
    stopDate(began);
    const sent = { payment: 'sent' };
    await sweepAfter(11.99);
    expect(await usageOf(user)).toMatchObject([sent, sent, sent]);
    await sweepAfter(12);

    expect(await usageOf(user)).toMatchObject([{ payment: 'unknown' }, sent, sent]);
    const next = new Date(began + 18 * minuteMs).toISOString().slice(0, 16);
    expect(await accountOf(user)).toMatchObject({ open: 2, pending_since: next });
  });

  test.each([
    [{ payment: 'taken', credits: 20, task_id: 'a' }, 1],
    [{ payment: 'rejected', credits: 0 }, 0],
    [{ payment: 'taken', credits: 99, task_id: 'above its ceiling' }, 1],
  ] as const)('settles what has ended: %j', async (end, tasks) => {
    const { user, attempt } = await leave('recorded');
    expect(await endAttempt(soon(), attempt, end)).toBe(true);
    await sweepAfter(12);

    expect(countersOf(await accountOf(user))).toMatchObject({ credits: end.credits, tasks });
    expect(await usageOf(user)).toMatchObject([end]);
  });

  test('keeps an account listed that reserves meanwhile', async () => {
    const { user, attempt } = await leave('reserved');
    let updates = 0;
    intercept(dynamodb, async ({ command, input, send }) => {
      const isOwn = JSON.stringify(input).includes(keyOfAccount(attempt.caller).pk);
      // Between the settlement and the write that takes the account from the index.
      if (isOwn && command === 'UpdateItemCommand' && ++updates === 2) await leave('reserved', user);
      return send();
    });
    await sweepAfter(12);
    expect(await accountOf(user)).toMatchObject({ open: 1, pending_shard: expect.any(String) });
    await sweepAfter(25);

    expect(countersOf(await accountOf(user))).toMatchObject({ credits: 0, tasks: 0 });
    expect(Object.keys((await accountOf(user)) as AccountRecord)).not.toContain('pending_shard');
  });
});

const keyOfDay = ({ caller, at }: AttemptRecord) => dayCallerKey(callerHash(caller), at.slice(0, 10));

test('the counters of yesterday and of two minutes ago stay, and no older ones', async () => {
  const { user, attempt, began } = await leave('reserved');
  const of = (ago: number) => {
    const day = new Date(began - ago * 86_400_000).toISOString().slice(0, 10);
    return [`credits:${day}`, `tasks:${day}`, `requests@${Math.floor(began / minuteMs) - ago - 1}`];
  };
  const names = [...of(1), ...of(2)];
  await setFields(keyOfAccount(attempt.caller), Object.fromEntries(names.map((name) => [name, 1])));
  await pay(user);

  const stay = Object.keys((await accountOf(user)) ?? {}).filter((name) => names.includes(name));
  expect(stay.sort()).toEqual(of(1).sort());
});
