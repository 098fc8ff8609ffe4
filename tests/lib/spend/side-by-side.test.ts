import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Limits } from '../../../lib/spend/account.ts';
import { type AttributeMap, fromAttributes, type Item } from '../../../lib/store/items.ts';
import { noon, stopDate } from 'testing/clock';
import { intercept } from '../../support/intercept.ts';
import type { Result } from '../../support/invoke.ts';
import { proxyNames } from '../../support/proxies.ts';
import { pay, spender, usageOf } from '../../support/spending.ts';
import { dynamodb } from '../../../lib/store/table.ts';

/* Requests of one caller and of several at the same time: what each is answered, and what it waits for. */

interface StoreCall {
  command: string;
  /** The names of the attributes that are written or compared. */
  names: unknown[];
  /** The item as the call left or found it. */
  item: Item | undefined;
}

const requests = new AsyncLocalStorage<StoreCall[]>();

/** Runs a request and returns what it asked of the store, apart from those that run next to it. */
async function traced(run: () => Promise<Result>): Promise<{ answer: Result; calls: StoreCall[] }> {
  const calls: StoreCall[] = [];
  return { answer: await requests.run(calls, run), calls };
}

/** Until the test ends, each call goes to the list of the request that makes it. */
function trace(): void {
  intercept(dynamodb, async ({ command, input, send }) => {
    const names = Object.values((input.ExpressionAttributeNames ?? {}) as object);
    const note = (attributes: AttributeMap | undefined) =>
      requests.getStore()?.push({ command, names, item: attributes && { ...fromAttributes(attributes) } });
    try {
      const output = await send();
      note((output as { Attributes?: AttributeMap }).Attributes);
      return output;
    } catch (error) {
      note((error as { Item?: AttributeMap }).Item);
      throw error;
    }
  });
}

const now = noon() + 12_345;
const day = new Date(now).toISOString().slice(0, 10);
const minute = Math.floor(now / 60_000);

beforeEach(() => stopDate(now));

/** The fields of a stored account, written a second time and independently of the code. */
function expectedFields(limits: Limits, account: Item): string {
  const left = (limit: number, counter: string) => Math.max(0, limit - Number(account[counter] ?? 0));
  return [
    `"credits-per-day";r=${left(limits.credits_per_day, `credits:${day}`)};t=43188`,
    `"tasks-per-day";r=${left(limits.tasks_per_day, `tasks:${day}`)};t=43188`,
    `"requests-per-minute";r=${left(limits.requests_per_minute, `requests@${minute}`)};t=48`,
  ].join(', ');
}

describe('the RateLimit of every answer', () => {
  test.each<[string, Limits, number[]]>([
    [
      'of 20 that all succeed',
      { credits_per_day: 5000, tasks_per_day: 100, requests_per_minute: 100 },
      [200],
    ],
    [
      'of 20 that meet the limit of credits',
      { credits_per_day: 300, tasks_per_day: 100, requests_per_minute: 100 },
      [200, 429],
    ],
    [
      'of 20 that meet the limit of requests',
      { credits_per_day: 5000, tasks_per_day: 100, requests_per_minute: 9 },
      [200, 429],
    ],
  ])('equals the stored state at that moment: %s', async (_, limits, statuses) => {
    const user = await spender(limits);
    trace();
    const answered = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        traced(() => pay(user, proxyNames[index % proxyNames.length])),
      ),
    );

    expect([...new Set(answered.map(({ answer }) => answer.status))].sort()).toEqual(statuses);
    const spent = (await usageOf(user)).reduce((sum, { credits }) => sum + credits, 0);
    expect(spent).toBeLessThanOrEqual(limits.credits_per_day);
    for (const { answer, calls } of answered) {
      // Usage records are other items, and a warning is noted in the account afterwards.
      const isCounting = ({ names, item }: StoreCall) =>
        item?.revision !== undefined && item.operation === undefined && !names.includes(`warned:${day}`);
      expect(answer.headers.ratelimit).toBe(expectedFields(limits, calls.findLast(isCounting)?.item ?? {}));
    }
  });
});

describe('32 calls of one caller at the same time', () => {
  test('do not meet each other in conflicts: each asks the store the same as one alone', async () => {
    const [alone, user] = [await spender(), await spender({ credits_per_day: 100_000 })];
    // The first task of a day lists its caller, too.
    await Promise.all([pay(user), pay(alone)]);
    trace();
    const quiet = await traced(() => pay(alone));
    const answered = await Promise.all(Array.from({ length: 32 }, () => traced(() => pay(user))));

    const commands = quiet.calls.map(({ command }) => command);
    for (const { answer, calls } of answered)
      expect([answer.status, ...calls.map(({ command }) => command)]).toEqual([200, ...commands]);
  });
});

describe('a caller at its limit', () => {
  const crowd = 32;

  /** Callers that are refused from now on. */
  async function atLimit(): Promise<string> {
    const user = await spender({ tasks_per_day: 1 });
    expect((await pay(user)).status).toBe(200);
    return user;
  }

  test('shares no record and no wait with another: the other asks the store the same as alone', async () => {
    const [greedy, alone, other] = [await atLimit(), await spender(), await spender()];
    trace();
    const quiet = await traced(() => pay(alone));
    const refused = Array.from({ length: crowd }, () => pay(greedy));
    const busy = await traced(() => pay(other));
    const answers = await Promise.all(refused);

    expect(answers.map(({ status }: Result) => status)).toEqual(Array(crowd).fill(429));
    expect(busy.answer.status).toBe(200);
    expect(busy.calls.map(({ command }) => command)).toEqual(quiet.calls.map(({ command }) => command));
  });
});
