import type { Context } from '../context.ts';
import { hash } from 'node:crypto';
import { ApiError, boughtNothing } from '../errors.ts';
import { note } from '../log.ts';
import { absent, type Clause, type Condition, typedRead } from '../store/items.ts';
import { idempotencyKey, idempotencyPartKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { put, remove } from '../store/write.ts';
import type { BoughtTask } from '../providers/provider-call.ts';
import { type Answer, hashOfKey, type Keyed } from './attempt.ts';
import type { KeyOutcome } from '../spend/usage-records.ts';

/*
 * One record per key and caller. A paid request leaves only from `sent`, and no record goes back from there
 * unless the provider rejected the request:
 *
 *               acquire               markSent                keep
 *   (no record) ───────> running ───────────────> sent ──────────────> answered: replayed for 24 hours
 *        ^                  │                       │
 *        ├── release: nothing sent                  ├── release: unknown ─> unknown: rejected for 24 hours
 *        └── release: not taken ────────────────────┘
 *
 * An invocation that dies leaves `running` or `sent` behind. Once its lease has passed, `running` may be
 * acquired again, because nothing was sent, and `sent` counts as unknown. Every step is conditional on the
 * attempt that acquired the key, so a slow invocation that loses its lease can neither send nor answer. If
 * the store doesn't confirm a write, the lease ends it: removing the record would delay a 503, and the store
 * may still apply the write later. Expiry is compared here: DynamoDB deletes expired records up to two days
 * late.
 */
interface IdempotencyRecord extends KeyOutcome {
  fingerprint: string;
  lease_until: number;
  expires_at: number;
  /** The same in seconds, for DynamoDB. */
  ttl: number;
  /** Only for a sent request: if its response was lost, they lead to its task. */
  task_headers?: Record<string, string>;
  /** The compressed response: the first of so many parts. */
  bytes?: Uint8Array;
  parts?: number;
}

type AnswerPart = Required<Pick<IdempotencyRecord, 'bytes'>>;

export const idempotencyRecord = typedRead<IdempotencyRecord>();

interface KeyOptions {
  /** Identifies this attempt in the record. */
  attempt: string;
  /** Refreshes short-lived fields, such as signed URLs, in the body of a replayed response. */
  refresh?: ((body: string) => Promise<string>) | undefined;
  context: Context;
}

const keptForMs = 24 * 60 * 60 * 1000;
/** How long an invocation may run past its deadline before Lambda ends it: clocks may differ. */
const leaseMarginMs = 5000;
const maxPartBytes = 380_000;

/** An import would load it in every function, with a key or without: two percent of a cold start. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** The Idempotency-Key of one request. */
export class IdempotencyKey {
  readonly #key: string;
  readonly #options: KeyOptions;
  readonly #record: IdempotencyRecord;
  #taskHeaders: Record<string, string> = {};
  #phase: 'new' | 'running' | 'sent' = 'new';

  constructor(keyed: Keyed, options: KeyOptions) {
    const { attempt, context } = options;
    const now = Date.now();
    this.#key = keyed.key;
    this.#options = options;
    this.#record = {
      ...idempotencyKey(hashOfKey(keyed)),
      attempt,
      fingerprint: hash('sha256', keyed.request),
      state: 'running',
      lease_until: context.deadline + leaseMarginMs,
      expires_at: now + keptForMs,
      ttl: Math.ceil((now + keptForMs) / 1000),
    };
  }

  /** Acquires the key for this request, or returns the kept response to an earlier request with it. */
  async acquire(): Promise<Answer | undefined> {
    const { context, refresh } = this.#options;
    requireVisibleAscii(this.#key);
    const now = Date.now();
    const putting = put(context, this.#record, isFree(now));
    // Loading takes a few milliseconds, while the store is at work anyway.
    zlib();
    const result = await putting;
    if (result.written) {
      this.#phase = 'running';
      return undefined;
    }
    const holder = result.found;
    if (!holder) throw new ApiError('unavailable', { reason: 'the key was released meanwhile' });
    if (holder.fingerprint !== this.#record.fingerprint) throw new ApiError('idempotency_mismatch');
    if (holder.state !== 'answered') {
      const isRunning = holder.state !== 'unknown' && holder.lease_until > now;
      const code = isRunning ? 'idempotency_in_flight' : 'idempotency_consumed';
      throw new ApiError(code, { headers: { ...holder.task_headers } });
    }
    note({ idempotent_replay: true });
    const { statusCode, headers, body } = await readAnswer(context, holder);
    const refreshed = refresh ? await refresh(body) : body;
    return { statusCode, headers: { ...headers, 'idempotent-replayed': 'true' }, body: refreshed };
  }

  /** From now on the request may have bought something. */
  async markSent(taskHeaders: Record<string, string>): Promise<void> {
    this.#taskHeaders = taskHeaders;
    const sent: IdempotencyRecord = { ...this.#record, state: 'sent', task_headers: taskHeaders };
    const { written } = await put(this.#options.context, sent, this.#isOurs());
    if (!written) throw new ApiError('idempotency_in_flight');
    this.#phase = 'sent';
  }

  /**
   * Responses may echo a payload of a million characters, and an item holds 400 KB, so the rest goes into parts, written
   * first. If the store fails here, the caller still gets its response, and the record stays `sent`.
   */
  async keep(answer: Answer, task?: BoughtTask): Promise<void> {
    const packed = zlib().gzipSync(JSON.stringify(answer));
    const parts = Math.ceil(packed.length / maxPartBytes);
    const part = (index: number): AnswerPart => ({
      bytes: packed.subarray(index * maxPartBytes, (index + 1) * maxPartBytes),
    });
    const { attempt, ttl } = this.#record;
    const saved = {
      ...(task && { task_id: task.taskId }),
      ...(task?.credits !== undefined && { credits: task.credits }),
    };
    for (let index = 1; index < parts; index += 1) {
      const place = idempotencyPartKey(this.#record, attempt, index);
      await put(this.#options.context, { ...place, ...part(index), ttl }, absent);
    }
    await this.#write({ ...this.#record, state: 'answered', ...part(0), parts, ...saved });
  }

  /** A key whose request bought nothing is free again; one that may have bought something is used up. */
  async release(error: ApiError): Promise<void> {
    if (this.#phase === 'new') return;
    if (this.#phase === 'running' || boughtNothing(error)) {
      await remove<IdempotencyRecord>(this.#options.context, this.#record, this.#isOurs());
    } else {
      await this.#write({ ...this.#record, state: 'unknown', task_headers: this.#taskHeaders });
    }
  }

  #isOurs(): Clause<IdempotencyRecord>[] {
    return [['attempt', '=', this.#record.attempt]];
  }

  async #write(record: IdempotencyRecord): Promise<void> {
    const { written } = await put(this.#options.context, record, this.#isOurs());
    if (!written) throw new Error('another request holds the key');
  }
}

function isFree(now: number): Condition<IdempotencyRecord> {
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

async function readAnswer(context: Context, holder: IdempotencyRecord): Promise<Answer> {
  const { attempt, parts: count = 1 } = holder;
  const keys = Array.from({ length: count - 1 }, (_, index) =>
    idempotencyPartKey(holder, attempt, index + 1),
  );
  const rest = await get(context, ...keys);
  const parts = [holder, ...rest.map((item) => idempotencyRecord(item))];
  const pieces = parts.flatMap((part) => part?.bytes ?? []);
  return JSON.parse(zlib().gunzipSync(Buffer.concat(pieces)).toString());
}
