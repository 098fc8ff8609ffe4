import type { Context } from '../context.ts';
import { note } from '../log.ts';
import { update } from '../store/write.ts';
import { type AccountRecord, counted, counterName, limitsOf } from './account.ts';
import { dayOf } from '../windows.ts';

const warningPercents = [95, 80];

/** Notes in the log line, once a day each, that a caller has used 80 or 95 percent of a daily limit. */
export async function warnOnce(context: Context, account: AccountRecord, at: number): Promise<void> {
  const limits = limitsOf(account.terms);
  const daily = counted.filter(({ limit, window }) => window === 'day' && limits[limit] > 0);
  const used = daily.map((each) => (100 * (account[counterName(each, at)] ?? 0)) / limits[each.limit]);
  const passed = warningPercents.find((percent) => used.some((share) => share >= percent));
  const name = `warned:${dayOf(at)}` as const;
  if (passed === undefined || (account[name] ?? 0) >= passed) return;
  const { written } = await update<AccountRecord>(context, account, { [name]: passed }, [
    [name, 'at most', passed - 1],
  ]);
  if (written) note({ budget_warning: passed });
}
