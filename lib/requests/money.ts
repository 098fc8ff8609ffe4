import type { Context } from '../context.ts';
import type { Contract, PriceRule } from '../contract.ts';
import { type ApiError, boughtNothing } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import { describeError, log, note } from '../log.ts';
import { type AccountRecord, rateLimitFields } from '../spend/account.ts';
import { reserve, settle, warnOnce } from '../spend/reservation.ts';
import {
  completeUsage,
  recordDayCaller,
  openUsage,
  rejectUsage,
  type Task,
  type UsageResult,
  usageName,
} from '../spend/usage-records.ts';
import type { Rate, RateRow } from '../variable-kinds.ts';
import { dayOf } from '../windows.ts';
import { type BoughtTask, maxInt32 } from '../providers/provider-call.ts';
import type { Attempt } from './attempt.ts';
import * as config from '../config.ts';

export type PaidContract = Contract & Required<Pick<Contract, 'price' | 'notifies'>>;

/** The money of one paid request; lib/spend/account.ts explains why dying in any phase is safe. */
export class Money {
  readonly #context: Context;
  readonly #attempt: Attempt;
  readonly #task: Task;
  /** The most credits that the task may cost: the amount counted if the provider names no price. */
  readonly ceiling: number;
  /** Its cost, if the operator's rate sets it and not the provider. */
  readonly #price: number | undefined;
  #reserved: { account: AccountRecord; at: number } | undefined;
  #isRecorded = false;
  #sentAt = Date.now();

  constructor(context: Context, attempt: Attempt, price: PriceRule, body: object) {
    const { model, stated, durations } = pricedFields(price, body);
    this.#context = context;
    this.#attempt = attempt;
    this.#task = {
      operation: attempt.operation,
      model,
      seconds: stated && Math.min(stated, maxSeconds),
      frames: durations.length > 1 ? durations.length : undefined,
    };
    this.ceiling = ceilingOf(attempt.operation, price, body);
    this.#price = price.toldBy === 'rate' ? this.ceiling : undefined;
  }

  /** The usage record's name within its caller, by the minute that the reservation counts for. */
  get usageName(): string {
    return usageName({ at: this.#mustBeReserved.at, id: this.#attempt.id });
  }

  /** If the store doesn't confirm the reservation, nothing is sent, and the sweep gives it back. */
  async reserve(): Promise<void> {
    const { caller } = this.#attempt;
    this.#reserved = await reserve(this.#context, { caller, ceiling: this.ceiling });
  }

  /** The record of the attempt, without which nothing may be sent. */
  async open(): Promise<void> {
    const { caller } = this.#attempt;
    const { account, at } = this.#mustBeReserved;
    const isFirst = account[`tasks:${dayOf(at)}`] === 1;
    // The sweep also lists the caller, so this may fail.
    const listed = isFirst ? recordDayCaller(this.#context, caller, at).catch(logUnlisted) : undefined;
    await allEnded([openUsage(this.#context, this.#opened), listed]);
    this.#isRecorded = true;
    this.#sentAt = Date.now();
  }

  /** The task was started: charge the provider's price, or the whole reservation if there is none. */
  async charge(task: BoughtTask): Promise<void> {
    const credits = task.credits ?? this.#price;
    const { ceiling } = this;
    const isAbove = credits !== undefined && credits > ceiling;
    note({
      // The log line already contains a price from the provider.
      ...(this.#price !== undefined && { credits: this.#price }),
      credits_counted: credits ?? ceiling,
      ...(isAbove && { credits_above_ceiling: credits - ceiling }),
    });
    await this.#complete({
      state: 'taken',
      credits: credits ?? ceiling,
      is_exact: credits !== undefined,
      task_id: task.taskId,
    });
  }

  /** Releases the reservation if the task was not started; keeps it if that is unknown. */
  async release(error: ApiError): Promise<void> {
    if (!this.#reserved) return;
    const { code } = error;
    if (!boughtNothing(error)) {
      const { taskId: task_id, credits: credits_told } = error.task ?? {};
      const credits = Math.max(credits_told ?? 0, this.ceiling);
      note({ credits_counted: credits });
      await this.#complete({ state: 'unknown', credits, is_exact: false, code, task_id, credits_told });
    } else if (this.#isRecorded) {
      await this.#complete({ state: 'rejected', credits: 0, is_exact: true, code });
    } else {
      await rejectUsage(this.#context, this.#opened, code);
      await this.#settle(0, false);
    }
  }

  /** The response's headers about the caller's budget, from the last seen state of the account. */
  headers(task?: BoughtTask): Record<string, string> {
    const credits = task && (task.credits ?? this.#price);
    return {
      ...(this.#reserved && rateLimitFields(this.#reserved.account)),
      ...(credits !== undefined && { 'x-credits-used': String(Math.min(credits, maxInt32)) }),
    };
  }

  get #mustBeReserved() {
    if (!this.#reserved) throw new Error('Nothing was reserved.');
    return this.#reserved;
  }

  get #opened() {
    const { caller, id, requestId, keyHash, relayedTask } = this.#attempt;
    const attempt = { caller, at: this.#mustBeReserved.at, id };
    return { ...this.#task, attempt, requestId, keyHash, taskHash: relayedTask?.hash, ceiling: this.ceiling };
  }

  /** Updates the account after the record, and only if this attempt completed the record. */
  async #complete(result: UsageResult): Promise<void> {
    const ms = Date.now() - this.#sentAt;
    const isOurs = await completeUsage(this.#context, this.#opened.attempt, { ...result, ms });
    if (isOurs) await this.#settle(result.credits, result.state !== 'rejected');
  }

  async #settle(credits: number, isTask: boolean): Promise<void> {
    const { account, at } = this.#mustBeReserved;
    const settlement = { caller: this.#attempt.caller, at, ceiling: this.ceiling, credits, isTask };
    const settled = await settle(this.#context, settlement, account);
    if (settled === undefined) return;
    this.#reserved = { account: settled, at };
    await warnOnce(this.#context, settled, at);
  }
}

function logUnlisted(error: unknown): void {
  log('warn', 'spending', { step: 'list the caller of the day', ...describeError(error) });
}

/** Longer than any task, and still a number that a record can hold. */
const maxSeconds = 2 ** 31 - 1;

/** The fields of a request that can select a rate. The provider chooses the absent ones. */
interface Fields {
  model?: string | undefined;
  resolution?: string | undefined;
  seconds?: number | undefined;
}

const filters = ['model', 'resolution', 'seconds'] as const;

/**
 * The most credits that a valid request may cost. The row that matches most of its fields counts. The
 * provider may choose any value for an omitted field, so more specific rows that may apply also count. The
 * highest cost wins.
 */
export function ceilingOf(operation: string, price: PriceRule, body: object): number {
  const { durations, ...fields } = pricedFields(price, body);
  const own = config.spending().CREDIT_RATES.filter((row) => row.operation === operation);
  const isFor = (row: Fields, name: keyof Fields) => row[name] === undefined || row[name] === fields[name];
  const certain = own.filter((row) => filters.every((name) => isFor(row, name)));
  const possible = own.filter((row) =>
    filters.every((name) => fields[name] === undefined || isFor(row, name)),
  );
  const detail = Math.max(-1, ...certain.map(detailOf));
  const rows = [...(detail < 0 ? [price.rate] : []), ...possible.filter((row) => detailOf(row) >= detail)];
  const costs = rows.map((row: Rate & Partial<RateRow>) => {
    const assumed = row.assumedSeconds ?? price.maxSeconds?.(fields.model) ?? 0;
    return costOf(row, fields.seconds ?? row.seconds ?? secondsIn(durations, assumed), durations.length);
  });
  return Math.min(Math.max(...costs) + (price.extrasOf?.(body) ?? 0), Number.MAX_SAFE_INTEGER);
}

/** The cost of these seconds and frames at a rate. */
export function costOf({ task = 0, frame = 0, second = 0 }: Rate, seconds: number, frames: number) {
  return task + frame * frames + second * seconds;
}

function detailOf(row: Fields): number {
  return filters.filter((name) => row[name] !== undefined).length;
}

/** The sum over all frames: each stated duration rounded up, and the assumed one for each of the others. */
function secondsIn(durations: readonly (number | undefined)[], assumed: number): number {
  const sum = durations.reduce<number>((all, each = 0) => all + (each > 0 ? Math.ceil(each) : assumed), 0);
  // Infinity times 0 is NaN.
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function pricedFields({ durationsOf }: PriceRule, body: object) {
  const fields = new Map(Object.entries(body));
  const textOf = (name: string) => {
    const value: unknown = fields.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const durations = durationsOf?.(body) ?? [undefined];
  const isStated = durations.every((each = 0) => each > 0);
  // The provider may round up each fraction, or their sum.
  const isExact = isStated && (durations.length === 1 || durations.every(Number.isInteger));
  const sum = secondsIn(durations, 0);
  return {
    ...{ model: textOf('model'), resolution: textOf('resolution'), seconds: isExact ? sum : undefined },
    stated: isStated ? sum : undefined,
    durations,
  };
}
