import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Answer } from '../answer.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { absent, type Condition, typedRead } from '../store/items.ts';
import { attemptKey, idempotencyKey, idempotencyPartKey, type Key } from '../store/keys.ts';
import { UnansweredError } from '../store/dynamodb.ts';
import { get } from '../store/read.ts';
import { deleting, putting, write, writeOne } from '../store/write.ts';
import { callerHash } from '../caller.ts';
import { dayMs } from '../windows.ts';
import { type AttemptRecord, attemptRecord, bury, taskHeaders } from './attempt.ts';
import type { Keyed } from './request.ts';

/*
 * One record per Idempotency-Key and caller, written before anything else. It names the attempt that holds the key, and
 * has the attempt's response once there is one. Another request takes it over if that attempt was rejected, or has no
 * record although its request must have ended. A tombstone comes first then, so a slow request can't be sent anymore.
 * Expiry is compared here: DynamoDB deletes expired records up to two days late.
 */
interface SlotRecord extends Key {
  attempt: string;
  fingerprint: string;
  /** By then its request has ended. */
  lease_until: number;
  expires_at: number;
  /** The same in seconds, for DynamoDB. */
  ttl: number;
  /** The compressed response: the first of so many parts. */
  bytes?: Uint8Array;
  parts?: number;
}

type AnswerPart = Required<Pick<SlotRecord, 'bytes'>>;

export const slotRecord = typedRead<SlotRecord>();

/** How long an invocation may run past its deadline before Lambda ends it: clocks may differ. */
const leaseMarginMs = 5000;
const maxPartBytes = 380_000;

/** The claim of one request on its key. */
export interface Slot {
  context: Context;
  record: SlotRecord;
  /** Identifies the key without showing it. */
  keyHash: string;
  /** Only of an operation whose attempts are recorded. */
  payer: string | undefined;
}

export function slotOf(context: Context, keyed: Keyed, attempt: string, payer?: string): Slot {
  requireVisibleAscii(keyed.key);
  const keyHash = hash('sha256', `${keyed.scope}\n${keyed.key}`);
  const now = Date.now();
  const record: SlotRecord = {
    ...idempotencyKey(keyHash),
    attempt,
    fingerprint: hash('sha256', keyed.request),
    lease_until: context.deadline + leaseMarginMs,
    expires_at: now + dayMs,
    ttl: Math.ceil((now + dayMs) / 1000),
  };
  return { context, record, keyHash, payer };
}

/** Claims the key for this request, or returns the kept response to an earlier request with it. */
export async function claim(slot: Slot): Promise<Answer | undefined> {
  const { context, record } = slot;
  try {
    const now = Date.now();
    const result = await writeOne(context, putting(record, [['expires_at', 'absent or <=', now]]));
    if (result.written) return undefined;
    const holder = result.found;
    if (!holder) throw new ApiError('unavailable', { reason: 'the key was released meanwhile' });
    if (!holder.bytes) return await takeOver(slot, holder);
    requireSame(holder, record);
    return await replay(context, holder);
  } catch (error) {
    // It may be stored, and would hold the key after the 503.
    if (error instanceof UnansweredError) await free(slot).catch(() => undefined);
    throw error;
  }
}

/** Takes the key over from a request that bought nothing. Throws if it still runs, or may have bought something. */
async function takeOver({ context, record, payer }: Slot, holder: SlotRecord): Promise<undefined> {
  const isLeased = holder.lease_until > Date.now();
  const attempt = payer === undefined ? undefined : attemptKey(callerHash(payer), holder.attempt);
  const held = attempt && attemptRecord((await get(context, attempt))[0]);
  if (held ? isFree(held) : !isLeased) {
    // Another request takes the key over, or the attempt is recorded at this moment.
    if (attempt && !held && !(await bury(context, attempt))) throw new ApiError('idempotency_in_flight');
    const free: Condition<SlotRecord> = [
      ['attempt', '=', holder.attempt],
      ['bytes', 'absent'],
    ];
    if (await write(context, putting(record, free))) return undefined;
    throw new ApiError('idempotency_in_flight');
  }
  requireSame(holder, record);
  const isRunning = isLeased && held?.payment !== 'unknown';
  const code = isRunning ? 'idempotency_in_flight' : 'idempotency_consumed';
  throw new ApiError(code, { headers: taskHeaders(held) });
}

function requireSame(holder: SlotRecord, { fingerprint }: SlotRecord): void {
  if (holder.fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
}

/** What an administrator concluded later stays used up: it may have been bought. */
function isFree({ payment, concluded_at }: AttemptRecord): boolean {
  return payment === 'rejected' && concluded_at === undefined;
}

/**
 * Responses may echo a payload of a million characters, and an item holds 400 KB, so the rest goes into parts, written
 * first. If the store fails here, the caller still gets its response, and the key is used up.
 */
export async function keepAnswer({ context, record }: Slot, answer: Answer): Promise<void> {
  const packed = gzipSync(JSON.stringify(answer));
  const parts = Math.ceil(packed.length / maxPartBytes);
  const part = (index: number): AnswerPart => ({
    bytes: packed.subarray(index * maxPartBytes, (index + 1) * maxPartBytes),
  });
  const { attempt, ttl } = record;
  for (let index = 1; index < parts; index += 1) {
    const place = idempotencyPartKey(record, attempt, index);
    await write(context, putting({ ...place, ...part(index), ttl }, absent));
  }
  const answered: SlotRecord = { ...record, ...part(0), parts };
  const isWritten = await write(context, putting(answered, ours(record)));
  if (!isWritten) throw new Error('another request holds the key');
}

/** Only while nothing can have been sent. A store that has used up the request's repeats may answer a second later. */
export async function free({ context, record }: Slot): Promise<void> {
  const again = { ...context, retries: { repeats: 4, ms: 1000 } };
  await write(again, deleting(record, ours(record)));
}

function ours({ attempt }: SlotRecord): Condition<SlotRecord> {
  return [['attempt', '=', attempt]];
}

function requireVisibleAscii(key: string): void {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return;
  const message = 'must be 1 to 255 visible ASCII characters';
  throw new ApiError('invalid_request', { details: [{ path: 'headers.idempotency-key', message }] });
}

async function replay(context: Context, holder: SlotRecord): Promise<Answer> {
  note({ idempotent_replay: true });
  const { attempt, parts: count = 1 } = holder;
  const keys = Array.from({ length: count - 1 }, (_, index) =>
    idempotencyPartKey(holder, attempt, index + 1),
  );
  const rest = await get(context, ...keys);
  const parts = [holder, ...rest.map(slotRecord)];
  const pieces = parts.flatMap((part) => part?.bytes ?? []);
  const { statusCode, headers, body }: Answer = JSON.parse(gunzipSync(Buffer.concat(pieces)).toString());
  return { statusCode, headers: { ...headers, 'idempotent-replayed': 'true' }, body };
}
