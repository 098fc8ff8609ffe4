import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';

/** What a caller may spend; 0 is no limit. */
export interface Limits {
  credits_per_day: number;
  tasks_per_day: number;
  requests_per_minute: number;
}

export type LimitName = keyof Limits;

/** What a paid request asks for, as far as its price may depend on it. */
export interface Task {
  operation: string;
  model?: string | undefined;
  seconds?: number | undefined;
}

const environment = readEnvironment(concerns.spending);

export const defaultLimits: Limits = {
  credits_per_day: environment.CREDITS_PER_DAY,
  tasks_per_day: environment.TASKS_PER_DAY,
  requests_per_minute: environment.REQUESTS_PER_MINUTE,
};

const ceilings = new Map(environment.CREDIT_CEILINGS);

/** The most credits that a task may cost, by the entry that says most about it; undefined where none does. */
export function ceilingOf({ operation, model, seconds }: Task): number | undefined {
  return (
    ceilings.get(`${operation}/${model}/${seconds}`) ??
    ceilings.get(`${operation}/${model}`) ??
    ceilings.get(operation)
  );
}
