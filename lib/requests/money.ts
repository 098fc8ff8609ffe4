import type { Context } from '../context.ts';
import type { Contract, PriceRule } from '../contract.ts';
import { type ApiError, boughtNothing } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import { describeError, log, note } from '../log.ts';
import { type AccountRecord, rateLimitFields } from '../spend/account.ts';
import { ceilingOf, pricedFields } from '../spend/ceiling.ts';
import { reserve, settle, warnOnce } from '../spend/reservation.ts';
import {
  completeUsage,
  listDayCaller,
  openUsage,
  refuseUsage,
  type Task,
  type UsageResult,
  usageName,
} from '../spend/usage-records.ts';
import { dayOf } from '../windows.ts';
import type { PaidRequest, Participant, Sent } from './run-request.ts';

interface Spending {
  task: Task;
  caller: string;
  /** Names the attempt in all that is stored for the request. */
  id: string;
  requestId: string;
  keyHash: string | undefined;
  ticketHash?: string | undefined;
  /** The most credits that the task may cost. */
  ceiling: number;
  toldBy: PriceRule['toldBy'];
}

/** The money of one paid request; lib/spend/account.ts says why each phase is safe to die in. */
export class Money implements Participant {
  readonly name = 'spending';
  readonly #context: Context;
  readonly #spending: Spending;
  #reserved: { account: AccountRecord; at: number } | undefined;
  #isRecorded = false;
  #sentAt = Date.now();

  constructor(context: Context, spending: Spending) {
    this.#context = context;
    this.#spending = spending;
  }

  /** Names the usage record, together with its caller; known once the money is reserved. */
  get usageName(): string | undefined {
    return this.#reserved && usageName({ at: this.#reserved.at, id: this.#spending.id });
  }

  /** If the store does not say whether it reserved anything, nothing is sent, and the sweep gives it back. */
  async prepare(): Promise<undefined> {
    const { caller, ceiling } = this.#spending;
    this.#reserved = await reserve(this.#context, { caller, ceiling });
  }

  async record(): Promise<void> {
    const { caller } = this.#spending;
    const { account, at } = this.#mustBeReserved;
    const isFirst = account[`tasks:${dayOf(at)}`] === 1;
    // The sweep lists the caller too, so this may fail.
    const listed = isFirst ? listDayCaller(this.#context, caller, at).catch(logUnlisted) : undefined;
    await allEnded([openUsage(this.#context, this.#opened), listed]);
    this.#isRecorded = true;
    this.#sentAt = Date.now();
  }

  /** The task was started: it costs what the provider says, or the reservation if the provider says nothing. */
  async succeed({ task }: Sent): Promise<void> {
    const credits = task?.credits ?? this.#price;
    const { ceiling } = this.#spending;
    const isAbove = credits !== undefined && credits > ceiling;
    note({
      // What a provider says itself is in the log line already.
      ...(this.#price !== undefined && { credits: this.#price }),
      credits_counted: credits ?? ceiling,
      ...(isAbove && { credits_above_ceiling: credits - ceiling }),
    });
    await this.#complete({
      state: 'taken',
      credits: credits ?? ceiling,
      is_exact: credits !== undefined,
      ...(task && { task_id: task.taskId }),
    });
  }

  async fail(error: ApiError): Promise<void> {
    if (!this.#reserved) return;
    const { code } = error;
    if (!boughtNothing(error)) {
      const { taskId, credits } = error.task ?? {};
      const counted = Math.max(credits ?? 0, this.ceiling);
      note({ credits_counted: counted });
      const known = {
        ...(taskId !== undefined && { task_id: taskId }),
        ...(credits !== undefined && { credits_told: credits }),
      };
      await this.#complete({ state: 'unknown', credits: counted, is_exact: false, code, ...known });
    } else if (this.#isRecorded) {
      await this.#complete({ state: 'refused', credits: 0, is_exact: true, code });
    } else {
      await refuseUsage(this.#context, this.#opened, code);
      await this.#settle(0, false);
    }
  }

  /** What the answer says about the caller's budget: the stored state, as it was seen last. */
  headers(sent?: Sent): Record<string, string> {
    const credits = sent && (sent.task?.credits ?? this.#price);
    return {
      ...(this.#reserved && rateLimitFields(this.#reserved.account)),
      ...(credits !== undefined && { 'x-credits-used': String(credits) }),
    };
  }

  /** What is counted for a task whose price the provider doesn't name. */
  get ceiling(): number {
    return this.#spending.ceiling;
  }

  get #price(): number | undefined {
    return this.#spending.toldBy === 'rate' ? this.ceiling : undefined;
  }

  get #mustBeReserved() {
    if (!this.#reserved) throw new Error('Nothing was reserved.');
    return this.#reserved;
  }

  get #opened() {
    const { caller, id, task, requestId, keyHash, ticketHash, ceiling } = this.#spending;
    const attempt = { caller, at: this.#mustBeReserved.at, id };
    return { ...task, attempt, requestId, keyHash, ticketHash, ceiling };
  }

  /** The account follows the record, and only if it was this attempt that completed it. */
  async #complete(result: UsageResult): Promise<void> {
    const ms = Date.now() - this.#sentAt;
    const isOurs = await completeUsage(this.#context, this.#opened.attempt, { ...result, ms });
    if (isOurs) await this.#settle(result.credits, result.state !== 'refused');
  }

  async #settle(credits: number, isTask: boolean): Promise<void> {
    const { account, at } = this.#mustBeReserved;
    const { caller, ceiling } = this.#spending;
    const settlement = { caller, at, ceiling, credits, isTask };
    const settled = await settle(this.#context, settlement, account);
    if (settled === undefined) return;
    this.#reserved = { account: settled, at };
    await warnOnce(this.#context, settled, at);
  }
}

function logUnlisted(error: unknown): void {
  log('warn', 'spending', { step: 'list the caller of the day', ...describeError(error) });
}

/** The money of a request that costs some. */
export function moneyOf(
  { price, name }: Contract,
  { attempt, caller, body, requestId, context }: PaidRequest,
  { keyHash, ticketHash }: Pick<Spending, 'keyHash' | 'ticketHash'>,
): Money | undefined {
  if (price === undefined) return undefined;
  const { model, seconds } = pricedFields(price, Object(body));
  const task: Task = {
    operation: name,
    model,
    seconds: seconds && Math.min(seconds, maxSeconds),
    frames: price.framesOf?.(Object(body)),
  };
  const ceiling = ceilingOf(name, price, Object(body));
  const { toldBy } = price;
  return new Money(context, { task, ceiling, toldBy, caller, id: attempt, requestId, keyHash, ticketHash });
}

/** More than any task lasts, and still a number that a record can hold. */
const maxSeconds = 2 ** 31 - 1;
