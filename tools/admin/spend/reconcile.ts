import { priceOf, type AttemptRecord } from '../../../lib/attempts/attempt.ts';
import { type Bill, rounded } from './bill.ts';
import { callerText } from './caller-name.ts';

type UsageView = ReturnType<typeof usageView>;

interface Priced extends UsageView {
  billed: number;
}

/** As --json names them. */
export interface Reconciliation {
  /** Billed, and recorded by us at the same price. */
  matched: number;
  /** The whole reservation of `unknown` attempts, which `recorded` doesn't include. */
  totals: { billed: number; recorded: number; difference: number; unknown: number };
  /** Billed but not recorded; each may belong to an attempt with an unknown result. */
  not_recorded: { task_id: string; credits: number }[];
  not_billed: UsageView[];
  other_price: Priced[];
  /** Several records of one task id, as of two providers: only a person can tell which one a bill means. */
  recorded_twice: Priced[];
  /** Attempts with an unknown result whose task, if they have one, isn't on the bill. */
  unknown: UsageView[];
}

/** Compares usage records with a provider's bill. Memory holds the bill, one page of records and findings. */
export async function reconcile(
  pages: AsyncIterable<readonly AttemptRecord[]>,
  bill: Bill,
  isCompared: (record: AttemptRecord) => boolean,
): Promise<Reconciliation> {
  const recorded = new Map<string, Priced[]>();
  const sum = [...bill.values()].reduce((all, credits) => all + credits, 0);
  const totals = { billed: rounded(sum), recorded: 0, difference: 0, unknown: 0 };
  const result: Reconciliation = {
    matched: 0,
    totals,
    not_recorded: [],
    not_billed: [],
    other_price: [],
    recorded_twice: [],
    unknown: [],
  };
  for await (const page of pages) {
    for (const record of page.filter(isCompared)) {
      const { payment, task_id = '' } = record;
      if (payment === 'rejected') continue;
      const shown = usageView(record);
      const billed = bill.get(task_id);
      // An error or a notification may have named the task of an unknown outcome.
      if (payment !== 'taken' && billed === undefined) {
        totals.unknown = rounded(totals.unknown + shown.credits);
        result.unknown.push(shown);
        continue;
      }
      totals.recorded = rounded(totals.recorded + shown.credits);
      if (billed === undefined) result.not_billed.push(shown);
      else recorded.set(task_id, [...(recorded.get(task_id) ?? []), { ...shown, billed }]);
    }
  }
  totals.difference = rounded(totals.billed - totals.recorded);
  for (const [task_id, credits] of bill) {
    const found = recorded.get(task_id) ?? [];
    const [record] = found;
    if (!record) result.not_recorded.push({ task_id, credits });
    else if (found.length > 1) result.recorded_twice.push(...found);
    else if (record.credits === credits) result.matched += 1;
    else result.other_price.push(record);
  }
  return result;
}

/** A usage record as administrators see it. */
export function usageView(record: AttemptRecord) {
  const { at, caller, operation, model, seconds, request_id, payment: state, task_id, ms } = record;
  const credits = priceOf(record);
  const is_exact = record.is_exact || (state === 'unknown' && record.credits_told !== undefined);
  const task = { operation, model, seconds };
  return { at, caller: callerText(caller), ...task, request_id, state, credits, is_exact, task_id, ms };
}
