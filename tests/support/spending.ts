import { randomUUID } from 'node:crypto';
import { type AccountRecord, accountRecord, keyOfAccount, type Limits } from '../../lib/attempts/account.ts';
import { type AttemptRecord, beginAttempt, newAttempt } from '../../lib/attempts/attempt.ts';
import { visitAccount } from '../../lib/attempts/visit.ts';
import { keyOf } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { listWork } from '../../tools/admin/registry/work.ts';
import { setLimits } from '../../tools/admin/spend/limits.ts';
import { usagePages } from '../../tools/admin/spend/usage.ts';
import { invoke, type Result, sampleBody } from './invoke.ts';
import { type ProxyName, proxies } from './proxies.ts';
import { asFunction } from './roles.ts';
import { bearer } from './tokens.ts';
import { soon } from './registry.ts';

/** A caller of this test only, with limits of its own. */
export async function spender(limits: Partial<Limits> = {}): Promise<string> {
  const user = `spender-${randomUUID()}`;
  if (Object.keys(limits).length > 0) await setLimits({ operator: 'admin' }, `user:${user}`, limits);
  return user;
}

/** An attempt of a caller as it begins, which costs 50 at most. */
export function attemptOf(user: string, at = Date.now()): AttemptRecord {
  const names = { operation: 'of-this-test', caller: `user:${user}`, request_id: 'r' };
  const rule = { toldBy: 'reply', rate: { task: 50 }, variesBy: [] } as const;
  return newAttempt({ ...beginAttempt(), at }, names, rule, {});
}

interface PaidCall {
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export function pay(user: string, name: ProxyName = 'text-to-video', call: PaidCall = {}): Promise<Result> {
  return invoke(proxies[name], name, {
    body: { ...sampleBody(name), ...call.body },
    headers: { authorization: bearer(user), ...call.headers },
  });
}

export async function accountOf(user: string): Promise<AccountRecord | undefined> {
  return accountRecord((await get(soon(), keyOfAccount(`user:${user}`)))[0]);
}

export async function usageOf(user: string): Promise<AttemptRecord[]> {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return (await Array.fromAsync(usagePages({ from: day(1), to: day(-1), caller: `user:${user}` }))).flat();
}

/** The counters of an account over all days, and its requests over all minutes that it still has. */
export function countersOf(account: AccountRecord | undefined): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [field, value] of Object.entries(account ?? {})) {
    const [name] = /^(credits|tasks)(?=:)|^requests(?=@)/.exec(field) ?? [];
    if (name !== undefined) sums[name] = (sums[name] ?? 0) + Number(value);
  }
  return sums;
}

export function sumsOf(account: AccountRecord | undefined): [day: string, credits: number, tasks: number][] {
  const days = Object.keys(account ?? {}).flatMap((name) => /^credits:(.*)$/.exec(name)?.[1] ?? []);
  return days.map((day) => [day, account?.[`credits:${day}`] ?? 0, account?.[`tasks:${day}`] ?? 0]);
}

/** Visits all accounts that were due so many minutes from now, with the rights of the function that does. */
export async function sweepAfter(minutes: number): Promise<void> {
  const context = soon();
  const now = Date.now() + minutes * 60_000;
  const due = (await listWork('visit', false, 1000)).filter(
    (item) => Date.parse(`${item.pending_since}Z`.replace('ZZ', 'Z')) <= now,
  );
  for (const { pk, sk } of due)
    await asFunction('visit-accounts', async () => {
      const account = accountRecord((await get(context, keyOf({ pk, sk })))[0]);
      if (account) await visitAccount(context, account, now);
    });
}
