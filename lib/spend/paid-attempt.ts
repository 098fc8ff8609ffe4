import { randomUUID } from 'node:crypto';
import type { BoughtTask } from '../bought-task.ts';
import type { Contract } from '../contract.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { describeError, log, note } from '../log.ts';
import { nothingSent } from '../store/nothing-sent.ts';
import type { AccountRecord } from './account.ts';
import { ceilingOf, type Task } from './limits.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import { reserve } from './reserve.ts';
import { settle } from './settle.ts';
import { completeUsage, openUsage, type UsageResult } from './usage-records.ts';
import { warnOnce } from './warnings.ts';

/*
 * The money of one paid request. Each arrow is one write; what stands below it is what an invocation that dies there
 * leaves behind, and what the hourly sweep (sweep-holds.ts) makes of it:
 *
 *   (nothing) ─reserve─> held ─open─> recorded ═send═> answered ─complete─> completed ─settle─> settled
 *                         │            │                  │                   │
 *       hold, no record ──┘            └──────────────────┤                   └── hold, completed record
 *       nothing was sent: released    hold, open record   │                       settled by the record
 *                                     may have been sent: counted in full
 *
 * The hold is an attribute of the caller's account, next to the sums that the limits bound, and it is the first thing
 * written and the last one removed: where there is none, nothing is owed. Nothing leaves before both hold and record
 * are stored, and a record is completed before its hold goes, so each of the three remains says what happened. The
 * provider's answer decides what is completed: `taken` counts what the task cost, `refused` counts nothing, and
 * `unknown` counts all that was reserved.
 */

interface PaidRequest extends Task {
  caller: string;
  requestId: string;
  keyHash: string | undefined;
  /** Who says what a task costs; see lib/contract.ts. */
  paid: 'by reply' | 'by price';
  deadline: number;
}

export class PaidAttempt {
  readonly #request: PaidRequest;
  readonly #ceiling: number | undefined;
  readonly #at = Date.now();
  readonly #attempt = `${new Date(this.#at).toISOString()}#${randomUUID()}`;
  #phase: 'idle' | 'held' | 'sent' = 'idle';
  #account: AccountRecord | undefined;

  constructor(request: PaidRequest) {
    this.#request = request;
    this.#ceiling = ceilingOf(request);
  }

  /** Names the attempt, and with its caller its usage record. */
  get name(): string {
    return this.#attempt;
  }

  /** Everything that must be stored before anything is sent; `markSent` is what the Idempotency-Key adds to it. */
  async open(markSent: () => Promise<void>): Promise<void> {
    const { caller, deadline } = this.#request;
    const named = { caller, attempt: this.#attempt };
    const reservation = reserve({ ...named, at: this.#at, ceiling: this.#ceiling, deadline });
    this.#phase = 'held';
    this.#account = await reservation.catch((error: unknown) => {
      // A refusal has written nothing; a store that failed may have.
      if (isRefusal(error)) this.#phase = 'idle';
      throw nothingSent(error);
    });
    const usage = openUsage({ ...this.#request, ...named, ceiling: this.#ceiling ?? 0 });
    const writes = await Promise.allSettled([usage, markSent()]);
    const [first, second] = writes.flatMap((write) => (write.status === 'rejected' ? [write.reason] : []));
    if (second !== undefined) log('warn', 'second_failure', describeError(second));
    if (first !== undefined) throw nothingSent(first);
    this.#phase = 'sent';
  }

  /** The task was started: it costs what the provider says, or else what was reserved. */
  async taken({ taskId, credits = this.#price }: BoughtTask): Promise<void> {
    const ceiling = this.#ceiling ?? 0;
    const isAbove = credits !== undefined && this.#ceiling !== undefined && credits > ceiling;
    note({
      // What a provider says itself is in the log line already.
      ...(this.#price !== undefined && { credits: this.#price }),
      credits_counted: credits ?? ceiling,
      ...(isAbove && { credits_above_ceiling: credits - ceiling }),
    });
    await this.#finish({
      state: 'taken',
      credits: credits ?? ceiling,
      is_exact: credits !== undefined,
      task_id: taskId,
    });
  }

  /** What a failure means for money is said by the error, and by whether anything can have been sent. */
  async failed(error: unknown): Promise<void> {
    if (this.#phase === 'idle') return;
    if (this.#phase === 'held' || isRefusal(error)) {
      await this.#finish({ state: 'refused', credits: 0, is_exact: true });
    } else {
      note({ credits_counted: this.#ceiling ?? 0 });
      await this.#finish({ state: 'unknown', credits: this.#ceiling ?? 0, is_exact: false });
    }
  }

  /** What the answer says about the caller's budget: the stored state, as it was seen last. */
  headers(bought?: BoughtTask): Record<string, string> {
    const credits = bought?.credits ?? (bought && this.#price);
    return {
      ...(this.#account && rateLimitFields(this.#account)),
      ...(credits !== undefined && { 'x-credits-used': String(credits) }),
    };
  }

  get #price(): number | undefined {
    return this.#request.paid === 'by price' ? this.#ceiling : undefined;
  }

  async #finish(result: UsageResult): Promise<void> {
    const { caller, deadline } = this.#request;
    const { credits, state } = result;
    const ms = Date.now() - this.#at;
    await completeUsage(caller, this.#attempt, { ...result, ms }, deadline);
    const ceiling = this.#ceiling ?? 0;
    const settlement = {
      caller,
      attempt: this.#attempt,
      ceiling,
      credits,
      isTask: state !== 'refused',
      deadline,
    };
    const account = await settle(settlement, this.#account);
    if (account === undefined) return;
    this.#account = account;
    await warnOnce(account, this.#at, deadline);
  }
}

/** The money of a request, where it costs some. */
export function startAttempt(
  { paid, name, secondsOf }: Contract,
  caller: string,
  { body, requestId, deadline }: { body: unknown; requestId: string; deadline: number },
  keyHash: string | undefined,
): PaidAttempt | undefined {
  if (paid === undefined) return undefined;
  const fields: JsonObject = { ...Object(body) };
  const { model } = fields;
  return new PaidAttempt({
    caller,
    operation: name,
    model: typeof model === 'string' ? model : undefined,
    seconds: secondsOf?.(fields),
    requestId,
    keyHash,
    paid,
    deadline,
  });
}

/** Said by us or by the provider: nothing was bought. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.payment === 'none';
}
