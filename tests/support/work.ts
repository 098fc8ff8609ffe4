import { randomUUID } from 'node:crypto';
import { stopDate } from '@node-registry/testing/clock';
import { beforeEach } from '@jest/globals';
import { handler as handOverWork } from '../../functions/hand-over-work.ts';
import type { Context } from '../../lib/context.ts';
import { absent, always, typedRead } from '../../lib/store/items.ts';
import { putting, updating, write } from '../../lib/store/write.ts';
import { owe, type Owing } from '../../lib/work/lanes.ts';
import { keyOf } from '../../lib/store/keys.ts';
import { send } from '../../lib/work/send.ts';
import { type Outcome, worker } from '../../lib/work/worker.ts';
import { sampleEvent } from './invoke.ts';
import { emptyOutbox } from './notifications.ts';
import { runQueue } from './queue.ts';
import { storedItem, soon } from './registry.ts';

/** Items of no kind, which owe work in a lane that serves for all. */

export const lane = 'deliver';
export const lostAfterMs = 600_000;
beforeEach(async () => {
  stopDate();
  await emptyOutbox();
});

/** An item that owes work, with its message. */
export async function owing(changes: Partial<Owing> = {}, isSent = true): Promise<Owing> {
  const key = { pk: `TASK#${randomUUID()}`, sk: 'NOTIFICATION#0001' };
  const item: Owing = { ...key, ...owe(lane, key, 'ada'), ...changes };
  await write(soon(), putting(item, absent));
  if (isSent) await send(soon(), lane, [item]);
  return item;
}

export const stored = async (item: Owing) => typedRead<Owing>()((await storedItem(keyOf(item))) ?? {});
export const dueInMs = async (item: Owing) =>
  Date.parse(String((await stored(item)).pending_since)) - Date.now();
export const handOver = (remainingMs = 30_000) =>
  handOverWork(sampleEvent('hand-over-work'), { getRemainingTimeInMillis: () => remainingMs });
export const messageOf = ({ pk, sk, tries = 0 }: Owing) => JSON.stringify({ pk, sk, tries });

/** Works through the visible messages, and returns the tries that were begun. */
export async function run(outcome: Outcome | Error | ((item: Owing) => Promise<Outcome>), givenUp?: object) {
  const begun: Owing[] = [];
  const handle = async (_: unknown, item: Owing) => {
    begun.push(item);
    if (outcome instanceof Error) throw outcome;
    return typeof outcome === 'function' ? outcome(item) : outcome;
  };
  const giveUp = async (context: Context, item: Owing, changes: object) =>
    write(context, updating(item, { ...changes, ...givenUp }, always));
  await runQueue(worker<Owing>(lane, { handle, ...(givenUp && { giveUp }) }));
  return begun;
}
