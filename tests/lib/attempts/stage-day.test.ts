import { beforeEach, expect, test } from '@jest/globals';
import { noon, stopDate } from '@node-registry/testing/clock';
import { handler } from '../../../functions/visit-accounts.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { acceptedTasks } from '../../support/proxies.ts';
import { asFunction } from '../../support/roles.ts';
import { accountOf, pay, spender } from '../../support/spending.ts';
import { setVariables } from '../../support/variables.ts';

const dayMs = 24 * 60 * 60 * 1000;
const invocation = { getRemainingTimeInMillis: () => 20_000 };
const visit = () => asFunction('visit-accounts', () => handler({}, invocation));

let day = noon();

/** A day without any caller. */
beforeEach(() => {
  day += 2 * dayMs;
  stopDate(day);
});

test('429 budget_exhausted stops every caller once the visit has added up a full day, until midnight', async () => {
  setVariables({ STAGE_CREDITS_PER_DAY: '60' });
  for (const user of [await spender(), await spender()]) expect((await pay(user)).status).toBe(200);
  const user = await spender();
  const before = await pay(user);
  loggedLines.length = 0;
  await visit();
  const sums = lines('stage_credits');
  const sold = acceptedTasks();
  const image = `upload:${'a'.repeat(64)}:9`;
  const headers = { 'idempotency-key': 'for-later' };
  const stopped = [
    await pay(user, 'text-to-video', { headers }),
    await pay(await spender(), 'relight-image', { body: { image } }),
  ];

  // What is bought before the sum comes on top.
  expect(before.status).toBe(200);
  const about = { day: new Date(day).toISOString().slice(0, 10), credits: 60, limit: 60, callers: 3 };
  expect(sums).toMatchObject([{ level: 'warn', ...about }]);
  for (const { status, body, headers } of stopped) {
    expect([status, body.error]).toEqual([429, 'budget_exhausted']);
    expect(body.message).toMatch(/^The budget of this service for today is used up\./);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(12 * 60 * 60);
  }
  expect(acceptedTasks()).toBe(sold);
  expect((await accountOf(user))?.open).toBe(0);
  stopDate(day + dayMs / 2);
  expect((await pay(user, 'text-to-video', { headers })).status).toBe(200);
});

test('a stage without a budget of its own, or with a larger one, adds up or stops nothing', async () => {
  const user = await spender();
  await pay(user);
  setVariables({ STAGE_CREDITS_PER_DAY: '0' });
  loggedLines.length = 0;
  await visit();
  expect(lines('stage_credits')).toEqual([]);
  setVariables({ STAGE_CREDITS_PER_DAY: '21' });
  await visit();

  expect(lines('stage_credits')).toMatchObject([{ level: 'info', credits: 20, limit: 21 }]);
  expect((await pay(user)).status).toBe(200);
});
