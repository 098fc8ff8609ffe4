import * as config from '../config.ts';
import type { ProviderName } from '../config.ts';
import type { Context } from '../context.ts';
import { log, note } from '../log.ts';
import { pollTask } from '../providers/poll.ts';
import type { Changes } from '../store/items.ts';
import { taskHashOf } from '../store/keys.ts';
import { updating, write } from '../store/write.ts';
import { owesNothing, timeText } from '../work/lanes.ts';
import { type Outcome, worker } from '../work/worker.ts';
import { findSecret } from './notification-urls.ts';
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
  if (attempt === undefined || attempt.payment === 'rejected') return move(context, task, owesNothing);
  const lastAt = Date.parse(task.at) + givenUpAfterMs;
  if (Date.now() >= lastAt) return giveUp(context, task, taskId);
  const { IMAGE_PROVIDER_TASK_PATH: image, VIDEO_PROVIDER_TASK_PATH: video } = config.polls();
  const path = { image, video }[provider];
  // Without an ID, the provider can't be polled: only a notification can report the task.
  if (path === undefined || taskId === undefined)
    return move(context, task, { pending_since: timeText(lastAt) });
  if (Date.now() < (pausedUntil.get(provider) ?? 0)) return 'done';
  const told = await pollTask(context, provider, path.replace('{task_id}', encodeURIComponent(taskId)));
  if (told.status === 429) pause(provider);
  const receipt = told.body !== undefined && (await takeReply(context, task, taskId, told.body));
  if (!receipt || receipt.result === 'rejected') log('info', 'poll', { outcome: 'untold' });
  return 'done';
}

function takeReply(context: Context, task: TaskRecord, taskId: string, body: string): Promise<Receipt> {
  const taskHash = taskHashOf(task);
  const secret = findSecret(body, taskHash);
  return takeReport(context, { provider: task.provider, taskHash, secret, taskId, body }, task);
}

async function move(context: Context, task: TaskRecord, changes: Changes<TaskRecord>): Promise<Outcome> {
  const asRead = [['pending_since', '=', task.pending_since]] as const;
  await write(context, updating(task, changes, asRead));
  return 'done';
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

const pauseMs = 60_000;
const pausedUntil = new Map<ProviderName, number>();

/** A provider that is busy is left alone for a minute: paid calls need what it accepts. Tasks wait for their next poll. */
function pause(provider: ProviderName): void {
  pausedUntil.set(provider, Date.now() + pauseMs);
  log('warn', 'provider_busy', { provider });
}
