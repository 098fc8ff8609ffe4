import { loadPaidContracts } from '../../infra/operations.ts';
import { limitsOf } from '../../lib/attempts/account.ts';
import { ceilingOf } from '../../lib/attempts/price.ts';
import { callerName } from '../../lib/caller.ts';
import { sumUsage } from '../admin/spend/usage.ts';
import { demo } from './demo.ts';
import type { Spending } from './studio/config.ts';

const shownDays = 14;
const dayMs = 24 * 60 * 60 * 1000;

/** What the demo's owner has spent, as `npm run admin -- usage` shows it. */
export async function readSpending(now = Date.now()): Promise<Spending> {
  const days = Array.from({ length: shownDays }, (_, place) => {
    const day = new Date(now - (shownDays - 1 - place) * dayMs).toISOString().slice(0, 10);
    return { day, credits: 0, tasks: 0 };
  });
  const period = { from: days[0]?.day ?? '', to: days.at(-1)?.day ?? '' };
  const caller = callerName({ userId: demo.owner });
  const states: Spending['states'] = {};
  for (const { group, ...sum } of await sumUsage({ ...period, caller }, ['day', 'final_state'])) {
    const day = days.find((each) => each.day === group.day);
    if (day) Object.assign(day, { credits: day.credits + sum.credits, tasks: day.tasks + sum.tasks });
    const state = group.final_state || 'under way';
    if (sum.tasks > 0) states[state] = (states[state] ?? 0) + sum.tasks;
    for (const name of ['rejected', 'unknown'] as const)
      if (sum[name] > 0) states[name] = (states[name] ?? 0) + sum[name];
  }
  return { limit: limitsOf().credits_per_day, days, states };
}

/** The most credits that a request may cost, by the rule that reserves them. */
export async function ceilingFor(operation: string | null, body: object): Promise<number | undefined> {
  const contract = (await loadPaidContracts()).find(({ name }) => name === operation);
  return contract && ceilingOf(contract.name, contract.price, body);
}
