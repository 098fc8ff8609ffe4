import type { Context } from '../context.ts';
import type { Contract } from '../contract.ts';
import { isRefused } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { note } from '../log.ts';
import type { AccountRecord } from '../spend/account.ts';
import { ceilingOf, type Task } from '../spend/limits.ts';
import { rateLimitFields } from '../spend/rate-limit-fields.ts';
import { reserve } from '../spend/reserve.ts';
import { settle } from '../spend/settle.ts';
import { completeUsage, openUsage, type UsageResult } from '../spend/usage-records.ts';
import { warnOnce } from '../spend/warnings.ts';
import type { PaidRequest, Participant, Sent } from './participant.ts';

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

interface Spending extends Task {
  caller: string;
  requestId: string;
  keyHash: string | undefined;
  ticketHash?: string | undefined;
  /** Who says what a task costs; see lib/contract.ts. */
  paid: 'by reply' | 'by price';
  context: Context;
}

/** The money of one paid request. */
export class Money implements Participant {
  readonly name = 'spending';
  /** Names the attempt, and with its caller its usage record. */
  readonly usageName: string;
  readonly #spending: Spending;
  readonly #ceiling: number | undefined;
  readonly #at = Date.now();
  #phase: 'idle' | 'held' | 'recorded' = 'idle';
  #account: AccountRecord | undefined;

  constructor(attempt: string, spending: Spending) {
    this.#spending = spending;
    this.#ceiling = ceilingOf(spending);
    this.usageName = `${new Date(this.#at).toISOString()}#${attempt}`;
  }

  async prepare(): Promise<undefined> {
    const { caller, context } = this.#spending;
    const named = { caller, attempt: this.usageName };
    const reservation = reserve({ ...named, at: this.#at, ceiling: this.#ceiling, context });
    this.#phase = 'held';
    this.#account = await reservation.catch((error: unknown) => {
      // A refusal has written nothing; a store that failed may have.
      if (isRefused(error)) this.#phase = 'idle';
      throw error;
    });
  }

  async record(): Promise<void> {
    await openUsage({ ...this.#spending, attempt: this.usageName, ceiling: this.#ceiling ?? 0 });
    this.#phase = 'recorded';
  }

  /** The task was started: it costs what the provider says, or else what was reserved. */
  async succeed({ task }: Sent): Promise<void> {
    const credits = task?.credits ?? this.#price;
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
      ...(task && { task_id: task.taskId }),
    });
  }

  async fail(error: unknown): Promise<void> {
    if (this.#phase === 'idle') return;
    if (isRefused(error)) {
      await this.#finish({ state: 'refused', credits: 0, is_exact: true });
    } else {
      note({ credits_counted: this.#ceiling ?? 0 });
      await this.#finish({ state: 'unknown', credits: this.#ceiling ?? 0, is_exact: false });
    }
  }

  /** What the answer says about the caller's budget: the stored state, as it was seen last. */
  headers(sent?: Sent): Record<string, string> {
    const credits = sent && (sent.task?.credits ?? this.#price);
    return {
      ...(this.#account && rateLimitFields(this.#account)),
      ...(credits !== undefined && { 'x-credits-used': String(credits) }),
    };
  }

  get #price(): number | undefined {
    return this.#spending.paid === 'by price' ? this.#ceiling : undefined;
  }

  async #finish(result: UsageResult): Promise<void> {
    const { caller, context } = this.#spending;
    const { credits, state } = result;
    const ms = Date.now() - this.#at;
    await completeUsage(context, caller, this.usageName, { ...result, ms });
    const settlement = {
      caller,
      attempt: this.usageName,
      ceiling: this.#ceiling ?? 0,
      credits,
      isTask: state !== 'refused',
      context,
    };
    const account = await settle(settlement, this.#account);
    if (account === undefined) return;
    this.#account = account;
    await warnOnce(context, account, this.#at);
  }
}

/** The money of a request that costs some. */
export function moneyOf(
  { paid, name, secondsOf }: Contract,
  { attempt, caller, body, requestId, context }: PaidRequest,
  { keyHash, ticketHash }: Pick<Spending, 'keyHash' | 'ticketHash'>,
): Money | undefined {
  if (paid === undefined) return undefined;
  const fields: JsonObject = { ...Object(body) };
  const { model } = fields;
  return new Money(attempt, {
    caller,
    operation: name,
    model: typeof model === 'string' ? model : undefined,
    seconds: secondsOf?.(fields),
    requestId,
    keyHash,
    ticketHash,
    paid,
    context,
  });
}
