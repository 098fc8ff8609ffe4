import { setTimeout as pause } from 'node:timers/promises';
import * as config from '../config.ts';
import { type Context, endOf, type EventInvocation } from '../context.ts';
import { log, withLogFields } from '../log.ts';
import { pollTask, type PolledTask } from '../providers/poll.ts';
import type { ProviderName } from '../config.ts';
import { notDue, requireNoneFailed, sweepDue, type SweepReport } from '../store/due.ts';
import { keyOf, taskHashOf } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { update } from '../store/write.ts';
import {
  givenUpAfterMs,
  hashPrefix,
  nextPollAt,
  readAttempt,
  type TaskRecord,
  taskRecord,
} from './records.ts';
import { findSecret } from './notification-urls.ts';
import { takeReport } from './store-report.ts';
import { isFinal } from './provider-notification.ts';

/*
 * Polls the provider for tasks without a final notification: it may be lost, or the provider may send none.
 * A task's record is in the index `pending` from its start until its end is known. The reply is processed
 * like a notification, so this function calls no receiver.
 */

/** `untold`: the provider was polled, but its reply had no state of the task. */
type Finding = 'ended' | 'told' | 'untold' | 'unpolled' | 'given_up';

/** For the visits that have begun when the time is up. */
const finishingMs = 15_000;
const visitsAtOnce = 10;

export async function pollProviders(_: unknown, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'pollProviders', function_request_id: invocation.awsRequestId };
  const context = { deadline: endOf(invocation) - 1000 };
  requireNoneFailed(await withLogFields(fields, () => pollDue(context)));
}

function pollDue(context: Context): Promise<SweepReport> {
  const until = context.deadline - finishingMs;
  const limiter = new RateLimiter(config.polls().POLLS_PER_SECOND);
  return sweepDue<TaskRecord, Finding>(context, {
    work: 'polls',
    period: { from: 0, to: Date.now() },
    order: 'oldest first',
    visitsAtOnce,
    hasTime: () => Date.now() < until,
    read: async (keys) =>
      (await get(context, ...keys.map(keyOf)))
        .flatMap((item) => taskRecord(item) ?? [])
        .filter(({ pending_since }) => pending_since !== undefined),
    visit: (task) => visit(context, task, limiter),
    unexpected: ['given_up'],
    quiet: ['told', 'unpolled'],
    nameOf: (task) => ({
      provider: task.provider,
      provider_task_id: task.task_id,
      task_hash: hashPrefix(taskHashOf(task)),
    }),
  });
}

async function visit(
  context: Context,
  task: TaskRecord,
  limiter: RateLimiter,
): Promise<Finding | 'unvisited'> {
  const attempt = await readAttempt(context, task);
  // Nothing was sent, or the provider rejected it.
  if (attempt === undefined || attempt.payment === 'rejected') return drop(context, task);
  const taskId = attempt.task_id ?? task.task_id;
  const isOver = Date.now() >= Date.parse(task.at) + givenUpAfterMs;
  if (isOver) return isEnded(task) ? postpone(context, task, 'unpolled') : giveUp(context, task, taskId);
  const { IMAGE_PROVIDER_TASK_PATH: image, VIDEO_PROVIDER_TASK_PATH: video } = config.polls();
  const path = { image, video }[task.provider];
  // Without an ID, the provider can't be polled: only a notification can report the task.
  if (path === undefined || taskId === undefined) return postpone(context, task, 'unpolled', true);
  if (!(await limiter.next(task.provider))) return 'unvisited';
  const taskPath = path.replace('{task_id}', encodeURIComponent(taskId));
  const answer = await pollTask(context, task.provider, taskPath);
  limiter.answered(task.provider, answer);
  if (answer.result !== 'told') return postpone(context, task, 'untold');
  const { body, contentType } = answer;
  const secret = findSecret(body, taskHashOf(task));
  const { provider } = task;
  const report = { provider, taskHash: taskHashOf(task), secret, taskId, body, contentType };
  const receipt = await takeReport(context, report);
  if (receipt.result === 'rejected') return postpone(context, task, 'untold');
  const { state } = receipt;
  // Its provider may run a task again that it called failed.
  return postpone(context, state && !isFinal(state) ? { ...task, state } : task, 'told');
}

/** Schedules the next poll; with `isLast`, at the task's expiry. After its end, one reply is enough. */
async function postpone(
  context: Context,
  task: TaskRecord,
  finding: Finding,
  isLast = false,
): Promise<Finding> {
  const startedAt = Date.parse(task.at);
  const pending_since = isLast
    ? new Date(startedAt + givenUpAfterMs).toISOString()
    : nextPollAt(startedAt, Date.now());
  const changes = isEnded(task) && finding !== 'untold' ? notDue : { pending_since };
  const { written } = await update<TaskRecord>(context, task, changes, [
    ['pending_since', '=', task.pending_since],
  ]);
  return written ? finding : 'ended';
}

async function drop(context: Context, task: TaskRecord): Promise<Finding> {
  await update<TaskRecord>(context, task, notDue, [['pending_since', '=', task.pending_since]]);
  return 'ended';
}

function isEnded({ state }: TaskRecord): boolean {
  return state !== undefined && isFinal(state);
}

const notHeardOf =
  'Nothing was heard of the end of this task for seven days, so this service no longer polls for it. The provider may have charged for it.';

/** It ends as failed, with the reason, and the ledger marks this as an assumption. */
async function giveUp(context: Context, task: TaskRecord, task_id: string | undefined): Promise<Finding> {
  const { provider } = task;
  const body = JSON.stringify({ task_id, state: 'failed', error: notHeardOf });
  const report = { provider, taskHash: taskHashOf(task), body, isGivenUp: true } as const;
  return (await takeReport(context, report)).result === 'written' ? 'given_up' : 'ended';
}

/** One or two failures may be specific to single tasks, which must not hold up the polls of others. */
const maxFailuresInARow = 3;

/** Limits the polls of each provider: so many a second, and none after it was busy or failed several times in a row. */
class RateLimiter {
  readonly #distanceMs: number;
  readonly #next = new Map<ProviderName, number>();
  readonly #failures = new Map<ProviderName, number>();
  readonly #stopped = new Set<ProviderName>();

  constructor(perSecond: number) {
    this.#distanceMs = 1000 / perSecond;
  }

  /** Waits until the provider may be polled; false if it may not be in this run. */
  async next(provider: ProviderName): Promise<boolean> {
    if (this.#stopped.has(provider)) return false;
    const now = Date.now();
    const allowedAt = Math.max(now, this.#next.get(provider) ?? now);
    this.#next.set(provider, allowedAt + this.#distanceMs);
    if (allowedAt > now) await pause(allowedAt - now);
    return !this.#stopped.has(provider);
  }

  answered(provider: ProviderName, answer: PolledTask): void {
    const failures = answer.result === 'failed' ? (this.#failures.get(provider) ?? 0) + 1 : 0;
    this.#failures.set(provider, failures);
    if (answer.result !== 'busy' && failures < maxFailuresInARow) return;
    if (this.#stopped.has(provider)) return;
    this.#stopped.add(provider);
    log('warn', 'provider_busy', { provider, provider_status: 'status' in answer ? answer.status : null });
  }
}
