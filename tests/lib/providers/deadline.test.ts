import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { stopTimers, turnsUntil } from '@node-registry/testing/clock';
import { invoke } from '../../support/invoke.ts';
import { misbehave, proxies, simulation } from '../../support/proxies.ts';
import { setVariables } from '../../support/variables.ts';
import { listen } from '../../../tools/processes/ports.ts';

const call = (remainingMs?: number) =>
  invoke(proxies['relight-image'], 'relight-image', remainingMs === undefined ? {} : { remainingMs });

beforeAll(() => call());

describe('a provider that stalls', () => {
  test.each([
    ['exactly 25 seconds', 'before_headers', undefined, 25_000],
    ['exactly 25 seconds', 'after_headers', undefined, 25_000],
    ['all but the last second of its invocation', 'before_headers', 2200, 1200],
  ] as const)('times out after %s, stalled %s', async (_, stage, remainingMs, timeoutMs) => {
    misbehave({ kind: 'stall', stage });
    stopTimers();
    let answered = false;
    const answer = call(remainingMs).finally(() => {
      answered = true;
    });
    await turnsUntil(() => simulation.received.length > 0);
    jest.advanceTimersByTime(timeoutMs - 1);
    for (let count = 0; count < 20; count += 1) await turn();
    expect(answered).toBe(false);

    jest.advanceTimersByTime(1);
    const { status, body } = await answer;
    expect([status, body.error]).toEqual([504, 'provider_timeout']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('leaves no connection behind', async () => {
    const open = new Set<Socket>();
    const stalls = createServer().on('connection', (socket: Socket) => {
      open.add(socket);
      socket.resume().once('close', () => open.delete(socket));
    });
    setVariables({ IMAGE_PROVIDER_URL: `http://127.0.0.1:${await listen(stalls)}/image` });
    stopTimers();
    const answers = Array.from({ length: 5 }, () => call(2200));
    await turnsUntil(() => open.size === 5);
    jest.advanceTimersByTime(1200);

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(5).fill(504));
    await turnsUntil(() => open.size === 0);
    stalls.close();
  });
});
