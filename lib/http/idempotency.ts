import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Answer } from './endpoint.ts';
import { ApiError } from '../errors.ts';
import { describeError, log, note } from '../log.ts';
import { fromAttributes, type Item, toAttributes } from '../store/attribute-values.ts';
import { condition, update } from '../store/expressions.ts';
import { idempotencyKey, idempotencyPartKey, type Key } from '../store/keys.ts';
import { dynamodb, readTogether, storeError, tableName } from '../store/table.ts';

/*
 * One record per key and caller. A paid request leaves only from `sent`, and no record goes back from there
 * unless the provider said that it took nothing:
 *
 *                claim             beforeSending            answer stored
 *   (no record) ───────> running ───────────────> sent ─────────────────────> answered: replayed for 24 hours
 *        ^                  │                       │
 *        ├── nothing sent ──┘                       ├── outcome unknown ────> unknown: refused for 24 hours
 *        └── refused by the provider ───────────────┘
 *
 * An invocation that dies leaves `running` or `sent` behind. Once its lease has passed, `running` may be claimed
 * anew, for nothing was sent, and `sent` counts as unknown. Every step is conditional on the attempt that made
 * the claim, so an invocation that was thought dead and comes back can neither send nor answer. Expiry is
 * compared here: DynamoDB deletes expired records up to two days late.
 */

interface KeyedRequest {
  key: string;
  principal: string;
  /** The request in a form that is equal for equal requests. */
  request: string;
  deadline: number;
  tell: (beforeSending: () => Promise<void>) => Promise<Answer>;
  render: (error: unknown) => Answer;
}

const keptForMs = 24 * 60 * 60 * 1000;
/** What an invocation may still run past its deadline before Lambda ends it, with room for clocks that differ. */
const leaseMarginMs = 5000;
/** How long past the deadline an answer may be held back to be kept. */
const settleMarginMs = 400;
const largestPartBytes = 380_000;

export async function answerOnce({
  key,
  principal,
  request,
  deadline,
  tell,
  render,
}: KeyedRequest): Promise<Answer> {
  requireVisibleAscii(key);
  const recordKey = idempotencyKey(sha256(`${principal}\n${key}`));
  const attempt = randomUUID();
  const earlier = await claim(recordKey, attempt, sha256(request), deadline);
  if (earlier) return replay(recordKey, earlier, sha256(request), deadline);

  let sent = false;
  try {
    const answer = await tell(async () => {
      await markSent(recordKey, attempt);
      sent = true;
    });
    await keepAnswer(recordKey, attempt, answer, deadline);
    return answer;
  } catch (error) {
    const settlement = error instanceof ApiError ? error.settlement : 'unknown';
    if (!sent || settlement === 'refused') {
      await settle('release', deadline, () => remove(recordKey, attempt));
      throw error;
    }
    if (settlement === 'unknown') {
      await settle('mark as unknown', deadline, () => change(recordKey, attempt, { state: 'unknown' }));
      throw error;
    }
    const answer = render(error);
    await keepAnswer(recordKey, attempt, answer, deadline);
    return answer;
  }
}

function requireVisibleAscii(key: string): void {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return;
  const message = 'must be 1 to 255 visible ASCII characters';
  throw new ApiError('invalid_request', { details: [{ path: 'headers.idempotency-key', message }] });
}

/** Takes the key for this attempt, or returns the record of whoever holds it. */
async function claim(
  key: Key,
  attempt: string,
  fingerprint: string,
  deadline: number,
): Promise<Item | undefined> {
  const now = Date.now();
  const expiresAt = now + keptForMs;
  const record = {
    ...key,
    attempt,
    fingerprint,
    state: 'running',
    lease_until: deadline + leaseMarginMs,
    expires_at: expiresAt,
    ttl: Math.ceil(expiresAt / 1000),
    revision: 1,
  };
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: tableName,
        Item: toAttributes(record),
        ConditionExpression:
          'attribute_not_exists(pk) OR expires_at <= :now OR (#state = :running AND lease_until <= :now)',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: toAttributes({ ':now': now, ':running': 'running' }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw unavailable(error);
    const holder = fromAttributes(error.Item ?? {});
    // The claim went through and only its answer was lost: the SDK's own retry then meets our record.
    return holder.attempt === attempt ? undefined : holder;
  }
}

async function replay(key: Key, holder: Item, fingerprint: string, deadline: number): Promise<Answer> {
  if (holder.fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
  if (holder.state === 'answered') {
    note({ idempotent_replay: true });
    const answer = await readAnswer(key, holder, deadline);
    return { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } };
  }
  const isRunning = holder.state !== 'unknown' && Number(holder.lease_until) > Date.now();
  throw new ApiError(isRunning ? 'idempotency_in_flight' : 'idempotency_consumed');
}

async function markSent(key: Key, attempt: string): Promise<void> {
  try {
    await change(key, attempt, { state: 'sent' });
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw new ApiError('idempotency_in_flight');
    throw unavailable(error);
  }
}

/**
 * Answers may echo a payload of a million characters, and an item holds 400 KB: what does not fit goes into
 * parts, written first. Should the store fail here, the caller still gets what was paid for; the record stays
 * `sent`, so that the key is never used for a second send.
 */
async function keepAnswer(key: Key, attempt: string, answer: Answer, deadline: number): Promise<void> {
  const packed = gzipSync(JSON.stringify(answer));
  const count = Math.ceil(packed.length / largestPartBytes);
  const part = (index: number) => packed.subarray(index * largestPartBytes, (index + 1) * largestPartBytes);
  await settle('keep the answer', deadline, async () => {
    const ttl = Math.ceil((Date.now() + keptForMs) / 1000);
    for (let index = 1; index < count; index += 1) {
      const item = { ...idempotencyPartKey(key, attempt, index), bytes: part(index), ttl };
      await dynamodb.send(new PutItemCommand({ TableName: tableName, Item: toAttributes(item) }));
    }
    await change(key, attempt, { state: 'answered', bytes: part(0), parts: count });
  });
}

async function readAnswer(key: Key, holder: Item, deadline: number): Promise<Answer> {
  const count = Number(holder.parts);
  const keys = Array.from({ length: count - 1 }, (_, index) =>
    idempotencyPartKey(key, String(holder.attempt), index + 1),
  );
  const parts = [holder, ...(await readTogether(deadline, ...keys))];
  return JSON.parse(gunzipSync(Buffer.concat(parts.map((part) => part?.bytes as Uint8Array))).toString());
}

async function change(key: Key, attempt: string, changes: Item): Promise<void> {
  const expression = update(changes, ['attempt', '=', attempt]);
  await dynamodb.send(new UpdateItemCommand({ TableName: tableName, Key: toAttributes(key), ...expression }));
}

async function remove(key: Key, attempt: string): Promise<void> {
  const expression = condition(['attempt', '=', attempt]);
  await dynamodb.send(new DeleteItemCommand({ TableName: tableName, Key: toAttributes(key), ...expression }));
}

/**
 * The steps after the fact cannot change what the caller is told, nor may they keep it from them: a store that
 * hangs would outlast the invocation, and what was paid for would be lost. The lease covers a step that fails.
 */
async function settle(step: string, deadline: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const outOfTime = new Promise<never>((_, reject) => {
    const left = Math.max(0, deadline + settleMarginMs - Date.now());
    timer = setTimeout(() => reject(new Error('the store took too long')), left);
  });
  await Promise.race([work(), outOfTime])
    .catch((error: unknown) => log('warn', 'idempotency', { step, ...describeError(error) }))
    .finally(() => clearTimeout(timer));
}

/** A store that cannot be asked must stop a paid request, whatever kind of failure it is. */
function unavailable(error: unknown): unknown {
  const known = storeError(error);
  return known instanceof ApiError ? known : new ApiError('unavailable', { cause: error });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
