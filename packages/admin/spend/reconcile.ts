import type { UsageRecord } from '../../../lib/spend/usage-records.ts';
import { type BilledTask, rounded } from './bill.ts';
import { shownCaller } from './caller-name.ts';

type ShownUsage = ReturnType<typeof shownUsage>;

interface Priced extends ShownUsage {
  billed: number;
}

/** The names are those of --json. */
export interface Reconciliation {
  /** Billed, and recorded by us at the same price. */
  matched: number;
  /** Of attempts whose end is unknown, all that was reserved is counted, and not part of what was recorded. */
  totals: { billed: number; recorded: number; difference: number; unknown: number };
  /** Billed, and in none of our records; each may belong to one attempt whose end is unknown. */
  not_recorded: BilledTask[];
  not_billed: ShownUsage[];
  other_price: Priced[];
  billed_twice: Priced[];
  /** Several records of one task id, such as of two providers: which of them a bill means, only a person can say. */
  recorded_twice: Priced[];
  /** Attempts without a task id, of which it is unknown whether they were taken. */
  unknown: ShownUsage[];
}

/** Compares usage records with a provider's bill, task by task. */
export function reconcile(records: readonly UsageRecord[], bill: readonly BilledTask[]): Reconciliation {
  const taken = records.filter(({ state }) => state === 'taken');
  const unknown = records.filter(({ state }) => state === 'unknown' || state === 'reserved');
  const recorded = Map.groupBy(taken, ({ task_id }) => task_id);
  const billed = new Set(bill.map(({ task_id }) => task_id));
  const result: Reconciliation = {
    matched: 0,
    totals: totalsOf(bill, taken, unknown),
    not_recorded: [],
    not_billed: taken.filter(({ task_id = '' }) => !billed.has(task_id)).map(shownUsage),
    other_price: [],
    billed_twice: [],
    recorded_twice: [],
    unknown: unknown.map(shownUsage),
  };
  for (const task of bill) {
    const found = (recorded.get(task.task_id) ?? []).map((each) => ({
      ...shownUsage(each),
      billed: task.credits,
    }));
    const [record] = found;
    if (!record) result.not_recorded.push(task);
    else if (found.length > 1) result.recorded_twice.push(...found);
    else if (record.credits === task.credits) result.matched += 1;
    else if (task.charges > 1 && task.credits > record.credits) result.billed_twice.push(record);
    else result.other_price.push(record);
  }
  return result;
}

function totalsOf(
  bill: readonly BilledTask[],
  taken: readonly UsageRecord[],
  unknown: readonly UsageRecord[],
): Reconciliation['totals'] {
  const [billed, recorded] = [sumOf(bill), sumOf(taken)];
  return { billed, recorded, difference: rounded(billed - recorded), unknown: sumOf(unknown) };
}

function sumOf(entries: readonly { credits: number }[]): number {
  return rounded(entries.reduce((sum, { credits }) => sum + credits, 0));
}

/** A usage record as administrators see it. */
function shownUsage(record: UsageRecord) {
  const { at, caller, operation, model, seconds, request_id, state, credits, is_exact, task_id, ms } = record;
  const task = { operation, model, seconds };
  return { at, caller: shownCaller(caller), ...task, request_id, state, credits, is_exact, task_id, ms };
}
