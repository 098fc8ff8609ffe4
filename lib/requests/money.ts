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
  refuseUsage,
  type Task,
  type UsageResult,
  usageName,
} from '../spend/usage-records.ts';
import type { Rate, RateRow } from '../variable-kinds.ts';
import { dayOf } from '../windows.ts';
import type { BoughtTask } from '../providers/provider-call.ts';
import type { Attempt } from './attempt.ts';
import * as config from '../config.ts';

/** A contract of an operation that buys a task. */
export type PaidContract = Contract & Required<Pick<Contract, 'price' | 'notifies'>>;

/** The money of one paid request; lib/spend/account.ts says why each phase is safe to die in. */
export class Money {
  readonly #context: Context;
  readonly #attempt: Attempt;
  readonly #task: Task;
  /** The most credits that the task may cost: what is counted if the provider names no price. */
  readonly ceiling: number;
  /** What it costs if the operator's rate says so, and not the provider. */
  readonly #price: number | undefined;
  #reserved: { account: AccountRecord; at: number } | undefined;
  #isRecorded = false;
  #sentAt = Date.now();

  constructor(context: Context, attempt: Attempt, price: PriceRule, body: object) {
    const { model, seconds } = pricedFields(price, body);
    this.#context = context;
    this.#attempt = attempt;
    this.#task = {
      operation: attempt.operation,
      model,
      seconds: seconds && Math.min(seconds, maxSeconds),
      frames: price.framesOf?.(body),
    };
    this.ceiling = ceilingOf(attempt.operation, price, body);
    this.#price = price.toldBy === 'rate' ? this.ceiling : undefined;
  }

  /** Names the usage record, together with its caller: by the minute that the reservation counts for. */
  get usageName(): string {
    return usageName({ at: this.#mustBeReserved.at, id: this.#attempt.id });
  }

  /** If the store does not say whether it reserved anything, nothing is sent, and the sweep gives it back. */
  async reserve(): Promise<void> {
    const { caller } = this.#attempt;
    this.#reserved = await reserve(this.#context, { caller, ceiling: this.ceiling });
  }

  /** The record of the attempt, without which nothing may be sent. */
  async open(): Promise<void> {
    const { caller } = this.#attempt;
    const { account, at } = this.#mustBeReserved;
    const isFirst = account[`tasks:${dayOf(at)}`] === 1;
    // The sweep lists the caller too, so this may fail.
    const listed = isFirst ? recordDayCaller(this.#context, caller, at).catch(logUnlisted) : undefined;
    await allEnded([openUsage(this.#context, this.#opened), listed]);
    this.#isRecorded = true;
    this.#sentAt = Date.now();
  }

  /** The task was started: it costs what the provider says, or the reservation if the provider says nothing. */
  async charge(task: BoughtTask): Promise<void> {
    const credits = task.credits ?? this.#price;
    const { ceiling } = this;
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
      task_id: task.taskId,
    });
  }

  /** The task was not started, or it is unknown whether it was, which keeps what is reserved. */
  async release(error: ApiError): Promise<void> {
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
  headers(task?: BoughtTask): Record<string, string> {
    const credits = task && (task.credits ?? this.#price);
    return {
      ...(this.#reserved && rateLimitFields(this.#reserved.account)),
      ...(credits !== undefined && { 'x-credits-used': String(credits) }),
    };
  }

  get #mustBeReserved() {
    if (!this.#reserved) throw new Error('Nothing was reserved.');
    return this.#reserved;
  }

  get #opened() {
    const { caller, id, requestId, keyHash, ticket } = this.#attempt;
    const attempt = { caller, at: this.#mustBeReserved.at, id };
    return { ...this.#task, attempt, requestId, keyHash, ticketHash: ticket?.hash, ceiling: this.ceiling };
  }

  /** The account follows the record, and only if it was this attempt that completed it. */
  async #complete(result: UsageResult): Promise<void> {
    const ms = Date.now() - this.#sentAt;
    const isOurs = await completeUsage(this.#context, this.#opened.attempt, { ...result, ms });
    if (isOurs) await this.#settle(result.credits, result.state !== 'refused');
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

/** More than any task lasts, and still a number that a record can hold. */
const maxSeconds = 2 ** 31 - 1;

/** The fields of a request by which a rate may be chosen. An absent one is the provider's choice. */
interface Fields {
  model?: string | undefined;
  resolution?: string | undefined;
  seconds?: number | undefined;
}

const filters = ['model', 'resolution', 'seconds'] as const;

/**
 * The most credits that a valid request may cost. The row that names most of its fields counts. A field that the request
 * leaves to the provider may be any, so a row that names more also counts if it may apply, and the dearest row is taken.
 */
export function ceilingOf(operation: string, price: PriceRule, body: object): number {
  const { frames, ...fields } = pricedFields(price, body);
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
    return costOf(row, fields.seconds ?? row.seconds ?? frames * assumed, frames);
  });
  return Math.min(Math.max(...costs) + (price.extrasOf?.(body) ?? 0), Number.MAX_SAFE_INTEGER);
}

/** What a rate charges for so many seconds and frames. */
export function costOf({ task = 0, frame = 0, second = 0 }: Rate, seconds: number, frames: number) {
  return task + frame * frames + second * seconds;
}

function detailOf(row: Fields): number {
  return filters.filter((name) => row[name] !== undefined).length;
}

/** The fields of a request that its price depends on. */
function pricedFields({ secondsOf, framesOf }: PriceRule, body: object): Fields & { frames: number } {
  const fields = new Map(Object.entries(body));
  const textOf = (name: string) => {
    const value: unknown = fields.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const seconds = secondsOf?.(body) ?? 0;
  return {
    model: textOf('model'),
    resolution: textOf('resolution'),
    // A duration of 0 is the provider's choice, as an absent one is. A sum may be infinite, and 0 times infinity is NaN.
    seconds: seconds > 0 ? Math.min(Math.ceil(seconds), Number.MAX_SAFE_INTEGER) : undefined,
    frames: framesOf?.(body) ?? 1,
  };
}
