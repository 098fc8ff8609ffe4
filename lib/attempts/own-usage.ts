import { type Caller, callerHash, callerName } from '../caller.ts';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { usagePartitions } from '../store/keys.ts';
import { get, queryPage } from '../store/read.ts';
import { dayMs, dayOf } from '../windows.ts';
import { accountRecord, keyOfAccount, limitsOf } from './account.ts';
import { type AttemptRecord, attemptRecord, outcomeOf, priceOf } from './attempt.ts';
import { closedProxies, isUnlisted, unlisted } from './proxy-access.ts';

/* What a person spends, for that person. */

const maxDays = 31;
const maxAtOnce = 16;
/** The most attempts of a partition of a day that are read; the rest of a busy day is the administration's to list. */
const maxOfPartition = 500;

export interface Period {
  from?: string | undefined;
  to?: string | undefined;
}

/** The days of a period, the last one first, at most a month. */
function daysOf({ from, to }: Period): string[] {
  const now = Date.now();
  const last = Math.min(Date.parse(to ?? dayOf(now)), now);
  const first = Math.max(Date.parse(from ?? dayOf(last - 30 * dayMs)), last - (maxDays - 1) * dayMs);
  const length = Math.max(0, Math.floor((last - first) / dayMs) + 1);
  return Array.from({ length }, (_, index) => dayOf(last - index * dayMs));
}

/** The attempts of a day, the latest first. */
async function attemptsOf(context: Context, caller: string, day: string): Promise<AttemptRecord[]> {
  const pages = usagePartitions(callerHash(caller), day).map((pk) =>
    queryPage(context, { below: { pk, sk: day } }, { limit: maxOfPartition, descending: true }),
  );
  const items = (await Promise.all(pages)).flatMap((page) => page.items);
  // A tombstone of an attempt that was never sent has no `n`.
  const attempts = items.map(attemptRecord).filter(({ n }) => n !== undefined);
  return attempts.sort((a, b) => (a.sk < b.sk ? 1 : -1));
}

export async function spendingOf(context: Context, caller: Caller, period: Period) {
  const name = callerName(caller);
  const account = accountRecord((await get(context, keyOfAccount(name)))[0]);
  const blocked = account?.limits?.blocked && 'The operator of this service has blocked this caller.';
  const reason = blocked ?? closedProxies(caller) ?? (isUnlisted(account?.limits) ? unlisted : undefined);
  const today = dayOf(Date.now());
  const days = new Map<string, { day: string; credits: number; tasks: number; unknown: number }>();
  await inParallel(daysOf(period).values(), maxAtOnce, async (day) => {
    const sum = { day, credits: 0, tasks: 0, unknown: 0 };
    for (const attempt of await attemptsOf(context, name, day)) {
      sum.credits += priceOf(attempt);
      const outcome = outcomeOf(attempt);
      if (outcome !== 'rejected') sum[outcome] += 1;
    }
    if (sum.credits + sum.tasks + sum.unknown > 0) days.set(day, sum);
  });
  return {
    may_spend: reason === undefined,
    ...(reason !== undefined && { reason }),
    limits: limitsOf(account?.limits),
    today: { credits: account?.[`credits:${today}`] ?? 0, tasks: account?.[`tasks:${today}`] ?? 0 },
    days: [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1)),
  };
}

/** The latest attempts of a period, and whether it has more. */
export async function latestAttempts(
  context: Context,
  caller: Caller,
  period: Period,
  max: number,
): Promise<{ attempts: AttemptRecord[]; hasMore: boolean }> {
  const attempts: AttemptRecord[] = [];
  for (const day of daysOf(period)) {
    if (attempts.length > max) break;
    attempts.push(...(await attemptsOf(context, callerName(caller), day)));
  }
  return { attempts: attempts.slice(0, max), hasMore: attempts.length > max };
}
