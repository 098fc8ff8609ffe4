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

/** Longer than any task, and still a number that a record can hold. */
const maxSeconds = 2 ** 31 - 1;

export function taskOf(operation: string, price: PriceRule, body: object): Task {
  const { model, stated, durations } = pricedFields(price, body);
  return {
    operation,
    model,
    seconds: stated && Math.min(stated, maxSeconds),
    frames: durations.length > 1 ? durations.length : undefined,
  };
}

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
    model: textOf('model'),
    resolution: textOf('resolution'),
    seconds: isExact ? sum : undefined,
    stated: isStated ? sum : undefined,
    durations,
  };
}
