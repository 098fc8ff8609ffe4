import * as config from '../config.ts';

/** The limits of a caller. 0 means no limit. */
export interface Limits {
  credits_per_day: number;
  tasks_per_day: number;
  requests_per_minute: number;
}

export type LimitName = keyof Limits;

/** The parts of a paid request that its price may depend on. */
export interface Task {
  operation: string;
  model?: string | undefined;
  seconds?: number | undefined;
  /** Key frames, for a task that has several. */
  frames?: number | undefined;
}

export function defaultLimits(): Limits {
  const { CREDITS_PER_DAY, TASKS_PER_DAY, REQUESTS_PER_MINUTE } = config.spending();
  return {
    credits_per_day: CREDITS_PER_DAY,
    tasks_per_day: TASKS_PER_DAY,
    requests_per_minute: REQUESTS_PER_MINUTE,
  };
}

/**
 * The most credits that a task may cost, by the entry that says most about it. Undefined if none does, or if the price
 * depends on seconds that neither the request nor the entry names.
 */
export function ceilingOf({ operation, model, seconds, frames = 1 }: Task): number | undefined {
  const ceilings = config.spending().CREDIT_CEILINGS;
  const ceiling =
    ceilings.get(`${operation}/${model}/${seconds}`) ??
    ceilings.get(`${operation}/${model}`) ??
    ceilings.get(operation);
  if (ceiling === undefined) return undefined;
  const { fixed, perFrame, perSecond, assumedSeconds } = ceiling;
  const isStated = seconds !== undefined && seconds >= 0;
  const counted = isStated ? seconds : assumedSeconds !== undefined ? frames * assumedSeconds : undefined;
  if (perSecond > 0 && counted === undefined) return undefined;
  return Math.min(fixed + perFrame * frames + perSecond * (counted ?? 0), Number.MAX_SAFE_INTEGER);
}
