import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { invoke } from '../../support/invoke.ts';
import { misbehave, proxies, simulation } from '../../support/proxies.ts';

const call = (remainingMs?: number) =>
  invoke(proxies['relight-image'], 'relight-image', remainingMs === undefined ? {} : { remainingMs });

/** Only the clock and its timers are fake; what the network needs is real. */
const realThings = [
  ...(['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'performance', 'hrtime'] as const),
  ...(['setInterval', 'clearInterval'] as const),
];

afterEach(() => {
  jest.useRealTimers();
});

beforeAll(async () => {
  await call();
});

describe('a provider that stalls', () => {
  test.each(['before_headers', 'after_headers'] as const)(
    'times out after exactly 25 seconds, stalled %s',
    async (stage) => {
      misbehave({ kind: 'stall', stage });
      jest.useFakeTimers({ doNotFake: [...realThings] });
      let answered = false;
      const answer = call().finally(() => {
        answered = true;
      });
      while (simulation.received.length === 0) await turn();

      jest.advanceTimersByTime(24_999);
      for (let count = 0; count < 20; count += 1) await turn();
      expect(answered).toBe(false);

      jest.advanceTimersByTime(1);
      const { status, body } = await answer;
      expect([status, body.error]).toEqual([504, 'provider_timeout']);
    },
  );

  test('times out a second before the invocation ends, if that is earlier', async () => {
    misbehave({ kind: 'stall' });
    jest.useFakeTimers({ doNotFake: [...realThings] });
    let answered = false;
    const answer = call(2200).finally(() => {
      answered = true;
    });
    while (simulation.received.length === 0) await turn();
    jest.advanceTimersByTime(1199);
    for (let count = 0; count < 20; count += 1) await turn();
    expect(answered).toBe(false);

    jest.advanceTimersByTime(1);
    expect((await answer).body.error).toBe('provider_timeout');
  });

  test('leaves no socket and no timer behind', async () => {
    const held = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind.startsWith('TCPSocket'))
        .length;
    const crowd = () => Promise.all(Array.from({ length: 5 }, () => call(2100)));
    // The connections to the store that five calls at once keep open.
    await crowd();
    const before = held();
    misbehave({ kind: 'stall', times: 5 });
    await crowd();
    for (let count = 0; count < 200 && held() > before; count += 1) await turn();

    expect(held()).toBeLessThanOrEqual(before);
  });
});
