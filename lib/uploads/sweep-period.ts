import type { EventBridgeEvent } from 'aws-lambda';

/** The schedule names no time. An administrator may, after a restore or a long failure. */
export type SweepEvent = EventBridgeEvent<'Scheduled Event', unknown> & { from?: unknown };

export interface Period {
  from: number;
  to: number;
}

/** What a sweep looks at: as far back as the schedule does, or as the event says, and not the youngest. */
export function sweepPeriod({ from }: SweepEvent, lookBackMs: number, graceMs: number): Period {
  const now = Date.now();
  const to = now - graceMs;
  if (from === undefined) return { from: now - lookBackMs, to };
  // A time without a zone would be that of the machine.
  const time = typeof from === 'string' && from.endsWith('Z') ? Date.parse(from) : Number.NaN;
  if (time < to) return { from: time, to };
  throw new Error('The event\'s "from" must be a past time such as "2026-11-20T00:00:00Z".');
}
