import { describe, expect, test } from '@jest/globals';
import { Lanes } from '../../../lib/notifications/lanes.ts';

const later = () => Date.now() + 60_000;

/** Lanes with jobs that end when the test says so. */
function controlled(until = later()) {
  const lanes = new Lanes(until);
  const running = new Map<string, () => void>();
  const started: string[] = [];
  const add = (name: string, { caller = name, host = name, isRepeat = false } = {}) =>
    lanes.add({
      ...{ caller, host, isRepeat },
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
  test('start two jobs of a caller to a host, and the next when one of them ends, in their order', async () => {
    const { add, end, started } = controlled();
    for (const name of names('a', 4)) add(name, { caller: 'a', host: 'a' });
    expect(started).toEqual(['a0', 'a1']);

    await end('a1');
    expect(started).toEqual(['a0', 'a1', 'a2']);
  });

  test('start 32 jobs at once, and no more', async () => {
    const { add, end, started } = controlled();
    for (const name of names('a', 40)) add(name);
    expect(started).toHaveLength(32);

    await end('a5');
    expect(started).toHaveLength(33);
  });

  test('start eight jobs of a caller at once, however many hosts it names', async () => {
    const { add, end, started } = controlled();
    for (const name of names('a', 40)) add(name, { caller: 'a' });
    expect(started).toHaveLength(8);
    add('b0');
    expect(started.at(-1)).toBe('b0');

    await end('a5');
    expect(started.slice(8)).toEqual(['b0', 'a8']);
  });

  test('start eight jobs to a host at once, however many callers name it', async () => {
    const { add, end, started } = controlled();
    for (const name of names('a', 40)) add(name, { host: 'a' });
    expect(started).toHaveLength(8);
    add('b0');
    expect(started.at(-1)).toBe('b0');

    await end('a5');
    expect(started.slice(8)).toEqual(['b0', 'a8']);
  });

  test('let callers take turns, so that a caller of many hosts does not take every place that becomes free', async () => {
    const { add, end, started } = controlled();
    for (const name of names('full', 32)) add(name);
    for (const name of names('a', 5)) add(name, { caller: 'a' });
    for (const name of names('b', 5)) add(name, { caller: 'b' });
    for (const name of names('full', 4)) await end(name);

    expect(started.slice(32)).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  test('let the hosts of a caller take turns, so that a long lane does not take every place of the caller', async () => {
    const { add, end, started } = controlled();
    for (const name of names('full', 32)) add(name);
    for (const name of names('a', 5)) add(name, { caller: 'one', host: 'a' });
    for (const name of names('b', 5)) add(name, { caller: 'one', host: 'b' });
    for (const name of names('full', 4)) await end(name);

    expect(started.slice(32)).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  test('keep half of the places for what is tried for the first time', async () => {
    const { add, end, started } = controlled();
    for (const name of names('again', 40)) add(name, { isRepeat: true });
    expect(started).toHaveLength(16);

    for (const name of names('new', 20)) add(name);
    expect(started.filter((name) => name.startsWith('new'))).toHaveLength(16);
    await end('again0');
    expect(started.at(-1)).toBe('new16');
  });

  test('keep half of the places of a caller for what it has tried for the first time', async () => {
    const { add, end, started } = controlled();
    for (const name of names('again', 10)) add(name, { caller: 'a', isRepeat: true });
    expect(started).toHaveLength(4);

    for (const name of names('new', 10)) add(name, { caller: 'a' });
    expect(started.slice(4)).toEqual(names('new', 4));
    await end('again0');
    expect(started.at(-1)).toBe('new4');
  });

  test('start everything in the end, each job once', async () => {
    const { lanes, add, end, started, running } = controlled();
    for (let index = 0; index < 300; index += 1) {
      const [caller, host] = [`caller${index % 7}`, `host${index % 11}`];
      add(`job${index}`, { caller, host, isRepeat: index % 3 === 0 });
    }
    for (let round = 0; round < 300 && running.size > 0; round += 1) await end([...running.keys()][0] ?? '');

    expect(await lanes.idle()).toBe(0);
    expect(started.toSorted()).toEqual(names('job', 300).toSorted());
  });

  test('are idle when all that was started has ended, and say how many jobs are left', async () => {
    const { lanes, add, end, running } = controlled(Date.now() + 50);
    for (const name of names('a', 5)) add(name, { caller: 'a', host: 'a' });
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
