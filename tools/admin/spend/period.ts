import { UsageError } from '../command.ts';

/** The options of every command that reads the usage records of some days. */
export const periodOptions = {
  from: { value: 'DAY', about: 'The first UTC day, such as 2026-11-01; today by default' },
  to: { value: 'DAY', about: 'The last UTC day; today by default' },
} as const;

export function periodOf(from: string | undefined, to: string | undefined): { from: string; to: string } {
  const last = readDay(to ?? new Date().toISOString().slice(0, 10));
  const first = readDay(from ?? last);
  if (first > last) throw new UsageError(`--from ${first} is later than --to ${last}.`);
  return { from: first, to: last };
}

/** In seconds since the epoch, for log queries: whole days, and the next one for late lines. */
export function secondsOf({ from, to }: { from: string; to: string }): { start: number; end: number } {
  const daySeconds = 24 * 60 * 60;
  return { start: Date.parse(from) / 1000, end: Date.parse(to) / 1000 + 2 * daySeconds };
}

/** A day that no month has, such as 2026-02-30, would be read as one of the next month. */
export function readDay(day: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(day)) return day;
  throw new UsageError(`"${day}" is not a day such as 2026-11-21.`);
}
