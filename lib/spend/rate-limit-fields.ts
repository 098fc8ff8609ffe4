import { type AccountRecord, counted, counterName, limitsOf } from './account.ts';
import { secondsLeft, windowSeconds } from '../windows.ts';

/**
 * What an account leaves its caller, as the fields of draft-ietf-httpapi-ratelimit-headers: one member for each limit
 * that is set, and none where there is no limit.
 */
export function rateLimitFields(account: AccountRecord, time = Date.now()): Record<string, string> {
  const limits = limitsOf(account.terms);
  const set = counted.filter(({ limit }) => limits[limit] > 0);
  if (set.length === 0) return {};
  const policies = set.map(
    ({ limit, policy, window }) => `"${policy}";q=${limits[limit]};w=${windowSeconds(window)}`,
  );
  const states = set.map((each) => {
    const left = Math.max(0, limits[each.limit] - (account[counterName(each, time)] ?? 0));
    return `"${each.policy}";r=${left};t=${secondsLeft(each.window, time)}`;
  });
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') };
}
