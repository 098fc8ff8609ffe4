import { randomUUID } from 'node:crypto';
import { callerHash } from '../../../lib/caller.ts';
import { historyOf, type Operator } from '../../../lib/registry/records.ts';
import { type AccountRecord, entryName, keyOfAccount, reservationOf } from '../../../lib/attempts/account.ts';
import type { AttemptRecord } from '../../../lib/attempts/attempt.ts';
import type { TaskRecord } from '../../../lib/notifications/records.ts';
import { always, type Changes, type Clause, Plus, present } from '../../../lib/store/items.ts';
import { accountKey, taskKey } from '../../../lib/store/keys.ts';
import { checking, updating, type Write, write } from '../../../lib/store/write.ts';
import { owesNothing } from '../../../lib/work/lanes.ts';
import { newContext } from '../registry/administration.ts';
import type { Bill } from './bill.ts';
import { usagePages } from './usage.ts';

/*
 * The only thing that turns an unknown outcome into money: by the provider's bill, by the price that the provider told
 * later, or a span as rejected. The attempt and its account change in one transaction; a day that the account no longer
 * counts, or an attempt that is still open, is not touched. Its Idempotency-Key stays used up.
 */

export type Source = Bill | 'told' | 'rejected';

interface Ending {
  record: AttemptRecord;
  credits: number;
}

interface Span {
  /** The first begin, and the time before which the last one is. */
  from: string;
  to: string;
  caller: string | undefined;
  operations: readonly string[];
}

/** The unknown attempts of a span that the source says something about, by their callers. */
export async function findEndings({ from, to, caller, operations }: Span, source: Source) {
  const endings: Ending[] = [];
  const billed = new Map<string | undefined, number>();
  const isBill = typeof source !== 'string';
  const period = { from: from.slice(0, 10), to: to.slice(0, 10), caller: isBill ? undefined : caller };
  for await (const page of usagePages(period))
    for (const record of page.filter(({ operation }) => operations.includes(operation))) {
      if (record.payment !== 'rejected') billed.set(record.task_id, (billed.get(record.task_id) ?? 0) + 1);
      const isMeant = record.at >= from && record.at < to && [undefined, record.caller].includes(caller);
      const credits = record.payment === 'unknown' && isMeant ? creditsOf(record, source) : undefined;
      if (credits !== undefined) endings.push({ record, credits });
    }
  // Two providers may use one ID, and a bill names no provider: a person says which operations it is of.
  const isOne = ({ record }: Ending) => !isBill || billed.get(record.task_id) === 1;
  return [...Map.groupBy(endings.filter(isOne), ({ record }) => record.caller)];
}

function creditsOf({ task_id, credits_told, is_reported }: AttemptRecord, source: Source) {
  // A task that the provider has reported was not rejected. That one without a word has failed is our own assumption.
  if (source === 'rejected') return task_id || is_reported ? undefined : 0;
  if (source === 'told') return credits_told;
  const billed = source.get(task_id ?? '');
  return billed && Math.max(0, Math.ceil(billed));
}

/** Returns those that have neither changed meanwhile, nor are still open. One line of history grows with each of them. */
export async function concludeAll(
  actor: Operator,
  caller: string,
  endings: readonly Ending[],
  isTask: boolean,
  { from, to }: Pick<Span, 'from' | 'to'>,
) {
  const change = { of: keyOfAccount(caller), action: 'usage conclude', subject: caller };
  const once = { id: randomUUID(), now: Date.now() };
  const done: Ending[] = [];
  let sums = { before: 0, after: 0 };
  for (const ending of endings) {
    const next = { before: sums.before + ending.record.credits, after: sums.after + ending.credits };
    const detail = `${done.length + 1} from ${from} to ${to}: ${next.before} -> ${next.after} credits`;
    const history = { ...historyOf(actor, { ...change, detail }, once), when: always };
    if (!(await conclude(caller, ending, isTask, history))) continue;
    sums = next;
    done.push(ending);
    // Its end needs no poll: there is no such task.
    const { task_hash } = ending.record;
    if (!isTask && task_hash !== undefined)
      await write(newContext(), updating<TaskRecord>(taskKey(task_hash), owesNothing, present));
  }
  return done;
}

async function conclude(caller: string, { record, credits }: Ending, isTask: boolean, history: Write) {
  const { at, credits: before } = record;
  const concluded_at = new Date().toISOString();
  const end = { payment: isTask ? 'taken' : 'rejected', credits, is_exact: true, concluded_at } as const;
  // The provider may report the task meanwhile.
  const ended = updating(record, end, [['revision', '=', record.revision]]);
  const [credited, tasks] = [`credits:${at.slice(0, 10)}`, `tasks:${at.slice(0, 10)}`] as const;
  const changes: Changes<AccountRecord> = {};
  changes[credited] = new Plus(credits - before);
  changes[tasks] = new Plus(isTask ? 0 : -1);
  const account = accountKey(callerHash(caller));
  const isSettled: Clause<AccountRecord> = [entryName(reservationOf(record)), 'absent'];
  const counted = updating<AccountRecord>(account, changes, [isSettled, [credited, 'exists']]);
  if (await write(newContext(), ended, counted, history)) return true;
  const dropped = checking<AccountRecord>(account, [isSettled, [credited, 'absent']]);
  return write(newContext(), ended, dropped, history);
}
