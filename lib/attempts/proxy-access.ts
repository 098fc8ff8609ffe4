import { type Caller, hasClaim } from '../caller.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import type { CallerLimits } from './account.ts';

/* Who of those that sign in may spend. Without self-service, the issuer's users are the operator's own choice. */

/** Why a caller may not spend, whatever its account; undefined if that decides. */
export function closedProxies(caller: Caller | undefined): string | undefined {
  const { PROXY_ACCESS, PROXY_CLAIM } = config.proxyAccess();
  if (PROXY_ACCESS === 'none') return 'This deployment sells nothing to those who sign in.';
  const isClaimed = PROXY_CLAIM && caller && hasClaim(caller, PROXY_CLAIM);
  return PROXY_ACCESS === 'claim' && !isClaimed ? unlisted : undefined;
}

export function requireOpenProxies(caller: Caller | undefined): void {
  const message = closedProxies(caller);
  if (message !== undefined) throw new ApiError('forbidden', { message, payment: 'rejected' });
}

/** Where only those may spend to whom the operator has given limits of their own. */
export function isUnlisted(limits: CallerLimits | undefined): boolean {
  return config.proxyAccess().PROXY_ACCESS === 'listed' && Object.keys(limits?.values ?? {}).length === 0;
}

export const unlisted = 'The operator of this service has not let this person spend.';
