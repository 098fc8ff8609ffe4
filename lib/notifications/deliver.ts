import type { AttemptRecord } from '../attempts/attempt.ts';
import { readText, writeIfMatches } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { type JsonObject, parseObject, parseWithIds } from '../json.ts';
import { log, note } from '../log.ts';
import type { Changes, Condition } from '../store/items.ts';
import { taskHashOf } from '../store/keys.ts';
import { updating, write } from '../store/write.ts';
import { owesNothing, timeText } from '../work/lanes.ts';
import { type Outcome, worker } from '../work/worker.ts';
import { deliverOnce } from './deliver-once.ts';
import { creationsIn, isForward, isState, withCommonFields } from './provider-notification.ts';
import {
  hashPrefix,
  type NotificationRecord,
  readAttempt,
  readTask,
  type TaskRecord,
  ttlFrom,
} from './records.ts';
import { loadSigningKeys, publishSigningKeys } from './signature.ts';

/** Receivers need the public key before the first notification, so the schedule publishes it. */
export const deliverNotifications = worker<NotificationRecord>('deliver', {
  handle: deliver,
  giveUp: async (context, record, given) => {
    const changes = { ...given, result: 'failed', ttl: ttlFrom(Date.now()) } as const;
    const asRead = [
      ['tries', '=', record.tries],
      ['pending_shard', '=', record.pending_shard],
    ] as const;
    return write(context, updating(record, changes, asRead));
  },
  scheduled: publishSigningKeys,
});

/** Publishes the task's status, then notifies the caller. After a crash, it is sent again with the same ID. */
async function deliver(context: Context, record: NotificationRecord): Promise<Outcome> {
  const taskHash = taskHashOf(record);
  note({ notification: record.id, task_hash: hashPrefix(taskHash), try: record.tries });
  const task = await readTask(context, taskHash);
  const attempt = task && (await readAttempt(context, task));
  if (task && attempt && isHeld(task, attempt)) return 'more';
  const body = withAnsweredId(record, attempt);
  await showStatus(context, { ...record, body });
  const { address } = record;
  return address === undefined
    ? end(context, record, 'shown', {})
    : notify(context, { ...record, address, body });
}

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
async function notify(context: Context, record: NotificationRecord & { address: string }): Promise<Outcome> {
  note({ host: URL.parse(record.address)?.hostname ?? '', state: record.state });
  const began = Date.now();
  const keys = await loadSigningKeys(context);
  const { outcome, status, error, isHopeless = false } = await deliverOnce(record, keys);
  const now = Date.now();
  log('info', 'delivery', {
    outcome: outcome === 'failed' ? 'again' : outcome,
    ms: now - began,
    delivery_lag_ms: outcome === 'delivered' ? now - Date.parse(record.at) : undefined,
    status,
    error,
  });
  const why: Why = { last_error: error ?? null, last_status: status ?? null };
  return outcome === 'failed' ? { again: why, isHopeless } : end(context, record, outcome, why);
}

type Why = Pick<Changes<NotificationRecord>, 'last_error' | 'last_status'>;

/** A delivered notification stays delivered if another try ends otherwise. */
const undelivered: Condition<NotificationRecord> = [
  ['result', 'exists'],
  ['result', '<>', 'delivered'],
];

async function end(
  context: Context,
  record: NotificationRecord,
  result: 'delivered' | 'gone' | 'shown',
  why: Why,
): Promise<Outcome> {
  const now = Date.now();
  const delivered_at = result === 'delivered' ? timeText(now) : undefined;
  const changes = { ...why, ...owesNothing, result, ttl: ttlFrom(now), delivered_at };
  await write(context, updating(record, changes, undelivered));
  return 'done';
}
