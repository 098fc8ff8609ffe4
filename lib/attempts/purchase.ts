import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import { note } from '../log.ts';
import { type BoughtTask, maxInt32 } from '../providers/provider-call.ts';
import { type AccountRecord, rateLimitFields, reservationOf } from './account.ts';
import {
  type AttemptEnd,
  type AttemptRecord,
  endAttempt,
  recordDayCaller,
  recordSent,
  rejectUnsent,
} from './attempt.ts';
import { reserve, settle } from './reserve.ts';

/** The money of one request. The comment in attempt.ts explains the steps, and why dying in any is safe. */
export class Purchase {
  readonly #context: Context;
  #attempt: AttemptRecord;
  /** As it was last seen. Undefined while nothing is reserved. */
  #account: AccountRecord | undefined;
  /** When the attempt was known to be recorded. Undefined while nothing can have been sent. */
  #sentAt: number | undefined;

  constructor(context: Context, attempt: AttemptRecord) {
    this.#context = context;
    this.#attempt = attempt;
  }

  get isReserved(): boolean {
    return this.#account !== undefined;
  }

  get isSent(): boolean {
    return this.#sentAt !== undefined;
  }

  /**
   * Reserves the ceiling, then records the attempt, its task, and its caller under the day. Nothing may be sent before. If
   * the store doesn't confirm the reservation, the visit gives it back.
   */
  async begin(recordTask: (() => Promise<void>) | undefined): Promise<void> {
    const context = this.#context;
    const { account, n } = await reserve(context, this.#attempt);
    this.#account = account;
    const attempt = { ...this.#attempt, n };
    this.#attempt = attempt;
    const { caller, at } = attempt;
    const isListed = account.listed === at.slice(0, 10);
    const [isRecorded] = await allEnded([
      recordSent(context, attempt),
      recordTask?.(),
      isListed ? undefined : recordDayCaller(context, caller, Date.parse(at)),
    ]);
    if (!isRecorded) throw new ApiError('unavailable', { reason: 'a visit was faster' });
    this.#sentAt = Date.now();
  }

  /** The provider's price, or the operator's rate if that sets it. */
  #priceOf({ credits }: BoughtTask): number | undefined {
    const { is_exact, ceiling } = this.#attempt;
    return credits ?? (is_exact ? ceiling : undefined);
  }

  /** The task was started: charge its price, or the whole reservation if it has none. */
  async taken(task: BoughtTask): Promise<void> {
    const { ceiling } = this.#attempt;
    const price = this.#priceOf(task);
    const credits = price ?? ceiling;
    note({
      ...(price !== undefined && { credits }),
      credits_counted: credits,
      ...(credits > ceiling && { credits_above_ceiling: credits - ceiling }),
    });
    await this.#end({ payment: 'taken', credits, is_exact: price !== undefined, task_id: task.taskId });
  }

  /** Releases the reservation if the task was not started; keeps it if that is unknown. */
  async failed(error: ApiError): Promise<void> {
    if (!this.isReserved) return;
    const { code, payment } = error;
    if (payment === 'rejected') return this.#end({ payment, credits: 0, is_exact: true, code });
    const { taskId: task_id, credits: credits_told } = error.task ?? {};
    const credits = Math.max(credits_told ?? 0, this.#attempt.ceiling);
    note({ credits_counted: credits });
    await this.#end({ payment: 'unknown', credits, is_exact: false, code, task_id, credits_told });
  }

  /** The account follows the record, and only if this process ended it. */
  async #end(end: AttemptEnd): Promise<void> {
    const [context, attempt, account] = [this.#context, this.#attempt, this.#account];
    if (!account) throw new Error('Nothing was reserved.');
    const isOurs =
      this.#sentAt === undefined
        ? await rejectUnsent(context, attempt, end)
        : await endAttempt(context, attempt, { ...end, ms: Date.now() - this.#sentAt });
    if (!isOurs) return;
    const cost = { credits: end.credits, isTask: end.payment !== 'rejected', isListed: this.isSent };
    this.#account = (await settle(context, account, reservationOf(attempt), cost)) ?? account;
  }

  /** The response's headers about the caller's budget. */
  headers(task?: BoughtTask): Record<string, string> {
    const credits = task && this.#priceOf(task);
    return {
      ...(this.#account && rateLimitFields(this.#account)),
      ...(credits !== undefined && { 'x-credits-used': String(Math.min(credits, maxInt32)) }),
    };
  }
}
