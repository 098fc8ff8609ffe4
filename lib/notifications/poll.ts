import * as config from '../config.ts';
import type { ProviderName } from '../config.ts';
import type { Context } from '../context.ts';
import { log, note } from '../log.ts';
import { type PolledTask, pollTask } from '../providers/poll.ts';
import type { Changes } from '../store/items.ts';
import { taskHashOf } from '../store/keys.ts';
import { update } from '../store/write.ts';
import { owesNothing, timeText } from '../work/owe.ts';
import { type Outcome, worker } from '../work/worker.ts';
import { findSecret } from './notification-urls.ts';
import { isFinal } from './provider-notification.ts';
import { givenUpAfterMs, hashPrefix, readAttempt, type TaskRecord } from './records.ts';
import { type Receipt, takeReport } from './store-report.ts';

/*
 * Polls the provider for tasks without a final notification: it may be lost, or the provider may send none.
 * A task owes a poll from its start until its end is known. The reply is processed like a notification, so this
 * function calls no receiver.
 */
export const pollProviders = worker<TaskRecord>('poll', { handle: poll });

async function poll(context: Context, task: TaskRecord): Promise<Outcome> {
  const { provider } = task;
  const attempt = await readAttempt(context, task);
  const taskId = attempt?.task_id ?? task.task_id;
  note({ provider, provider_task_id: taskId, task_hash: hashPrefix(taskHashOf(task)) });
  // Nothing was sent, or the provider rejected it.
  if (attempt === undefined || attempt.payment === 'rejected') return stop(context, task);
  const isEnded = isFinal(task.state);
  const lastAt = Date.parse(task.at) + givenUpAfterMs;
  if (Date.now() >= lastAt) return isEnded ? stop(context, task) : giveUp(context, task, taskId);
  const { IMAGE_PROVIDER_TASK_PATH: image, VIDEO_PROVIDER_TASK_PATH: video } = config.polls();
  const path = { image, video }[provider];
  // Without an ID, the provider can't be polled: only a notification can report the task.
  if (path === undefined || taskId === undefined)
    return isEnded ? stop(context, task) : move(context, task, { pending_since: timeText(lastAt) });
  if (isPaused(provider)) return 'again';
  const answer = await pollTask(context, provider, path.replace('{task_id}', encodeURIComponent(taskId)));
  pauseAfter(provider, answer);
  const receipt = answer.result === 'told' && (await takeAnswer(context, task, taskId, answer));
  if (!receipt || receipt.result === 'rejected') {
    log('info', 'poll', { outcome: 'untold' });
    return 'again';
  }
  // After the end of a task, one reply is enough, unless its provider runs a task again that it called failed.
  const isRunning = receipt.state !== undefined && !isFinal(receipt.state);
  return isEnded && !isRunning ? stop(context, task) : 'again';
}

function takeAnswer(
  context: Context,
  task: TaskRecord,
  taskId: string,
  { body, contentType }: Extract<PolledTask, { result: 'told' }>,
): Promise<Receipt> {
  const taskHash = taskHashOf(task);
  const secret = findSecret(body, taskHash);
  return takeReport(context, { provider: task.provider, taskHash, secret, taskId, body, contentType }, task);
}

async function move(context: Context, task: TaskRecord, changes: Changes<TaskRecord>): Promise<Outcome> {
  const asRead = [['pending_since', '=', task.pending_since]] as const;
  return (await update<TaskRecord>(context, task, changes, asRead)).written ? 'done' : 'superseded';
}

function stop(context: Context, task: TaskRecord): Promise<Outcome> {
  return move(context, task, owesNothing);
}

const notHeardOf =
  'Nothing was heard of the end of this task for seven days, so this service no longer polls for it. The provider may have charged for it.';

/** It ends as failed, with the reason, and the ledger marks this as an assumption. */
async function giveUp(context: Context, task: TaskRecord, task_id: string | undefined): Promise<Outcome> {
  const { provider } = task;
  const body = JSON.stringify({ task_id, state: 'failed', error: notHeardOf });
  const report = { provider, taskHash: taskHashOf(task), body, isGivenUp: true } as const;
  const { result } = await takeReport(context, report, task);
  if (result === 'written') log('warn', 'work', { lane: 'poll', outcome: 'given_up' });
  return 'done';
}

/** One or two failures may be of single tasks, which must not hold up the polls of others. */
const maxFailuresInARow = 3;
const pauseMs = 60_000;

/** How many polls in a row have failed, and when the last one did. */
const failures = new Map<ProviderName, { inARow: number; at: number }>();
const pausedUntil = new Map<ProviderName, number>();

/** A provider that was busy, or failed several times in a row, is left alone for a minute. Tasks wait for their next poll. */
function pauseAfter(provider: ProviderName, answer: PolledTask): void {
  const now = Date.now();
  const last = failures.get(provider);
  const before = last && now < last.at + pauseMs ? last.inARow : 0;
  const inARow = answer.result === 'failed' ? before + 1 : 0;
  failures.set(provider, { inARow, at: now });
  if (answer.result !== 'busy' && inARow < maxFailuresInARow) return;
  failures.delete(provider);
  pausedUntil.set(provider, now + pauseMs);
  log('warn', 'provider_busy', { provider, provider_status: 'status' in answer ? answer.status : null });
}

function isPaused(provider: ProviderName): boolean {
  return Date.now() < (pausedUntil.get(provider) ?? 0);
}
