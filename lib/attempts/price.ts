import * as config from '../config.ts';
import type { PriceRule } from '../contract.ts';
import type { Rate, RateRow } from '../variable-kinds.ts';

/** The parts of a paid request that its price may depend on. */
export interface Task {
  operation: string;
  model?: string | undefined;
  seconds?: number | undefined;
  /** Key frames, for a task that has several. */
  frames?: number | undefined;
}

/** The fields of a valid request that can select a rate. The provider chooses the absent ones. */
interface Fields {
  model?: string | undefined;
  resolution?: string | undefined;
  seconds?: number | undefined;
}

/** Longer than any task, and still a number that a record can hold. */
const maxSeconds = 2 ** 31 - 1;

/** The task that a valid request asks for, and the most credits that it may cost: the highest cost of a rate that may apply. */
export function pricedTask(
  operation: string,
  price: PriceRule,
  body: Omit<Fields, 'seconds'>,
): Task & { ceiling: number } {
  const { model, resolution } = body;
  const durations = price.durationsOf?.(body) ?? [undefined];
  const isStated = durations.every((each = 0) => each > 0);
  // The provider may round up each fraction, or their sum.
  const isExact = isStated && durations.every(Number.isInteger);
  const stated = secondsIn(durations, 0);
  const seconds = isExact ? stated : undefined;
  const costs = ratesFor(operation, { model, resolution, seconds }, price.rate).map((rate) => {
    const assumed = rate.assumedSeconds ?? price.maxSeconds?.(model) ?? 0;
    return costOf(rate, seconds ?? rate.seconds ?? secondsIn(durations, assumed), durations.length);
  });
  return {
    operation,
    model,
    seconds: isStated ? Math.min(stated, maxSeconds) : undefined,
    frames: durations.length > 1 ? durations.length : undefined,
    ceiling: Math.min(Math.max(...costs) + (price.extrasOf?.(body) ?? 0), Number.MAX_SAFE_INTEGER),
  };
}

/**
 * The operator's row that matches most of a request's fields counts. The provider may choose any value for an omitted
 * field, so more specific rows that may apply also count, and the operation's own rate if no row surely does.
 */
function ratesFor(operation: string, fields: Fields, standard: Rate): (Rate & Partial<RateRow>)[] {
  const possible = config
    .spending()
    .CREDIT_RATES.filter((row) => row.operation === operation)
    .filter((row) => filtersOf(row).every((name) => (fields[name] ?? row[name]) === row[name]));
  const certain = possible.filter((row) => filtersOf(row).every((name) => fields[name] !== undefined));
  if (certain.length === 0) return [standard, ...possible];
  const most = Math.max(...certain.map((row) => filtersOf(row).length));
  return possible.filter((row) => filtersOf(row).length >= most);
}

function filtersOf(row: Fields): (keyof Fields)[] {
  return (['model', 'resolution', 'seconds'] as const).filter((name) => row[name] !== undefined);
}

/** The cost of these seconds and frames at a rate. */
export function costOf({ task = 0, frame = 0, second = 0 }: Rate, seconds: number, frames: number) {
  return task + frame * frames + second * seconds;
}

/** The sum over all frames: each stated duration rounded up, and the assumed one for each of the others. */
function secondsIn(durations: readonly (number | undefined)[], assumed: number): number {
  const sum = durations.reduce<number>((all, each = 0) => all + (each > 0 ? Math.ceil(each) : assumed), 0);
  // Infinity times 0 is NaN.
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}
