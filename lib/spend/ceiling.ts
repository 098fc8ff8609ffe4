import * as config from '../config.ts';
import type { PriceRule } from '../contract.ts';
import type { Rate, RateRow } from '../variable-kinds.ts';

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
export function pricedFields({ secondsOf, framesOf }: PriceRule, body: object): Fields & { frames: number } {
  const fields = new Map(Object.entries(body));
  const textOf = (name: string) => {
    const value: unknown = fields.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const seconds = secondsOf?.(body) ?? 0;
  return {
    model: textOf('model'),
    resolution: textOf('resolution'),
    // A duration of 0 is the provider's choice, as an absent one is. A sum may be infinite, and 0 times that is no number.
    seconds: seconds > 0 ? Math.min(Math.ceil(seconds), Number.MAX_SAFE_INTEGER) : undefined,
    frames: framesOf?.(body) ?? 1,
  };
}
