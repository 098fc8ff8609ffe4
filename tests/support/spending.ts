import { randomUUID } from 'node:crypto';
import { type AccountRecord, accountRecord, keyOfAccount } from '../../lib/spend/account.ts';
import type { Limits } from '../../lib/spend/limits.ts';
import type { UsageRecord } from '../../lib/spend/usage-records.ts';
import { get } from '../../lib/store/read.ts';
import { setLimits } from '../../packages/admin/spend/terms.ts';
import { listUsage } from '../../packages/admin/spend/usage.ts';
import { invoke, type Result, sampleBody } from './invoke.ts';
import { type ProxyName, proxies } from './proxies.ts';
import { bearer } from './tokens.ts';

/** A caller of this test only, with limits of its own. */
export async function spender(limits: Partial<Limits> = {}): Promise<string> {
  const user = `spender-${randomUUID()}`;
  if (Object.keys(limits).length > 0) await setLimits(`user:${user}`, limits);
  return user;
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
  return accountRecord((await get({ deadline: Date.now() + 5000 }, keyOfAccount(`user:${user}`)))[0]);
}

export async function usageOf(user: string): Promise<UsageRecord[]> {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return listUsage({ from: day(1), to: day(0), caller: `user:${user}` });
}

/** The counters of an account over all windows that it still has. */
export function countersOf(account: AccountRecord | undefined): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of Object.entries(account ?? {})) {
    const [counter = ''] = name.split(':');
    if (['credits', 'tasks', 'requests'].includes(counter))
      sums[counter] = (sums[counter] ?? 0) + Number(value);
  }
  return sums;
}
