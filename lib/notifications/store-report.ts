import type { AttemptRecord } from '../attempts/attempt.ts';
import { callerHash } from '../caller.ts';
import type { ProviderName } from '../config.ts';
import type { Context } from '../context.ts';
import { parseObject } from '../json.ts';
import { log } from '../log.ts';
import type { TaskState } from '../schemas/video.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { absent, type Changes, IfAbsent, onRevision, present } from '../store/items.ts';
import { attemptKey, notificationKey, taskHashOf, taskKey } from '../store/keys.ts';
import { putting, updating, type Write, write } from '../store/write.ts';
import { owe, owesNothing } from '../work/lanes.ts';
import { sendSoon } from '../work/send.ts';
import { replaceOurUrl } from './notification-urls.ts';
import {
  isFinal,
  isForward,
  type ProviderNotification,
  readNotification,
  withCommonFields,
  withoutEcho,
} from './provider-notification.ts';
import {
  hashPrefix,
  isExpired,
  type NotificationRecord,
  notificationId,
  readAttempt,
  readTask,
  type TaskRecord,
  ttlFrom,
} from './records.ts';

/** A provider's report about a task, in its own words: from its call, or its reply to our poll. */
export interface Report {
  provider: ProviderName;
  taskHash: string;
  /** Undefined if the report doesn't contain it. */
  secret?: string | undefined;
  /** The ID in the poll. */
  taskId?: string | undefined;
  body: string;
  /** This service stops polling, so the task gets no further report. */
  isGivenUp?: true;
}

export type Receipt =
  | { result: 'written' | 'repeated'; state: TaskState | undefined }
  | { result: 'rejected'; reason: 'unreadable' | 'unknown_task' };

/**
 * Stores a later state, or an unknown word, together with its notification, and queues that. Ignores everything else:
 * providers repeat their calls, in any order. `seen`: the task, if it was read just before.
 */
export async function takeReport(context: Context, report: Report, seen?: TaskRecord): Promise<Receipt> {
  const hash = report.taskHash;
  let known = seen ?? (await readTask(context, hash));
  // A stranger's is not parsed: 6 MB can take seconds, and more memory than the function has.
  const said = known && readNotification(report.provider, report.body);
  if (!said) return { result: 'rejected', reason: known ? 'unreadable' : 'unknown_task' };
  return untilWritten(context, async (): Promise<Receipt | undefined> => {
    const task = known ?? (await readTask(context, hash));
    known = undefined;
    if (!task || task.provider !== report.provider || (isExpired(task) && !report.isGivenUp))
      return { result: 'rejected', reason: 'unknown_task' };
    const change = changeOf(task, said);
    if (said.state === undefined && (change || said.unknownWord === undefined)) logUnknown(task, said);
    const now = Date.now();
    // Later than the previous report, even if another machine's clock is fast: the status shows the last one.
    const after = task.reported_at === undefined ? 0 : Date.parse(task.reported_at) + 1;
    const at = new Date(Math.max(now, after)).toISOString();
    const sequence = task.sequence + 1;
    const attempt = await readAttempt(context, task);
    // The ID of our response stays: any other ID in a call isn't the caller's task.
    const taskId = attempt?.task_id ?? task.task_id ?? report.taskId ?? said.taskId;
    const usage = usageOf(task, attempt, { ...said, taskId }, change, at, report.isGivenUp);
    // What changes no state may still be the first word, or the first with an ID, a price or an end.
    if (change === undefined) {
      const named = updating<TaskRecord>(taskKey(hash), { task_id: taskId }, onRevision(task));
      if (usage.length > 0 && !(await write(context, named, ...usage))) return undefined;
      return { result: 'repeated', state: said.state ?? task.state };
    }
    const { state, provider_state, changes } = change;
    const notification: NotificationRecord = {
      ...notificationKey(hash, sequence),
      id: notificationId(hash, sequence),
      address: task.address,
      status_key: task.status_key,
      body: bodyFor(task, report, said, { task_id: taskId, state, provider_state }),
      state,
      provider_state,
      at,
      ...owe('deliver', taskKey(hash), callerHash(task.caller)),
      result: 'pending',
      ttl: ttlFrom(now),
    };
    const reported: Changes<TaskRecord> = {
      ...changes,
      ...(isFinal(state) && task.pending_since !== undefined && owesNothing),
      sequence,
      reported_at: at,
      task_id: taskId,
      ttl: ttlFrom(now),
    };
    const told = updating<TaskRecord>(taskKey(hash), reported, onRevision(task));
    if (!(await write(context, told, putting(notification, absent), ...usage))) return undefined;
    await sendSoon(context, 'deliver', notification);
    return { result: 'written', state };
  });
}

/** A task with this many notifications gets no more for unknown words: some providers report percentages. */
const maxWithWords = 100;

interface Change {
  state: TaskState;
  provider_state?: string | undefined;
  changes: Changes<TaskRecord>;
}

/** The change that a report makes; undefined if none. */
function changeOf(task: TaskRecord, { state, unknownWord, media }: ProviderNotification): Change | undefined {
  const hasMedia = media.length > 0;
  // Some providers name the results in a separate call, which may lack a word for the state.
  const isLate =
    hasMedia && task.state === 'success' && !task.has_media && (state ?? 'success') === 'success';
  if (isLate || (state !== undefined && isForward(task.state, state))) {
    const next = state ?? 'success';
    const has_media = (next === 'success' && hasMedia) || undefined;
    return { state: next, changes: { state: next, provider_state: null, has_media } };
  }
  if (unknownWord === undefined || unknownWord === task.provider_state) return undefined;
  if (task.sequence >= maxWithWords || isFinal(task.state)) return undefined;
  const changes = { provider_state: unknownWord };
  return { state: task.state ?? 'created', ...changes, changes };
}

/** An alarm counts these lines: the parameter `providerStates` maps such a word to a state. */
function logUnknown(task: TaskRecord, { unknownWord, taskId }: ProviderNotification): void {
  log('warn', 'unknown_state', {
    provider: task.provider,
    provider_state: unknownWord ?? null,
    provider_task_id: task.task_id ?? taskId,
    paid_request_id: task.request_id,
    task_hash: hashPrefix(taskHashOf(task)),
  });
}

/** The provider's own text, without our URL, and with the fields that every notification has. */
function bodyFor(
  { address }: TaskRecord,
  { provider, body, secret }: Report,
  said: ProviderNotification,
  fields: { task_id: string | undefined; state: TaskState; provider_state: string | undefined },
): string {
  const kept = withoutEcho(body, said);
  const text = secret === undefined ? kept : replaceOurUrl(kept, secret, address);
  const { media, creations, error } = readNotification(provider, text) ?? said;
  const own = Array.isArray(parseObject(text)?.creations) ? {} : { creations };
  return withCommonFields(text, { ...fields, media, ...own, error });
}

/** What the attempt's record still lacks of the paid response, which may have been lost, and the end. */
function usageOf(
  { caller, attempt: name }: TaskRecord,
  { given_up, is_reported, task_id, credits_told }: Partial<AttemptRecord> = {},
  { taskId, credits, ...said }: ProviderNotification,
  change: Change | undefined,
  at: string,
  isGivenUp: true | undefined,
): Write[] {
  const state = change?.state ?? said.state;
  // A failure may become a success, at another price.
  const isPrice = credits_told === undefined && credits !== undefined && state === 'success';
  const changes: Changes<AttemptRecord> = {
    ...(!isGivenUp && !is_reported && !task_id && { is_reported: true }),
    ...(isFinal(state) &&
      (change ?? given_up) && { final_state: state, final_at: at, given_up: isGivenUp ?? null }),
    ...(taskId !== undefined && !task_id && { task_id: new IfAbsent(taskId) }),
    ...(isPrice && { credits_told: new IfAbsent(credits) }),
  };
  if (Object.keys(changes).length === 0) return [];
  return [updating<AttemptRecord>(attemptKey(callerHash(caller), name), changes, present)];
}
