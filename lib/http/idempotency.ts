import { hash, randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ApiError } from '../errors.ts';
import { absent, type Clause, type Condition } from '../store/expressions.ts';
import { idempotencyKey, idempotencyPartKey, type Key } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { nothingSent } from '../store/nothing-sent.ts';
import { typedRead } from '../store/typed-read.ts';
import { put, remove, type WriteResult } from '../store/write.ts';
import { afterwards } from './afterwards.ts';
import type { Answer } from './answer.ts';

/*
 * One record per key and caller. A paid request leaves only from `sent`, and no record goes back from there
 * unless the provider said that it took nothing:
 *
 *                claim               markSent                 keep
 *   (no record) ───────> running ───────────────> sent ──────────────> answered: replayed for 24 hours
 *        ^                  │                       │
 *        ├── fail: nothing sent                     ├── fail: unknown ─> unknown: refused for 24 hours
 *        └── fail: not taken ───────────────────────┘
 *
 * An invocation that dies leaves `running` or `sent` behind. Once its lease has passed, `running` may be claimed
 * again, for nothing was sent, and `sent` counts as unknown. Every step is conditional on the attempt that made
 * the claim, so an invocation that was thought dead and comes back can neither send nor answer. Expiry is
 * compared here: DynamoDB deletes expired records up to two days late.
 */
interface IdempotencyRecord extends Key {
  /** The attempt that holds the key. */
  attempt: string;
  fingerprint: string;
  state: 'running' | 'sent' | 'answered' | 'unknown';
  lease_until: number;
  expires_at: number;
  /** The same in seconds, for DynamoDB. */
  ttl: number;
  /** The answer: compressed, the first of so many parts. */
  bytes?: Uint8Array;
  parts?: number;
}

type AnswerPart = Required<Pick<IdempotencyRecord, 'bytes'>>;

const idempotencyRecord = typedRead<IdempotencyRecord>();

interface KeyedRequest {
  key: string;
  /** Whose key it is: two callers may choose the same one. */
  scope: string;
  /** The request in a form that is equal for equal requests. */
  request: string;
  deadline: number;
}

const keptForMs = 24 * 60 * 60 * 1000;
/** What an invocation may still run past its deadline before Lambda ends it, with room for clocks that differ. */
const leaseMarginMs = 5000;
const maxPartBytes = 380_000;

/** Takes the key for this request, or returns the answer that an earlier one with this key was given. */
export async function claimKey({
  key,
  scope,
  request,
  deadline,
}: KeyedRequest): Promise<{ kept: Answer } | { claim: Claim }> {
  requireVisibleAscii(key);
  const now = Date.now();
  const record: IdempotencyRecord = {
    ...idempotencyKey(hash('sha256', `${scope}\n${key}`)),
    attempt: randomUUID(),
    fingerprint: hash('sha256', request),
    state: 'running',
    lease_until: deadline + leaseMarginMs,
    expires_at: now + keptForMs,
    ttl: Math.ceil((now + keptForMs) / 1000),
  };
  const result = await beforeSending(put(record, isFree(now), deadline));
  if (result.written) return { claim: new Claim(record, deadline) };
  const holder = idempotencyRecord(result.found);
  if (!holder) throw new ApiError('unavailable');
  if (holder.fingerprint !== record.fingerprint) throw new ApiError('idempotency_mismatch');
  if (holder.state === 'answered') return { kept: await readAnswer(holder, deadline) };
  const isRunning = holder.state !== 'unknown' && holder.lease_until > now;
  throw new ApiError(isRunning ? 'idempotency_in_flight' : 'idempotency_consumed');
}

function isFree(now: number): Condition {
  return {
    anyOf: [
      [['pk', 'absent']],
      [['expires_at', '<=', now]],
      [
        ['state', '=', 'running'],
        ['lease_until', '<=', now],
      ],
    ],
  };
}

function requireVisibleAscii(key: string): void {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return;
  const message = 'must be 1 to 255 visible ASCII characters';
  throw new ApiError('invalid_request', { details: [{ path: 'headers.idempotency-key', message }] });
}

/** A key that this request holds, taken from one state to the next. */
export class Claim {
  readonly #record: IdempotencyRecord;
  readonly #deadline: number;
  #isSent = false;

  constructor(record: IdempotencyRecord, deadline: number) {
    this.#record = record;
    this.#deadline = deadline;
  }

  /** Names the key without showing it. */
  get keyHash(): string {
    return this.#record.pk.slice(this.#record.pk.indexOf('#') + 1);
  }

  /** From here on the request may cost something. To be awaited right before it is sent. */
  async markSent(): Promise<void> {
    const mark = put({ ...this.#record, state: 'sent' }, this.#isOurs(), this.#deadline);
    const { written } = await beforeSending(mark);
    if (!written) throw new ApiError('idempotency_in_flight');
    this.#isSent = true;
  }

  /**
   * Answers may echo a payload of a million characters, and an item holds 400 KB: what does not fit goes into
   * parts, written first. Should the store fail here, the caller still gets what was paid for; the record stays
   * `sent`, so that the key is never used for a second send.
   */
  async keep(answer: Answer): Promise<void> {
    const packed = gzipSync(JSON.stringify(answer));
    const parts = Math.ceil(packed.length / maxPartBytes);
    const part = (index: number): AnswerPart => ({
      bytes: packed.subarray(index * maxPartBytes, (index + 1) * maxPartBytes),
    });
    await this.#afterwards('keep the answer', async () => {
      const { attempt, ttl } = this.#record;
      for (let index = 1; index < parts; index += 1) {
        const key = idempotencyPartKey(this.#record, attempt, index);
        await put({ ...key, ...part(index), ttl }, absent, this.#deadline);
      }
      await this.#write({ ...this.#record, state: 'answered', ...part(0), parts });
    });
  }

  /** A key whose request bought nothing is free again; one that may have bought something is used up. */
  async fail(error: unknown): Promise<void> {
    const tookNothing = error instanceof ApiError && error.payment === 'none';
    if (!this.#isSent || tookNothing) {
      await this.#afterwards('release', () => remove(this.#record, this.#isOurs(), this.#deadline));
    } else {
      await this.#afterwards('mark as unknown', () => this.#write({ ...this.#record, state: 'unknown' }));
    }
  }

  #isOurs(): Clause[] {
    return [['attempt', '=', this.#record.attempt]];
  }

  async #write(record: IdempotencyRecord): Promise<void> {
    const { written } = await put(record, this.#isOurs(), this.#deadline);
    if (!written) throw new Error('another request holds the key');
  }

  /** The lease covers a step that fails. */
  async #afterwards(step: string, work: () => Promise<unknown>): Promise<void> {
    await afterwards('idempotency', step, this.#deadline, work);
  }
}

async function readAnswer(holder: IdempotencyRecord, deadline: number): Promise<Answer> {
  const { attempt, parts: count = 1 } = holder;
  const keys = Array.from({ length: count - 1 }, (_, index) =>
    idempotencyPartKey(holder, attempt, index + 1),
  );
  const rest = await get(deadline, ...keys);
  const parts = [holder, ...rest.map((item) => idempotencyRecord(item))];
  const pieces = parts.flatMap((part) => part?.bytes ?? []);
  return JSON.parse(gunzipSync(Buffer.concat(pieces)).toString());
}

function beforeSending(write: Promise<WriteResult>): Promise<WriteResult> {
  return write.catch((error: unknown) => {
    throw nothingSent(error);
  });
}
