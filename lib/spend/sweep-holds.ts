import { describeError, log } from '../log.ts';
import { type Key, keyOf, pendingIndex } from '../store/keys.ts';
import { get, query } from '../store/read.ts';
import { update } from '../store/write.ts';
import { type AccountRecord, accountRecord, accountShards, holdsOf } from './account.ts';
import { settle, timeOf } from './settle.ts';
import { completeUsage, readUsage } from './usage-records.ts';

/** `released`: nothing was sent. `counted`: it may have been. `settled`: it was recorded what became of it. */
type HoldFinding = 'released' | 'counted' | 'settled' | 'failed';

export interface SweptHold {
  caller: string;
  attempt: string;
  finding: HoldFinding;
  error?: unknown;
}

/** No invocation lives longer than half a minute, so whatever held this long is dead. */
const patienceMs = 5 * 60 * 1000;

/** How many accounts are looked at together. */
const maxAtOnce = 8;

/**
 * Ends what dead invocations have left behind; lib/paid/money.ts says what can be left, and what each means. It may run
 * at any time and twice at once, since every write of it is conditional on what it read.
 */
export async function sweepHolds(deadline: number, now = Date.now()): Promise<SweptHold[]> {
  const keys = (await Promise.all(accountShards.map(listAccounts))).flat();
  const swept: SweptHold[] = [];
  const left = keys.values();
  const visitNext = async () => {
    for (const key of left) {
      if (Date.now() >= deadline) return;
      swept.push(...(await sweepAccount(key, now - patienceMs, deadline)));
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, visitNext));
  return swept;
}

/** The same, with a log line for each hold and one for all. */
export async function sweepSpending(deadline: number): Promise<void> {
  const swept = await sweepHolds(deadline);
  for (const { attempt, finding, error } of swept) {
    const causes = finding === 'failed' ? describeError(error) : {};
    log(finding === 'failed' ? 'error' : 'info', 'swept_hold', { attempt, finding, ...causes });
  }
  const failed = swept.filter(({ finding }) => finding === 'failed').length;
  log('info', 'sweep_holds', { holds: swept.length, failed });
  if (failed > 0) throw new Error(`${failed} of ${swept.length} holds could not be ended.`);
}

async function listAccounts(shard: string): Promise<Key[]> {
  const pages = await Array.fromAsync(
    query({
      index: pendingIndex,
      partition: ['pending_shard', shard],
      sort: ['pending_since', 'between', '0', '9'],
    }),
  );
  return pages.flat().map(keyOf);
}

async function sweepAccount(key: Key, before: number, deadline: number): Promise<SweptHold[]> {
  const account = accountRecord((await get(deadline, key))[0]);
  if (!account) return [];
  const holds = holdsOf(account);
  if (holds.length === 0) await unlist(account, deadline);
  const swept: SweptHold[] = [];
  for (const { attempt, ceiling } of holds) {
    if (timeOf(attempt) >= before) continue;
    const { caller } = account;
    const finding = endHold(account, attempt, ceiling, deadline).catch((error: unknown) => ({ error }));
    const result = await finding;
    swept.push(
      typeof result === 'string'
        ? { caller, attempt, finding: result }
        : { caller, attempt, finding: 'failed', error: result.error },
    );
  }
  return swept;
}

async function endHold(
  account: AccountRecord,
  attempt: string,
  ceiling: number,
  deadline: number,
): Promise<HoldFinding> {
  const { caller } = account;
  const hold = { caller, attempt, ceiling, deadline };
  const record = await readUsage(caller, attempt, deadline);
  if (!record) {
    await settle({ ...hold, credits: 0, isTask: false }, account);
    return 'released';
  }
  if (record.state === 'reserved') {
    await completeUsage(caller, attempt, { state: 'unknown', credits: ceiling, is_exact: false }, deadline);
    await settle({ ...hold, credits: ceiling, isTask: true }, account);
    return 'counted';
  }
  await settle({ ...hold, credits: record.credits, isTask: record.state !== 'refused' }, account);
  return 'settled';
}

/** An account without holds leaves the list; the next reservation lists it again. */
async function unlist(account: AccountRecord, deadline: number): Promise<void> {
  const unlisted = { pending_shard: null, pending_since: null };
  await update(account, unlisted, [['revision', '=', account.revision]], deadline);
}
