import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { note, withLogFields } from '../../../lib/log.ts';
import {
  dueShard,
  dueShards,
  dueWork,
  notDue,
  requireNoneFailed,
  type Sweep,
  sweepDue,
} from '../../../lib/store/due.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { absent, present } from '../../../lib/store/items.ts';
import type { Key } from '../../../lib/store/keys.ts';
import { put, update } from '../../../lib/store/write.ts';
import { intercept } from '../../support/intercept.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import '../../support/patience.ts';

jest.setTimeout(60_000);

interface Task extends Key {
  pending_shard: string;
  pending_since: string;
}

const soon = () => ({ deadline: Date.now() + 60_000 });
const minute = Date.parse('2020-01-01T00:00:00.000Z');
const at = (second: number) => new Date(minute + second * 1000).toISOString();

/** A record that has been due since a second of the minute; by default in the shard of its number's last digit. */
async function addDue(number: number, second: number, digit = number.toString(16).slice(-1)): Promise<Task> {
  const due = { pending_shard: dueShard('uploads', digit), pending_since: at(second) };
  const task = { pk: `DUE#${number}`, sk: 'TASK', ...due };
  await put<Task>(soon(), task, { anyOf: [[['pk', 'absent']], [['pk', 'exists']]] });
  return task;
}

type Tasks = Sweep<Key & { since: string }, 'done' | 'nothing'>;

/** Sweeps that minute; returns the order of the visits and the report. */
async function sweep(changes: Partial<Tasks> = {}) {
  const visited: string[] = [];
  const report = await sweepDue<Key & { since: string }, 'done' | 'nothing'>(soon(), {
    work: 'uploads',
    period: { from: minute, to: minute + 59_000 },
    order: 'oldest first',
    visitsAtOnce: 1,
    hasTime: () => true,
    read: async (keys) => keys,
    visit: async (entry) => {
      visited.push(entry.pk);
      await update<Task>(soon(), entry, notDue, present);
      return 'done';
    },
    unexpected: ['done'],
    nameOf: ({ pk }) => ({ pk }),
    ...changes,
  });
  return { visited, report };
}

beforeEach(async () => {
  // What another test has left due.
  await sweep();
  loggedLines.length = 0;
});

describe('dueWork', () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ pending_shard: 'a' }, 'uploads'],
    [{ pending_shard: 'a' }, 'uploads'],
    [{ pending_shard: 'deliver-0' }, undefined],
  ])('reads %j as the work %s', (record, work) => {
    expect(dueWork(record)).toBe(work);
  });

  test.each([['uploads', 16, '0', 'f']] as const)(
    'names the shards of %s, which stay where records are',
    (work, count, first, last) => {
      const shards = dueShards(work);

      expect([shards.length, shards[0], shards.at(-1)]).toEqual([count, first, last]);
      expect([dueShard(work, '000'), dueShard(work, 'ff0')]).toEqual([first, last]);
    },
  );
});

describe('a sweep', () => {
  test('visits every shard once, and leaves what lies outside its period and other work', async () => {
    const due = await Promise.all(Array.from({ length: 16 }, (_, number) => addDue(number, 1)));
    await addDue(100, -1);
    await addDue(101, 60);
    await put<Task>(
      soon(),
      { pk: 'DUE#other', sk: 'TASK', pending_shard: 'deliver-0', pending_since: at(1) },
      absent,
    );
    const { visited, report } = await sweep();

    expect([...visited].sort()).toEqual(due.map(({ pk }) => pk).sort());
    expect(report).toEqual({
      findings: { done: 16 },
      visited: 16,
      failed: 0,
      unvisited: 0,
      unread_shards: 0,
    });
    expect((await sweep()).visited).toEqual([]);
  });

  test('begins with a shard chosen by chance', async () => {
    for (const number of [0, 1, 8, 15]) await addDue(number, 1);
    jest.spyOn(Math, 'random').mockReturnValue(8 / 16);
    const { visited } = await sweep();

    expect(visited).toEqual(['DUE#8', 'DUE#15', 'DUE#0', 'DUE#1']);
  });

  test.each([
    ['oldest first', ['DUE#300', 'DUE#301', 'DUE#302']],
    ['newest first', ['DUE#302', 'DUE#301', 'DUE#300']],
  ] as const)('visits a shard %s', async (order, expected) => {
    for (const number of [301, 300, 302]) await addDue(number, number - 299, 'a');

    expect((await sweep({ order })).visited).toEqual(expected);
  });

  test('holds a page of each shard at most, and takes the shards in turn', async () => {
    const numbers = Array.from({ length: 250 }, (_, index) => 1000 + index);
    await Promise.all(
      numbers.map((number) => addDue(number, 1 + (number % 50), number % 5 === 0 ? '1' : '0')),
    );
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const pages: number[] = [];
    const { visited, report } = await sweep({
      visitsAtOnce: 8,
      read: async (keys) => {
        pages.push(keys.length);
        return keys;
      },
    });

    expect(pages).toEqual([100, 50, 100]);
    expect(new Set(visited).size).toBe(250);
    expect(report).toMatchObject({ visited: 250, unread_shards: 0 });
  });

  test("continues after an error, logs it with the entry's name, and counts it as a finding", async () => {
    for (const number of [0, 1]) await addDue(number, 1);
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { report } = await sweep({
      visit: async ({ pk }) => {
        if (pk === 'DUE#0') throw new Error('S3 is down.');
        return 'nothing';
      },
      quiet: ['nothing'],
    });
    await withLogFields({ function: 'f' }, () =>
      sweep({
        visit: async (entry) => {
          note({ noted: entry.pk });
          await update<Task>(soon(), entry, notDue, present);
          return 'done';
        },
      }),
    );

    expect(() => requireNoneFailed(report)).toThrow('1 of 2 visits of the sweep failed.');
    const rest = { visited: 2, unvisited: 0, unread_shards: 0, sweep_unvisited: 0 };
    const base = { level: 'info', event: 'sweep', sweep: 'uploads' };
    const swept = { ...base, event: 'swept', function: 'f', finding: 'done' };
    expect(lines()).toEqual([
      {
        ...{ level: 'error', event: 'swept', sweep: 'uploads', pk: 'DUE#0', finding: 'error' },
        ...{ causes: ['Error: S3 is down.'], stack: expect.any(String) },
      },
      { ...base, ...rest, findings: { error: 1, nothing: 1 }, failed: 1, sweep_findings: 1 },
      { ...swept, pk: 'DUE#0' },
      { ...swept, pk: 'DUE#1' },
      { ...base, ...rest, function: 'f', findings: { done: 2 }, failed: 0, sweep_findings: 2 },
    ]);
  });

  test('reports the work left when its time is up, in its page and in unread shards', async () => {
    for (const number of [0, 16, 32, 1]) await addDue(number, 1, number.toString(16).slice(-1));
    jest.spyOn(Math, 'random').mockReturnValue(0);
    let visits = 0;
    const { report } = await sweep({
      hasTime: () => visits < 2,
      visit: async () => {
        visits += 1;
        return 'done';
      },
    });
    await sweep();

    const findings = { done: 2, unvisited: 1 };
    expect(report).toEqual({ findings, visited: 2, failed: 0, unvisited: 1, unread_shards: 15 });
    const [line] = lines().filter(({ event }) => event === 'sweep');
    expect(line).toMatchObject({ sweep_findings: 2, sweep_unvisited: 16 });
  });

  test('visits the other pages while one visit takes long', async () => {
    for (const number of [0, 1]) await addDue(number, 1);
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const other = Promise.withResolvers<void>();
    const { report } = await sweep({
      visitsAtOnce: 2,
      visit: async (entry) => {
        if (entry.pk === 'DUE#1') other.resolve();
        await other.promise;
        await update<Task>(soon(), entry, notDue, present);
        return 'done';
      },
    });

    expect(report).toMatchObject({ findings: { done: 2 }, unvisited: 0 });
  });

  test('leaves to the next run what fails once its time is up', async () => {
    await addDue(0, 1);
    let isOver = false;
    const { report } = await sweep({
      hasTime: () => !isOver,
      visit: async () => {
        isOver = true;
        throw new Error('There was no time to repeat a call.');
      },
    });

    expect(report).toMatchObject({ findings: { unvisited: 1 }, visited: 0, failed: 0, unvisited: 1 });
    expect(lines().map(({ event }) => event)).toEqual(['sweep']);
  });

  test('fails with unavailable when the index does not answer, and says that no shard was read', async () => {
    intercept(dynamodb, async () => {
      throw Object.assign(new Error('late'), { name: 'TimeoutError' });
    });

    const reason = 'DynamoDB Query: unanswered';
    await expect(sweep()).rejects.toMatchObject({ code: 'unavailable', reason });
    expect(lines()).toMatchObject([{ event: 'sweep', visited: 0, sweep_unvisited: 16 }]);
  });
});
