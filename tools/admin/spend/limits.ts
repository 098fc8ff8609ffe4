import { randomUUID } from 'node:crypto';
import { deleting, updating } from '../../../lib/store/write.ts';
import { callerHash } from '../../../lib/caller.ts';
import { change } from '../../../lib/registry/changes.ts';
import type { Changed, HistoryRecord, Operator } from '../../../lib/registry/records.ts';
import {
  type AccountRecord,
  accountRecord,
  keyOfAccount,
  type Limits,
  type CallerLimits,
} from '../../../lib/attempts/account.ts';
import { blockKey, type Key, limitsKey } from '../../../lib/store/keys.ts';
import { get, queryAll } from '../../../lib/store/read.ts';
import { always, type Clause, typedRead } from '../../../lib/store/items.ts';
import { listHistory, newContext } from '../registry/administration.ts';

/** Lists a caller that has its own limits: accounts can only be found by their caller. */
interface LimitsRecord extends Key {
  caller: string;
  limits: CallerLimits;
}

/** Closes the registry to a caller. Its reason is in the account. */
interface BlockRecord extends Key {
  at: string;
}

const limitsRecord = typedRead<LimitsRecord>();

export interface CallerWithLimits {
  caller: string;
  limits: CallerLimits | undefined;
}

type ChangedLimits = Changed<CallerLimits | undefined>;

/** A value of 0 means no limit; null restores the default. */
export function setLimits(
  actor: Operator,
  caller: string,
  changes: { [Name in keyof Limits]?: number | null },
): Promise<ChangedLimits> {
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  const detail = named.map(([name, value]) => `${name}=${value ?? 'default'}`).join(' ');
  return changeLimits(actor, caller, 'limit set', detail, (own) => {
    const values = Object.entries({ ...own.values, ...changes }).filter(
      ([, value]) => typeof value === 'number',
    );
    return { ...own, values: Object.fromEntries(values) };
  });
}

export function clearLimits(actor: Operator, caller: string): Promise<ChangedLimits> {
  return changeLimits(actor, caller, 'limit clear', undefined, (own) => ({ ...own, values: {} }));
}

export function blockCaller(actor: Operator, caller: string, reason: string): Promise<ChangedLimits> {
  const blocked = { at: new Date().toISOString(), reason };
  return changeLimits(actor, caller, 'caller block', reason, (own) => ({ ...own, blocked }));
}

export function unblockCaller(actor: Operator, caller: string): Promise<ChangedLimits> {
  return changeLimits(actor, caller, 'caller unblock', undefined, ({ blocked, ...own }) =>
    blocked ? own : undefined,
  );
}

/** The account has the limits in force; reservations are decided on its item. */
function changeLimits(
  actor: Operator,
  caller: string,
  action: string,
  detail: string | undefined,
  edit: (own: CallerLimits) => CallerLimits | undefined,
): Promise<ChangedLimits> {
  const key = keyOfAccount(caller);
  return change(newContext(), actor, { first: { item: key } }, ({ item }) => {
    const account = accountRecord(item);
    const next = edit(account?.limits ?? { id: '', values: {} });
    if (!next) return { done: account?.limits };
    const limits = { ...next, id: randomUUID() };
    const seen: Clause<AccountRecord> = account?.limits
      ? [['limits', 'id'], '=', account.limits.id]
      : ['limits', 'absent'];
    const hash = callerHash(caller);
    return {
      change: { of: key, action, subject: caller, detail },
      writes: [
        updating<AccountRecord>(key, { caller, limits }, [seen]),
        updating<LimitsRecord>(limitsKey(hash), { caller, limits }, always),
        limits.blocked
          ? updating<BlockRecord>(blockKey(hash), { at: limits.blocked.at }, always)
          : deleting(blockKey(hash), always),
      ],
      result: limits,
    };
  });
}

export async function showLimits(
  caller: string,
): Promise<{ account: AccountRecord | undefined; history: HistoryRecord[] }> {
  const key = keyOfAccount(caller);
  const [item] = await get(newContext(), key);
  return { account: accountRecord(item), history: await listHistory(key) };
}

export async function listLimits(): Promise<CallerWithLimits[]> {
  const items = await queryAll(newContext(), limitsKey(''));
  // A record stays when its limits are cleared and its block ends.
  return items
    .map(limitsRecord)
    .filter(({ limits }) => limits?.blocked || Object.keys(limits?.values ?? {}).length > 0)
    .map(({ caller, limits }) => ({ caller, limits }));
}
