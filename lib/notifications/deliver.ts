import type { EventBridgeEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { AttemptRecord } from '../attempts/attempt.ts';
import { maxDelaySeconds } from '../aws/queue.ts';
import { readText, writeIfMatches } from '../bucket/public-file.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { type JsonObject, parseObject, parseWithIds } from '../json.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import { handOver } from '../store/hand-over.ts';
import { deliverOnce } from './deliver-once.ts';
import {
  beginAttempt,
  conclude,
  end,
  enqueue,
  postpone,
  type QueuedAttempt,
  readDue,
  readMessage,
  readWaiting,
} from './outbox.ts';
import { hashPrefixOf, type NotificationRecord, type TaskRecord } from './records.ts';
import { creationsIn, isForward, isState, withCommonFields } from './provider-notification.ts';
import { loadAndPublishSigningKeys } from './signature.ts';

type DeliveryEvent = SQSEvent | EventBridgeEvent<'Scheduled Event', unknown>;

/** Delivers the queue's messages. If the schedule calls, queues the notifications that are due. */
export async function deliverNotifications(
  event: DeliveryEvent,
  invocation: EventInvocation,
): Promise<SQSBatchResponse | undefined> {
  const context = contextOf(invocation);
  const fields = { function: 'deliverNotifications', function_request_id: invocation.awsRequestId };
  return withLogFields(fields, async () => {
    if ('Records' in event) return deliverBatch(context, event);
    await handOverDue(context);
    return undefined;
  });
}

/** In parallel and independently: only messages that failed on our side come again. */
async function deliverBatch(context: Context, { Records }: SQSEvent): Promise<SQSBatchResponse> {
  const failures = await Promise.all(
    Records.map(({ messageId, body }) =>
      withLogFields({}, async () => {
        try {
          const message = readMessage(body);
          note({ notification: message.id, task_hash: hashPrefixOf(message) });
          await deliver(context, message);
          return [];
        } catch (error) {
          log('error', 'delivery', { outcome: 'interrupted', message: messageId, ...describeError(error) });
          return [{ itemIdentifier: messageId }];
        }
      }),
    ),
  );
  return { batchItemFailures: failures.flat() };
}

/**
 * Makes the try that a message names, unless it was already made. The first try also
 * publishes the task's status. Throws only if the failure is ours, so that the queue repeats the message.
 */
async function deliver(context: Context, message: QueuedAttempt): Promise<void> {
  const found = await readWaiting(context, message);
  if (found === undefined) return;
  const { waiting, task, attempt } = found;
  if (task && attempt && isHeld(task, attempt))
    return enqueue(context, { ...waiting, delaySeconds: holdSeconds });
  const body = withAnsweredId(waiting, attempt);
  if (waiting.tries === 0) await showStatus(context, { ...waiting, body });
  const { address } = waiting;
  if (address === undefined) return end(context, waiting, 'shown', {});
  note({ host: hostOf(address) });
  await notify(context, waiting, { address, body });
}

const holdSeconds = 2;
/** No request lives longer, even if the clocks of machines differ. */
const maxRequestMs = 60_000;

/** Whether the request that bought the task may still run: its caller must learn of the task before its receiver. */
function isHeld({ at }: TaskRecord, { payment }: AttemptRecord): boolean {
  return payment === 'sent' && Date.now() < Date.parse(at) + maxRequestMs;
}

/** Uses the task ID of our response, even if the provider named another one in an earlier notification. */
function withAnsweredId({ body, state }: NotificationRecord, attempt: AttemptRecord | undefined): string {
  const task_id = attempt?.task_id;
  if (task_id === undefined || parseObject(body)?.task_id === task_id) return body;
  return withCommonFields(body, { task_id, state });
}

/** Caches keep a status for only seconds, because waiting clients ask again. */
const cacheControl = 'public, max-age=2';

const maxRounds = 10;

/** Writes a task's public status, unless a later one exists: deliveries may be in any order, or at once. */
async function showStatus(
  context: Context,
  { status_key: key, body, state, provider_state, at }: NotificationRecord,
): Promise<void> {
  const said = parseWithIds(body) ?? {};
  const { task_id, media, error } = said;
  const creations = creationsIn(said);
  const text = JSON.stringify({ task_id, state, provider_state, media, creations, error, updated_at: at });
  for (let round = 0; round < maxRounds; round += 1) {
    const found = await readText(context, key);
    const known = found && parseObject(found.text);
    if (known && isLater(known, { state, at })) return;
    if (await writeIfMatches(context, { key, text, cacheControl, etag: found?.etag })) return;
  }
  throw new Error(`The status of a task was changed ${maxRounds} times while it was written.`);
}

/** If two reports have the same state, the later one counts: it has another word of the provider for it. */
function isLater(known: JsonObject, { state, at }: Pick<NotificationRecord, 'state' | 'at'>): boolean {
  if (!isState(known.state)) return false;
  return known.state === state ? String(known.updated_at) >= at : !isForward(known.state, state);
}

/** Logs only the receiver's host: the rest of the URL may be a secret, and so may the response. */
async function notify(
  context: Context,
  waiting: NotificationRecord,
  shown: { address: string; body: string },
): Promise<void> {
  const began = Date.now();
  const keys = await loadAndPublishSigningKeys(context);
  const record = await beginAttempt(context, waiting);
  if (record === undefined) return;
  if (record === 'exhausted') return log('info', 'delivery', { outcome: 'failed', try: waiting.tries });
  note({ try: record.tries, state: record.state });
  const result = await deliverOnce({ ...record, ...shown }, keys);
  const conclusion = await conclude(context, record, result);
  const { outcome } = conclusion;
  log('info', 'delivery', {
    outcome,
    ms: Date.now() - began,
    ...(outcome === 'delivered' && { delivery_lag_ms: Date.now() - Date.parse(record.at) }),
    ...(result.status !== undefined && { status: result.status }),
    ...(result.outcome === 'failed' && { error: result.error }),
  });
  if (conclusion.outcome !== 'again' || conclusion.waitSeconds > maxDelaySeconds) return;
  await enqueue(context, { ...record, delaySeconds: conclusion.waitSeconds });
}

function hostOf(address: string): string {
  return URL.parse(address)?.hostname ?? '';
}

/** With less time left, no further page is queued. */
const reservedMs = 5000;

async function handOverDue(context: Context): Promise<void> {
  const errors: unknown[] = [];
  const onFailure = (error: unknown) => void errors.push(error);
  const handing = handOver(context, {
    work: 'notifications',
    order: 'oldest first',
    reservedMs,
    onFailure,
    read: (keys) => readDue(context, keys),
    postpone: (record) => postpone(context, record),
    enqueue: (records) => enqueue(context, ...records),
  });
  // Receivers need the public key before the first notification, and a missing key must show here.
  await loadAndPublishSigningKeys(context).catch(onFailure);
  const { oldestMs, ...counts } = await handing;
  log('info', 'hand_over', { ...counts, interrupted: errors.length, oldest_due_ms: oldestMs });
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps of the run failed.`);
}
