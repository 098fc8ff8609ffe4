import { setTimeout as pause } from 'node:timers/promises';
import { callerHash } from '../caller.ts';
import * as config from '../config.ts';
import { type Context, endOf, type EventInvocation } from '../context.ts';
import { log, withLogFields } from '../log.ts';
import { askForTask, type TaskAnswer } from '../providers/ask.ts';
import type { ProviderName } from '../config.ts';
import { notDue, requireNoneFailed, sweepDue, type SweepReport } from '../store/due.ts';
import { usageRecord } from '../spend/usage-records.ts';
import { keyOf, ticketHashOf, usageKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { update } from '../store/write.ts';
import { givenUpAfterMs, hashPrefix, nextQuestionAt, type TaskRecord, taskRecord } from './records.ts';
import { findTicket } from './notification-urls.ts';
import { takeReport } from './store-report.ts';
import { isFinal } from './provider-notification.ts';

/*
 * Asks the provider about tasks without a final notification: it may be lost, or the provider may send none.
 * A task's record is in the index `pending` from its start until its end is known. The reply is processed
 * like a notification, so this function calls no receiver.
 */

/** `untold`: the provider was asked, but its reply had no state of the task. */
type Finding = 'ended' | 'told' | 'untold' | 'unasked' | 'given_up';

/** For the visits that have begun when the time is up. */
const finishingMs = 15_000;
const visitsAtOnce = 10;

export async function askProviders(_: unknown, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'askProviders', function_request_id: invocation.awsRequestId };
  const context = { deadline: endOf(invocation) - 1000 };
  requireNoneFailed(await withLogFields(fields, () => askForDue(context)));
}

function askForDue(context: Context): Promise<SweepReport> {
  const until = context.deadline - finishingMs;
  const turns = new Turns(config.questions().QUESTIONS_PER_SECOND);
  return sweepDue<TaskRecord, Finding>(context, {
    work: 'unheard',
    period: { from: 0, to: Date.now() },
    order: 'oldest first',
    visitsAtOnce,
    hasTime: () => Date.now() < until,
    read: async (keys) =>
      (await get(context, ...keys.map(keyOf)))
        .flatMap((item) => taskRecord(item) ?? [])
        .filter(({ pending_since }) => pending_since !== undefined),
    visit: (task) => visit(context, task, turns),
    unexpected: ['given_up'],
    quiet: ['told', 'unasked'],
    nameOf: (task) => ({
      provider: task.provider,
      provider_task_id: task.task_id,
      ticket_hash: hashPrefix(ticketHashOf(task)),
    }),
  });
}

async function visit(context: Context, task: TaskRecord, turns: Turns): Promise<Finding | 'unvisited'> {
  const isOver = Date.now() >= Date.parse(task.at) + givenUpAfterMs;
  if (isOver) return isEnded(task) ? postpone(context, task, 'unasked') : giveUp(context, task);
  const { IMAGE_PROVIDER_TASK_PATH: image, VIDEO_PROVIDER_TASK_PATH: video } = config.questions();
  const path = { image, video }[task.provider];
  const taskId = path === undefined ? undefined : (task.task_id ?? (await recordedId(context, task)));
  // Without an ID, the provider can't be asked: only a notification can report the task.
  if (path === undefined || taskId === undefined) return postpone(context, task, 'unasked', true);
  if (!(await turns.next(task.provider))) return 'unvisited';
  const asked = path.replace('{task_id}', encodeURIComponent(taskId));
  const answer = await askForTask(context, task.provider, asked);
  turns.answered(task.provider, answer);
  if (answer.result !== 'told') return postpone(context, task, 'untold');
  const { body, contentType } = answer;
  const ticket = findTicket(body, ticketHashOf(task));
  const { provider } = task;
  const report = { provider, ticketHash: ticketHashOf(task), ticket, taskId, body, contentType };
  const receipt = await takeReport(context, report);
  if (receipt.result === 'rejected') return postpone(context, task, 'untold');
  const { state } = receipt;
  // Its provider may run a task again that it called failed.
  return postpone(context, state && !isFinal(state) ? { ...task, state } : task, 'told');
}

/** Schedules the next question; with `isLast`, at the task's expiry. After its end, one reply is enough. */
async function postpone(
  context: Context,
  task: TaskRecord,
  finding: Finding,
  isLast = false,
): Promise<Finding> {
  const startedAt = Date.parse(task.at);
  const pending_since = isLast
    ? new Date(startedAt + givenUpAfterMs).toISOString()
    : nextQuestionAt(startedAt, Date.now());
  const changes = isEnded(task) && finding !== 'untold' ? notDue : { pending_since };
  const { written } = await update<TaskRecord>(context, task, changes, [
    ['pending_since', '=', task.pending_since],
  ]);
  return written ? finding : 'ended';
}

/** The task ID in the usage record: after a response, one of the two records' writes may be lost. */
async function recordedId(context: Context, { caller, attempt }: TaskRecord): Promise<string | undefined> {
  const [item] = await get(context, usageKey(callerHash(caller), attempt));
  return item && usageRecord(item).task_id;
}

function isEnded({ state }: TaskRecord): boolean {
  return state !== undefined && isFinal(state);
}

const notHeardOf =
  'Nothing was heard of the end of this task for seven days, so this service no longer asks for it. The provider may have charged for it.';

/** It ends as failed, with the reason, and the ledger marks this as an assumption. */
async function giveUp(context: Context, task: TaskRecord): Promise<Finding> {
  const { provider, task_id } = task;
  const body = JSON.stringify({ task_id, state: 'failed', error: notHeardOf });
  const report = { provider, ticketHash: ticketHashOf(task), body, isGivenUp: true } as const;
  return (await takeReport(context, report)).result === 'written' ? 'given_up' : 'ended';
}

/** One or two failures may be specific to single tasks, which must not hold up the questions about others. */
const maxFailuresInARow = 3;

/** The turns to ask each provider: so many a second, and none after it was busy or failed several times in a row. */
class Turns {
  readonly #distanceMs: number;
  readonly #next = new Map<ProviderName, number>();
  readonly #failures = new Map<ProviderName, number>();
  readonly #stopped = new Set<ProviderName>();

  constructor(perSecond: number) {
    this.#distanceMs = 1000 / perSecond;
  }

  /** Waits for the next turn; false if there is none in this run. */
  async next(provider: ProviderName): Promise<boolean> {
    if (this.#stopped.has(provider)) return false;
    const now = Date.now();
    const turn = Math.max(now, this.#next.get(provider) ?? now);
    this.#next.set(provider, turn + this.#distanceMs);
    if (turn > now) await pause(turn - now);
    return !this.#stopped.has(provider);
  }

  answered(provider: ProviderName, answer: TaskAnswer): void {
    const failures = answer.result === 'failed' ? (this.#failures.get(provider) ?? 0) + 1 : 0;
    this.#failures.set(provider, failures);
    if (answer.result !== 'busy' && failures < maxFailuresInARow) return;
    if (this.#stopped.has(provider)) return;
    this.#stopped.add(provider);
    log('warn', 'provider_busy', { provider, provider_status: 'status' in answer ? answer.status : null });
  }
}
