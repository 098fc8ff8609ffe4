import { describe, expect, test } from '@jest/globals';
import { handler as writeIndex } from '../../functions/write-index.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { toAttributes } from '../../lib/store/items.ts';
import { heartbeatKey } from '../../lib/store/keys.ts';
import type { Owing } from '../../lib/work/lanes.ts';
import { failCalls } from '../support/intercept.ts';
import { storedItem } from '../support/registry.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { queue, queueOf, runQueue } from '../support/queue.ts';
import { dueInMs, handOver, lane, lostAfterMs, messageOf, owing, run, stored } from '../support/work.ts';

describe('the hand-over', () => {
  const due = (changes: Partial<Owing> = {}) =>
    owing({ pending_since: new Date(Date.now() - 90_000).toISOString(), ...changes }, false);

  test('queues all that is due once, in its group, and looks again in ten minutes', async () => {
    const items = await Promise.all(Array.from({ length: 25 }, () => due({ pending_shard: `${lane}-0` })));
    await due({ pending_since: new Date(Date.now() + 1).toISOString() });
    loggedLines.length = 0;
    await handOver();
    await handOver();

    expect(queue.bodies.sort()).toEqual(items.map(messageOf).sort());
    expect(await dueInMs(items[0] as Owing)).toBe(lostAfterMs);
    // No decision on the item fails because of it.
    expect(await stored(items[0] as Owing)).not.toHaveProperty('revision');
    const common = { level: 'info', event: 'hand_over', function: 'handOverWork', lane, failed: 0 };
    expect(lines('hand_over').filter((line) => line.lane === lane)).toEqual([
      { ...common, due: 25, handed: 25, oldest_owed_ms: 90_000 },
      { ...common, due: 0, handed: 0, oldest_owed_ms: 0 },
    ]);
    const groups = new Set<unknown>();
    await runQueue(async ({ Records }) => {
      for (const { attributes } of Records) groups.add(attributes.MessageGroupId);
      return undefined;
    });
    expect([...groups]).toEqual(['ada']);
  });

  test('leaves what it could not queue due, so its age grows, and fails for its alarm', async () => {
    const item = await due();
    queue.faults.isDown = true;
    await expect(handOver()).rejects.toThrow('1 steps of the run failed.');
    queue.faults.isDown = false;
    expect(await dueInMs(item)).toBe(-90_000);
    await handOver();

    expect(queue.bodies).toEqual([messageOf(item)]);
  });

  test('spreads the polls of a provider over the minute, and leaves what is too much to the next', async () => {
    await Promise.all(Array.from({ length: 301 }, () => due({ pending_shard: 'poll-video' })));
    await handOver();
    // A batch whose answer was late is sent again.
    const seen = new Set<string>();
    const arrived = async (afterMs: number) => {
      const before = seen.size;
      queueOf('poll').advance(afterMs);
      await runQueue(async ({ Records }) => {
        for (const { body } of Records) seen.add(body);
        return undefined;
      }, 'poll');
      return seen.size - before;
    };

    expect([await arrived(0), await arrived(2000), await arrived(58_000)]).toEqual([10, 10, 280]);
    await handOver();
    expect(await arrived(0)).toBe(1);
  }, 60_000);

  test('begins no page that it could not end', async () => {
    await due();
    await handOver(5500);

    expect(queue.bodies).toEqual([]);
  });

  test('that meets another run, or dies after a message, queues it twice for one try', async () => {
    const item = await due();
    const revive = failCalls(dynamodb, 'UpdateItemCommand', new Error('gone'));
    await expect(handOver()).rejects.toThrow('1 steps');
    revive();
    await handOver();

    expect(queue.bodies).toEqual([messageOf(item), messageOf(item)]);
    expect(await run('done')).toHaveLength(1);
  });

  test('writes a heartbeat, of which the index leaves a line with its lag', async () => {
    await handOver();
    const written = await storedItem(heartbeatKey);
    const Records = [streamRecord(toAttributes(heartbeatKey), 1)].flatMap((record) => record ?? []);
    loggedLines.length = 0;
    const invocation = { getRemainingTimeInMillis: () => 20_000 };
    expect(await writeIndex({ Records }, invocation)).toEqual({ batchItemFailures: [] });

    expect(written?.at).toBe(new Date().toISOString());
    expect(lines()).toMatchObject([{ event: 'index', records: 1, nodes: 0, lag_ms: 0 }]);
  });
});
