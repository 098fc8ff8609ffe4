import type { UsageRecord } from '../../../lib/spend/usage-records.ts';
import { Refusal } from '../registry/refusal.ts';

/** A line of a provider's bill. */
export interface BilledTask {
  task_id: string;
  credits: number;
}

export interface Reconciliation {
  /** Billed, and recorded by us at the same price. */
  matched: number;
  /** Billed, and in none of our records; each may belong to one attempt whose end is unknown. */
  notRecorded: BilledTask[];
  notBilled: UsageRecord[];
  otherPrice: { record: UsageRecord; billed: number }[];
  billedTwice: BilledTask[];
  /** Attempts without a task id, of which it is unknown whether they were taken. */
  unknown: UsageRecord[];
}

/** Compares usage records with a provider's bill, task by task. */
export function reconcile(records: readonly UsageRecord[], bill: readonly BilledTask[]): Reconciliation {
  const taken = records.filter(({ state, task_id }) => state === 'taken' && task_id !== undefined);
  const recorded = new Map(taken.map((record) => [record.task_id, record]));
  const billed = new Map<string, BilledTask>();
  const result: Reconciliation = {
    matched: 0,
    notRecorded: [],
    notBilled: [],
    otherPrice: [],
    billedTwice: [],
    unknown: records.filter(({ state }) => state === 'unknown' || state === 'reserved'),
  };
  for (const task of bill) {
    if (billed.has(task.task_id)) {
      result.billedTwice.push(task);
      continue;
    }
    billed.set(task.task_id, task);
    const record = recorded.get(task.task_id);
    if (!record) result.notRecorded.push(task);
    else if (record.credits !== task.credits) result.otherPrice.push({ record, billed: task.credits });
    else result.matched += 1;
  }
  result.notBilled = taken.filter(({ task_id = '' }) => !billed.has(task_id));
  return result;
}

/** Reads a bill as CSV: a task id and its credits on each line, with or without a heading. */
export function readBill(text: string): BilledTask[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return lines.flatMap((line, index) => {
    const [task_id = '', credits = ''] = line
      .split(/[,;\t]/)
      .map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
    const isNumber = /^\d+(?:\.\d+)?$/.test(credits);
    if (task_id !== '' && isNumber) return [{ task_id, credits: Number(credits) }];
    if (index === 0) return [];
    throw new Refusal(`Line ${index + 1} of the bill is not a task id and its credits: ${line.slice(0, 80)}`);
  });
}
