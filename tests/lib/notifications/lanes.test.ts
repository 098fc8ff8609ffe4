import { describe, expect, test } from '@jest/globals';
import { Lanes } from '../../../lib/notifications/lanes.ts';

const later = () => Date.now() + 60_000;

/** Lanes with jobs that end when the test says so. */
function controlled(until = later()) {
  const lanes = new Lanes(until);
  const running = new Map<string, () => void>();
  const started: string[] = [];
  const add = (name: string, host: string, isRepeat = false) =>
    lanes.add({
      host,
      isRepeat,
      run: () => {
        started.push(name);
        return new Promise((resolve) => running.set(name, resolve));
      },
    });
  const end = async (name: string) => {
    running.get(name)?.();
    running.delete(name);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { lanes, add, end, started, running };
}

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('lanes', () => {
  test('start two jobs of a host, and the next when one of them ends, in their order', async () => {
    const { add, end, started } = controlled();
    for (const name of names('a', 4)) add(name, 'a');
    expect(started).toEqual(['a0', 'a1']);

    await end('a1');
    expect(started).toEqual(['a0', 'a1', 'a2']);
  });

  test('start jobs of 32 hosts at once, and no more', async () => {
    const { add, end, started } = controlled();
    for (const name of names('a', 40)) add(name, name);
    expect(started).toHaveLength(32);

    await end('a5');
    expect(started).toHaveLength(33);
  });

  test('let hosts take turns, so that a long lane does not take every place that becomes free', async () => {
    const { add, end, started } = controlled();
    for (const name of names('full', 32)) add(name, name);
    for (const name of names('a', 5)) add(name, 'a');
    for (const name of names('b', 5)) add(name, 'b');
    for (const name of names('full', 4)) await end(name);

    expect(started.slice(32)).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  test('keep half of the places for what is tried for the first time', async () => {
    const { add, end, started } = controlled();
    for (const name of names('again', 40)) add(name, name, true);
    expect(started).toHaveLength(16);

    for (const name of names('new', 20)) add(name, name);
    expect(started.filter((name) => name.startsWith('new'))).toHaveLength(16);
    await end('again0');
    expect(started.at(-1)).toBe('new16');
  });

  test('are idle when all that was started has ended, and say how many jobs are left', async () => {
    const { lanes, add, end, running } = controlled(Date.now() + 50);
    for (const name of names('a', 5)) add(name, 'a');
    let left: number | undefined;
    const idle = lanes.idle().then((count) => {
      left = count;
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(left).toBeUndefined();
    for (const name of [...running.keys()]) await end(name);
    await idle;

    expect(left).toBe(3);
  });

  test('are idle at once where nothing was to do', async () => {
    expect(await controlled().lanes.idle()).toBe(0);
  });
});
