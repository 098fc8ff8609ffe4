import { randomUUID } from 'node:crypto';
import { putting, updating } from '../../../lib/store/write.ts';
import { callerHash } from '../../../lib/caller.ts';
import type { HistoryRecord } from '../../../lib/registry/records.ts';
import {
  type AccountRecord,
  accountRecord,
  keyOfAccount,
  type Limits,
  type Terms,
} from '../../../lib/spend/account.ts';
import { type Key, termsKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { always, type Clause, typedRead } from '../../../lib/store/items.ts';
import { administerChange, listHistory, listItems, newContext } from '../registry/administration.ts';

/** Lists a caller that has its own terms: accounts can only be found by their caller. */
interface TermsRecord extends Key {
  caller: string;
  terms: Terms;
}

const termsRecord = typedRead<TermsRecord>();

export interface CallerTerms {
  caller: string;
  terms: Terms | undefined;
}

/** A change's result, and whether the caller has ever sent a paid request: a wrong name usually hasn't. */
interface ChangedTerms extends CallerTerms {
  hasPaid: boolean;
  changed: boolean;
}

/** A value of 0 means no limit; null restores the default. */
export function setLimits(
  caller: string,
  changes: { [Name in keyof Limits]?: number | null },
): Promise<ChangedTerms> {
  const named = Object.entries(changes).filter(([, value]) => value !== undefined);
  const detail = named.map(([name, value]) => `${name}=${value ?? 'default'}`).join(' ');
  return changeTerms(caller, 'limit set', detail, (terms) => {
    const limits = Object.entries({ ...terms.limits, ...changes }).filter(
      ([, value]) => typeof value === 'number',
    );
    return { ...terms, limits: Object.fromEntries(limits) };
  });
}

export function clearLimits(caller: string): Promise<ChangedTerms> {
  return changeTerms(caller, 'limit clear', undefined, (terms) => ({ ...terms, limits: {} }));
}

export function blockCaller(caller: string, reason: string): Promise<ChangedTerms> {
  const blocked = { at: new Date().toISOString(), reason };
  return changeTerms(caller, 'caller block', reason, (terms) => ({ ...terms, blocked }));
}

export function unblockCaller(caller: string): Promise<ChangedTerms> {
  return changeTerms(caller, 'caller unblock', undefined, ({ blocked, ...terms }) =>
    blocked ? terms : undefined,
  );
}

/** The account has the terms in force; reservations are decided on its item. */
async function changeTerms(
  caller: string,
  action: string,
  detail: string | undefined,
  change: (terms: Terms) => Terms | undefined,
): Promise<ChangedTerms> {
  const key = keyOfAccount(caller);
  const { result, changed } = await administerChange(async (context) => {
    const account = accountRecord((await get(context, key))[0]);
    const next = change(account?.terms ?? { id: '', limits: {} });
    if (!next) return { done: { caller, terms: account?.terms, hasPaid: hasPaid(account) } };
    const terms = { ...next, id: randomUUID() };
    const seen: Clause<AccountRecord> = account?.terms
      ? [['terms', 'id'], '=', account.terms.id]
      : ['terms', 'absent'];
    const listed: TermsRecord = { ...termsKey(callerHash(caller)), caller, terms };
    return {
      change: { of: key, action, subject: caller, detail },
      writes: [updating<AccountRecord>(key, { caller, terms }, [seen]), putting(listed, always)],
      result: { caller, terms, hasPaid: hasPaid(account) },
    };
  });
  return { ...result, changed };
}

/** The counters of the last days in which the caller paid stay in its account. */
function hasPaid(account: AccountRecord | undefined): boolean {
  return Object.keys(account ?? {}).some((name) => name.startsWith('credits:'));
}

export async function showTerms(
  caller: string,
): Promise<{ account: AccountRecord | undefined; history: HistoryRecord[] }> {
  const key = keyOfAccount(caller);
  const [item] = await get(newContext(), key);
  return { account: accountRecord(item), history: await listHistory(key) };
}

export async function listTerms(): Promise<CallerTerms[]> {
  const items = await listItems(termsKey(''));
  return items.map((item) => termsRecord(item)).map(({ caller, terms }) => ({ caller, terms }));
}
