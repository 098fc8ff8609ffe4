import assert from 'node:assert/strict';
import { count } from 'testing/property-runs';
import { handler } from '../../functions/deliver-notifications.ts';
import { readText } from '../../lib/bucket/text-objects.ts';
import { type NotificationRecord, type TaskRecord, statusKey } from '../../lib/notifications/records.ts';
import type { TaskState } from '../../lib/schemas/video.ts';
import type { Path } from './notified.ts';
import { forbiddenPath, ranks } from './notified-calls.ts';
import { makeDue } from './notifications.ts';
import { queue, runQueue } from './queue.ts';
import { isSigned, type Received } from './receiver.ts';
import { setFields } from './registry.ts';
import { notificationsOf, storedTask } from './relay.ts';
import { planOf, type Strike, underPlan } from './wire-faults.ts';

/** A task that a provider was asked for, and the states that it said of it. */
export interface Followed extends Path {
  caller: string;
  address: string | undefined;
  /** By the number of the call. */
  said: Map<number, TaskState>;
}

/** The stored records of a task. */
export interface Stored {
  task: TaskRecord;
  notifications: NotificationRecord[];
}

export async function stored({ ticket }: Path): Promise<Stored> {
  const task = await storedTask(ticket);
  assert.ok(task, 'a task that the provider knows is stored');
  return { task, notifications: await notificationsOf(ticket) };
}

const rankOf = (state: TaskState | undefined) => (state === undefined ? -1 : ranks[state]);

/** All calls of a step were taken, so the task is where the last state of them has it, by one notification each. */
export function verifyStep(before: Stored, after: Stored, said: readonly TaskState[]): void {
  const from = rankOf(before.task.state);
  const forward = [...new Set(said.map(rankOf))].filter((rank) => rank > from);
  const isKept = before.notifications.every(({ body }, index) => after.notifications[index]?.body === body);
  const added = after.notifications.slice(before.notifications.length).map(({ state }) => rankOf(state));
  assert.ok(isKept, 'a stored notification has changed');
  assert.equal(rankOf(after.task.state), Math.max(from, ...forward), 'the state of the task');
  assert.ok(added.length > 0 || forward.length === 0, 'a change without a notification');
  assert.ok(
    added.every((rank) => forward.includes(rank)),
    'a notification without a change',
  );
  // Where one state came before the next, both lead to a notification; together, the later may overtake.
  if (forward.length === 1) assert.equal(added.length, 1);
}

export function verifyNotifications(
  task: TaskRecord,
  notifications: readonly NotificationRecord[],
  { said, address: wanted }: Followed,
): void {
  const last = notifications.at(-1);
  assert.equal(task.sequence, notifications.length);
  assert.equal(task.state, last?.state);
  assert.equal(new Set(notifications.map(({ id }) => id)).size, notifications.length, 'an id twice');
  for (const [index, { sk, body, state, address }] of notifications.entries()) {
    assert.equal(sk, `NOTIFICATION#000${index + 1}`);
    assert.equal(said.get(JSON.parse(body).number), state, 'a notification that the provider did not send');
    assert.equal(address, wanted);
    const earlier = notifications[index - 1];
    assert.ok(!earlier || rankOf(earlier.state) < rankOf(state), 'a state moved back');
  }
}

/** The public status is the last state of the task, whatever order its notifications were delivered in. */
export async function verifyStatus(place: Path): Promise<void> {
  const { task } = await stored(place);
  const key = statusKey(place.ticket);
  const shown = await readText({ deadline: Date.now() + 60_000 }, key);
  assert.equal(shown && JSON.parse(shown.text).state, task.state, 'the status that is shown');
}

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
