import assert from 'node:assert/strict';
import { type NotificationRecord, type TaskRecord, statusKey } from '../../lib/notifications/records.ts';
import { readText } from '../../lib/bucket/text-objects.ts';
import type { TaskState } from '../../lib/schemas/video.ts';
import { type Place, ranks } from './notified-calls.ts';
import { notificationsOf, storedTask } from './relay.ts';

/** A task that a provider was asked for, and the states that it said of it. */
export interface Followed extends Place {
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

export async function stored({ ticket }: Place): Promise<Stored> {
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
export async function verifyStatus(place: Place): Promise<void> {
  const { task } = await stored(place);
  const key = statusKey(place.ticket);
  const shown = await readText({ deadline: Date.now() + 60_000 }, key);
  assert.equal(shown && JSON.parse(shown.text).state, task.state, 'the status that is shown');
}
