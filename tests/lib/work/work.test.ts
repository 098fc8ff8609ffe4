import { describe, expect, test } from '@jest/globals';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { always } from '../../../lib/store/items.ts';
import { keyOf } from '../../../lib/store/keys.ts';
import { deleting, updating, write } from '../../../lib/store/write.ts';
import { laneNames, laneOf, lanes, nextLook, owe, owesNothing, type Owing } from '../../../lib/work/lanes.ts';
import { send } from '../../../lib/work/send.ts';
import { type Outcome, worker } from '../../../lib/work/worker.ts';
import { eventOf } from '../../../tools/local/consume-queue.ts';
import { beforeNext, failCalls } from '../../support/intercept.ts';
import { lines } from '../../support/logged-lines.ts';
import { queue } from '../../support/queue.ts';
import { dueInMs, lane, lostAfterMs, messageOf, owing, run, stored } from '../../support/work.ts';
import { soon } from '../../support/registry.ts';

const { waitSeconds, moreSeconds, leaseSeconds } = lanes[lane];
const invocation = { getRemainingTimeInMillis: () => 30_000 };

describe('an item', () => {
  test.each(laneNames)('owes work in one lane, by a shard that stays: %s', (name) => {
    const key = { pk: 'TASK#b', sk: 'any' };
    const item = { ...key, ...owe(name, key, 'video', 0) };

    expect([laneOf(item), item.pending_since]).toEqual([name, '1970-01-01T00:00:00.000Z']);
    expect(item.pending_shard).toBe(name === 'poll' ? 'poll-video' : `${name}-${440 % 4}`);
    expect(laneOf({ ...key, pending_shard: `${name}-given-up` })).toBeUndefined();
    expect(laneOf(key)).toBeUndefined();
  });
});

test('a task is looked at as long after as it is old, from ten minutes to twelve hours, until seven days', () => {
  const at = '2026-11-28T00:00:00.000Z';
  const looks: number[] = [0];
  while (looks.length < 25) {
    const now = Date.parse(at) + Number(looks.at(-1)) * 60_000;
    looks.push((nextLook('poll', { pk: 'a', sk: 'b', at }, now) - Date.parse(at)) / 60_000);
  }

  expect(looks.slice(1, 11)).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2000, 2720]);
  expect(looks.slice(-2)).toEqual([7 * 24 * 60, 7 * 24 * 60]);
});

describe('a try', () => {
  test('is counted in the item before its work begins, and leaves a done item alone', async () => {
    const item = await owing();
    const [begun] = await run(async (it) => {
      await write(soon(), updating(it, owesNothing, always));
      return 'done';
    });

    expect(begun).toMatchObject({ ...keyOf(item), tries: 1 });
    expect(await stored(item)).toEqual({
      ...keyOf(item),
      group: 'ada',
      tries: 1,
      revision: 2,
      write_id: expect.any(String),
    });
    expect(queue.bodies).toEqual([]);
  });

  test('begins once for a message that comes twice, late, or to two at the same time', async () => {
    const item = await owing();
    await send(soon(), lane, [item]);
    const begun: Owing[] = [];
    const count = () =>
      run(async (it) => {
        begun.push(it);
        return 'done';
      });
    beforeNext(dynamodb, /^UpdateItemCommand$/, count);
    await count();
    await send(soon(), lane, [item]);
    await count();

    expect(begun).toHaveLength(1);
    expect(await stored(item)).toMatchObject({ tries: 1 });
  });

  test('does not begin if the item is gone, or owes nothing or other work', async () => {
    const [gone, ended, moved] = [await owing(), await owing(), await owing()];
    await write(soon(), deleting(keyOf(gone), [['pk', 'exists']]));
    await write(soon(), updating<Owing>(keyOf(ended), owesNothing, always));
    await write(soon(), updating<Owing>(keyOf(moved), owe('extract', moved, 'ada'), always));

    expect(await run('done')).toEqual([]);
    const superseded = { level: 'info', outcome: 'superseded' };
    expect(lines('work')).toMatchObject([superseded, superseded, superseded]);
  });

  test('that makes progress is not counted, and continues soon in its group', async () => {
    const item = await owing();
    await run('more');

    expect(await stored(item)).toMatchObject({ tries: 0 });
    expect([queue.waits, queue.bodies]).toEqual([[moreSeconds], [messageOf(item)]]);
  });

  test.each(waitSeconds.map((seconds, tries) => [tries, seconds] as const))(
    'that fails after %i others is repeated in %i s or a fifth less, up to 15 min by the queue',
    async (tries, seconds) => {
      const item = await owing({ tries });
      await run(tries % 2 === 0 ? { again: { last_error: 'no' } } : new Error('no'));

      const isQueued = seconds <= 900;
      const dueMs = (await dueInMs(item)) - (isQueued ? lostAfterMs : 0);
      expect([queue.waits.length, lines('not_queued')]).toEqual([isQueued ? 1 : 0, []]);
      for (const ms of [dueMs, ...queue.waits.map((wait) => wait * 1000)])
        expect([ms, ms >= seconds * 800 - 10 && ms <= seconds * 1000]).toEqual([ms, true]);
      expect(await stored(item)).toMatchObject({
        tries: tries + 1,
        last_error: expect.stringMatching(/no$/),
      });
      // What an alarm counts if it goes on.
      const failed = { level: 'error', lane, outcome: 'failed', tries: tries + 1 };
      expect(lines('work')).toMatchObject(tries % 2 === 0 ? [] : [failed]);
    },
  );

  test.each<[string, Partial<Owing>, Outcome]>([
    ['the last one fails', { tries: waitSeconds.length }, { again: { last_error: 'no' } }],
    ['no try can succeed', {}, { again: { last_error: 'no' }, isHopeless: true }],
    ['the last one died', { tries: waitSeconds.length + 1, last_error: 'no' }, 'done'],
  ])('is the last if %s: the item is listed as given up, with its reason', async (_, changes, outcome) => {
    const item = await owing(changes);
    const begun = await run(outcome, { result: 'lost' });

    expect(begun).toHaveLength(outcome === 'done' ? 0 : 1);
    const listed = { pending_shard: `${lane}-given-up`, pending_since: new Date().toISOString() };
    expect(await stored(item)).toMatchObject({ ...listed, last_error: 'no', result: 'lost' });
    expect(lines('work')).toMatchObject([{ lane, outcome: 'given_up', ...keyOf(item) }]);
    expect(queue.bodies).toEqual([]);
  });

  test.each([[lostAfterMs], [-1000], [86_400_000]])(
    'is repeated if it is killed, %i ms before the item was due',
    async (untilMs) => {
      const pending_since = new Date(Date.now() + untilMs).toISOString();
      const item = await owing({ pending_since });
      await run('done');

      expect(await dueInMs(item)).toBe(untilMs === lostAfterMs ? untilMs : leaseSeconds * 1000);
    },
  );
});

describe('a message', () => {
  test.each(['{', '{"pk":1,"sk":"a","tries":0}', '{"pk":"a","tries":0}'])(
    'that names no item is dropped, with a line: %s',
    async (body) => {
      queue.send(body);
      expect(await run('done')).toEqual([]);

      expect(queue.bodies).toEqual([]);
      expect(lines('work')).toMatchObject([{ level: 'error', outcome: 'unreadable' }]);
    },
  );

  test('comes again alone if its try could not begin', async () => {
    const items = await Promise.all([owing({}, false), owing({}, false), owing({}, false)]);
    const messages = items.map((item) => ({ id: item.pk, body: messageOf(item) }));
    const revive = failCalls(dynamodb, 'BatchGetItemCommand', new Error('gone'), items[1]?.pk);
    const handler = worker<Owing>(lane, { handle: async () => 'done' });
    const result = await handler(eventOf(messages), invocation);
    revive();

    expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: items[1]?.pk }] });
    expect(await Promise.all(items.map(async (item) => (await stored(item)).tries))).toEqual([1, 0, 1]);
    expect(lines('work')).toMatchObject([{ level: 'error', outcome: 'interrupted' }]);
  });
});
