import assert from 'node:assert/strict';
import { handler } from '../../functions/deliver-notifications.ts';
import type { NotificationRecord } from '../../lib/notifications/records.ts';
import { queue, runQueue } from './queue.ts';
import { forbiddenPath } from './notified-calls.ts';
import { makeDue } from './notifications.ts';
import { count } from 'testing/property-runs';
import { setFields } from './registry.ts';
import { isSigned, type Received } from './receiver.ts';
import { planOf, type Strike, underPlan } from './wire-faults.ts';

type Read = () => Promise<NotificationRecord[]>;

/** Enough for every wrong answer of a script and every fault of the plans, with some to spare. */
const maxRuns = 16;
const scheduled = { source: 'aws.events' } as Parameters<typeof handler>[0];
const context = { getRemainingTimeInMillis: () => 60_000 };

/** Longer than the queue hides or delays a message. */
const waitMs = 900_000;

/**
 * Delivers until nothing waits any more, with a fault plan for each of the first runs: what the queue has, in any order
 * and some of it twice, and then each time what the schedule hands over, as if the next attempt had become due.
 */
export async function deliver(
  read: Read,
  plans: readonly (readonly Strike[])[],
): Promise<NotificationRecord[]> {
  Object.assign(queue.faults, { duplicates: 0.2, isShuffled: true });
  await runOnce(plans[0] ?? [], () => runQueue(handler));
  for (let run = 1; run < maxRuns; run += 1) {
    const waiting = (await read()).filter(({ result }) => result === 'pending');
    if (waiting.length === 0) return read();
    await Promise.all(waiting.map((record) => makeDue(record)));
    await Promise.all(waiting.map(endRequest));
    queue.skip(waitMs);
    await runOnce(plans[run] ?? [], async () => {
      await handler(scheduled, context);
      await runQueue(handler);
    });
  }
  throw new Error('a notification waits for ever');
}

/** As if a minute had passed since: a request whose end was not recorded is over by then. */
async function endRequest({ pk }: NotificationRecord): Promise<void> {
  await setFields({ pk, sk: 'TASK' }, { at: new Date(Date.now() - 60_000).toISOString() });
}

/** An invocation that a fault interrupts may reject, so that an alarm fires; one without a fault never does. */
async function runOnce(strikes: readonly Strike[], work: () => Promise<unknown>): Promise<void> {
  const plan = planOf(strikes);
  const outcome = await underPlan(plan, work).then(
    () => 'done',
    (error: unknown) => {
      if (plan.struck.length === 0) throw error;
      return 'interrupted';
    },
  );
  count(`delivery runs ${outcome}`);
  for (const kind of plan.struck) count(`faults of deliveries: ${kind}`);
}

/** Every notification has arrived, signed and with one id, and nothing else has. */
export function verifyArrivals(
  notifications: readonly NotificationRecord[],
  arrivals: readonly Received[],
): void {
  const byId = new Map(notifications.map((notification) => [notification.id, notification]));
  for (const arrival of arrivals) {
    const notification = byId.get(String(arrival.headers['webhook-id']));
    assert.notEqual(arrival.path, forbiddenPath, 'a redirect was followed');
    assert.ok(notification, 'something arrived that is no notification');
    assert.equal(arrival.body, notification.body, 'another body arrived');
    assert.equal(new URL(String(notification.address)).pathname, arrival.path, 'it arrived somewhere else');
    assert.ok(isSigned(arrival), 'a notification is not signed');
  }
  const arrived = new Set(arrivals.map(({ headers }) => headers['webhook-id']));
  for (const { id, result, attempts, address } of notifications) {
    count(`notifications ${result}`);
    if (address === undefined) {
      assert.equal(result, 'shown', 'a notification without a receiver');
      continue;
    }
    assert.ok(arrived.has(id), `a notification did not arrive, and is ${result} after ${attempts} attempts`);
    assert.ok(result === 'delivered' || result === 'gone', `a notification is ${result}`);
  }
  for (const _ of arrivals) count('arrivals');
}
