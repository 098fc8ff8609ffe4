/*
 * A window is part of the name of its counter, so a new one starts without any reset. All windows are in UTC.
 */

export const dayMs = 24 * 60 * 60 * 1000;
const minuteMs = 60 * 1000;

/** For example `2026-11-21`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Minutes since the epoch: short, because every write pays for the names of counters. */
export function minuteOf(time: number): number {
  return Math.floor(time / minuteMs);
}

const lengths = { day: dayMs, minute: minuteMs } as const;

export type WindowKind = keyof typeof lengths;

export function windowSeconds(kind: WindowKind): number {
  return lengths[kind] / 1000;
}

/** Whole seconds until the next window; a caller that waits that long is in it. */
export function secondsLeft(kind: WindowKind, time: number): number {
  return Math.ceil((lengths[kind] - (time % lengths[kind])) / 1000);
}
