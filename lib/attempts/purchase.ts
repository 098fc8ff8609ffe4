import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import { note } from '../log.ts';
import { type BoughtTask, maxInt32 } from '../providers/provider-call.ts';
import { dayOf } from '../windows.ts';
import { rateLimitFields } from './account.ts';
import {
  type Attempt,
  type AttemptEnd,
  endAttempt,
  keyOfAttempt,
  recordDayCaller,
  recordSent,
  rejectUnsent,
} from './attempt.ts';
import { type Reserved, reserve, settle } from './reserve.ts';

/** The money of one request. The comment in attempt.ts explains the steps, and why dying in any is safe. */
export class Purchase {
  readonly #context: Context;
  readonly #attempt: Attempt;
  #reserved: Reserved | undefined;
  /** When the attempt was known to be recorded. Undefined while nothing can have been sent. */
  #sentAt: number | undefined;

  constructor(context: Context, attempt: Attempt) {
    this.#context = context;
    this.#attempt = attempt;
  }

  get isReserved(): boolean {
    return this.#reserved !== undefined;
  }

  get isSent(): boolean {
    return this.#sentAt !== undefined;
  }

  /**
   * Reserves the ceiling, then records the attempt, its task, and its caller under the day. Nothing may be sent before. If
   * the store doesn't confirm the reservation, the visit gives it back.
   */
  async begin(recordTask: (() => Promise<void>) | undefined): Promise<void> {
    const [context, attempt] = [this.#context, this.#attempt];
    const { account, n } = await reserve(context, attempt);
    this.#reserved = { account, n };
    const isListed = account.listed === dayOf(attempt.at);
    const [isRecorded] = await allEnded([
      recordSent(context, attempt, n),
      recordTask?.(),
      isListed ? undefined : recordDayCaller(context, attempt.caller, attempt.at),
    ]);
    if (!isRecorded) throw new ApiError('unavailable', { reason: 'a visit was faster' });
    this.#sentAt = Date.now();
  }

  /** The task was started: charge the provider's price, or the whole reservation if there is none. */
  async taken({ taskId, credits = this.#attempt.price }: BoughtTask): Promise<void> {
    const { price, ceiling } = this.#attempt;
    const isAbove = credits !== undefined && credits > ceiling;
    note({
      // The log line already contains a price from the provider.
      ...(price !== undefined && { credits: price }),
      credits_counted: credits ?? ceiling,
      ...(isAbove && { credits_above_ceiling: credits - ceiling }),
    });
    const is_exact = credits !== undefined;
    await this.#end({ payment: 'taken', credits: credits ?? ceiling, is_exact, task_id: taskId });
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
    if (!this.#reserved) throw new Error('Nothing was reserved.');
    const { account, n } = this.#reserved;
    const [context, attempt] = [this.#context, this.#attempt];
    const isOurs =
      this.#sentAt === undefined
        ? await rejectUnsent(context, attempt, n, end)
        : await endAttempt(context, keyOfAttempt(attempt), { ...end, ms: Date.now() - this.#sentAt });
    if (!isOurs) return;
    const cost = { credits: end.credits, isTask: end.payment !== 'rejected', isListed: this.isSent };
    const settled = await settle(context, account, { ...attempt, n }, cost);
    if (settled) this.#reserved = { account: settled, n };
  }

  /** The response's headers about the caller's budget, from the last seen state of the account. */
  headers(task?: BoughtTask): Record<string, string> {
    const credits = task && (task.credits ?? this.#attempt.price);
    return {
      ...(this.#reserved && rateLimitFields(this.#reserved.account)),
      ...(credits !== undefined && { 'x-credits-used': String(Math.min(credits, maxInt32)) }),
    };
  }
}
