const minutes = 60_000;

/** So long after its start, a task is asked for the first time. Off-peak tasks wait for hours as a rule. */
const firstAfterMs = { usual: 10 * minutes, offPeak: 60 * minutes };
const maxDistanceMs = 12 * 60 * minutes;

/** By then a task has ended, or its end is not going to be known. */
export const givenUpAfterMs = 7 * 24 * 60 * minutes;

/** When a task is asked for the first time, as `pending_since` has it. */
export function firstQuestionAt(startedAt: number, isOffPeak: boolean): string {
  return new Date(startedAt + firstAfterMs[isOffPeak ? 'offPeak' : 'usual']).toISOString();
}

/** When it is asked for again: at double the age, and at least twice a day. */
export function nextQuestionAt(startedAt: number, now: number): string {
  const distance = Math.min(Math.max(now - startedAt, firstAfterMs.usual), maxDistanceMs);
  return new Date(Math.min(now + distance, Math.max(now, startedAt + givenUpAfterMs))).toISOString();
}
