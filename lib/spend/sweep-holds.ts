import type { Context } from '../context.ts';
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
export async function sweepHolds(context: Context, now = Date.now()): Promise<SweptHold[]> {
  const keys = (await Promise.all(accountShards.map((shard) => listAccounts(context, shard)))).flat();
  const swept: SweptHold[] = [];
  const left = keys.values();
  const visitNext = async () => {
    for (const key of left) {
      if (Date.now() >= context.deadline) return;
      swept.push(...(await sweepAccount(context, key, now - patienceMs)));
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, visitNext));
  return swept;
}

/** The same, with a log line for each hold and one for all. */
export async function sweepSpending(context: Context): Promise<void> {
  const swept = await sweepHolds(context);
  for (const { attempt, finding, error } of swept) {
    const causes = finding === 'failed' ? describeError(error) : {};
    log(finding === 'failed' ? 'error' : 'info', 'swept_hold', { attempt, finding, ...causes });
  }
  const failed = swept.filter(({ finding }) => finding === 'failed').length;
  log('info', 'sweep_holds', { holds: swept.length, failed });
  if (failed > 0) throw new Error(`${failed} of ${swept.length} holds could not be ended.`);
}

async function listAccounts(context: Context, shard: string): Promise<Key[]> {
  const pages = await Array.fromAsync(
    query(context, {
      index: pendingIndex,
      partition: ['pending_shard', shard],
      sort: ['pending_since', 'between', '0', '9'],
    }),
  );
  return pages.flat().map(keyOf);
}

async function sweepAccount(context: Context, key: Key, before: number): Promise<SweptHold[]> {
  const account = accountRecord((await get(context, key))[0]);
  if (!account) return [];
  const holds = holdsOf(account);
  if (holds.length === 0) await unlist(context, account);
  const swept: SweptHold[] = [];
  for (const { attempt, ceiling } of holds) {
    if (timeOf(attempt) >= before) continue;
    const { caller } = account;
    const finding = endHold(context, account, attempt, ceiling).catch((error: unknown) => ({ error }));
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
  context: Context,
  account: AccountRecord,
  attempt: string,
  ceiling: number,
): Promise<HoldFinding> {
  const { caller } = account;
  const hold = { caller, attempt, ceiling, context };
  const record = await readUsage(context, caller, attempt);
  if (!record) {
    await settle({ ...hold, credits: 0, isTask: false }, account);
    return 'released';
  }
  if (record.state === 'reserved') {
    await completeUsage(context, caller, attempt, { state: 'unknown', credits: ceiling, is_exact: false });
    await settle({ ...hold, credits: ceiling, isTask: true }, account);
    return 'counted';
  }
  await settle({ ...hold, credits: record.credits, isTask: record.state !== 'refused' }, account);
  return 'settled';
}

/** An account without holds leaves the list; the next reservation lists it again. */
async function unlist(context: Context, account: AccountRecord): Promise<void> {
  const unlisted = { pending_shard: null, pending_since: null };
  await update<AccountRecord>(context, account, unlisted, [['revision', '=', account.revision]]);
}
