import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { capacityTable } from '../tools/capacity/capacity-table.ts';
import { type Counted, countCalls } from '../tools/capacity/counted-calls.ts';
import { startCountedStores } from '../tools/capacity/counted-stores.ts';
import type { Count } from '../tools/capacity/journal.ts';

jest.setTimeout(60_000);

/** What each call asks of the stores, counted on the wire and held to the goals. */

const stores = await startCountedStores();
// It loads the store's client, which finds the counted stores from now on.
await import('./support/patience.ts');
let counted: Counted[];

beforeAll(async () => {
  counted = await countCalls(stores);
});

afterAll(() => stores.stop());

function countsOf(name: string): Count[] {
  const found = counted.find((each) => each.name === name);
  if (!found) throw new Error(`"${name}" was not counted.`);
  return found.counts;
}

/** The units of each kind of record, by the beginning of its key. */
function unitsByKind({ written }: Count): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { target, units } of written) {
    const [kind = ''] = target.partition.split('#');
    sums[kind] = (sums[kind] ?? 0) + units;
  }
  return sums;
}

const paid = ['relight image', 'text to video', 'extend video', 'multiframe video'];

describe('a paid call', () => {
  test.each(paid)('makes two round trips before sending and two after, without a key: %s', (name) => {
    for (const { rounds } of countsOf(name)) expect(rounds).toEqual({ before: 2, after: 2 });
  });

  test.each(paid)('makes one more round trip before sending with a key: %s', (name) => {
    for (const { rounds } of countsOf(`${name}, with a key`)) expect(rounds).toEqual({ before: 3, after: 2 });
  });

  test.each(paid)('writes four units, one for its ticket, and three for a key: %s', (name) => {
    const own = { CALLER: 2, USAGE: 2, TICKET: 1 };

    for (const count of countsOf(name)) {
      expect(unitsByKind(count)).toEqual(own);
      expect(count).toMatchObject({ reads: 0, writes: 5, indexWrites: 0 });
    }
    for (const count of countsOf(`${name}, with a key`)) {
      expect(unitsByKind(count)).toEqual({ ...own, IDEMPOTENCY: 3 });
      expect(count).toMatchObject({ reads: 0, writes: 8, indexWrites: 0 });
    }
  });
});

describe('a registry call', () => {
  test.each(['publish a version', 'publish a new node', 'publish while 97 to 99 others wait'])(
    'writes ten units at most in two round trips: %s',
    (name) => {
      for (const { writes, rounds } of countsOf(name)) {
        expect(writes).toBeLessThanOrEqual(10);
        expect(rounds.before).toBe(2);
      }
    },
  );

  test.each([
    ['update node', 2],
    ['update host node', 2],
    ['a replay by its key', 1],
    ['a state received', 2],
    ['the last state received', 2],
  ])('makes only so many round trips: %s, %i', (name, before) => {
    for (const { rounds } of countsOf(name)) expect(rounds).toEqual({ before, after: 0 });
  });

  test('writes one unit for a host node', () => {
    for (const { writes } of countsOf('update host node')) expect(writes).toBe(1);
  });

  test('reads a hundred versions in one wave, at half a unit each', () => {
    for (const count of countsOf('bulk of 100 versions'))
      expect(count).toMatchObject({ reads: 50, writes: 0, rounds: { before: 1, after: 0 } });
  });
});

test('docs/capacity.md has the table that npm run capacity writes', () => {
  const document = readFileSync('docs/capacity.md', 'utf8');

  expect(document).toContain(capacityTable(counted));
});
