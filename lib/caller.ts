import { hash } from 'node:crypto';
import { isObject } from './json.ts';

/** The person or program that a valid access token identifies. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
  /** Of the access token. */
  claims?: Record<string, unknown>;
}

/** The id of a person as a member: a user id may hold anything, and a path can't. */
export function memberIdOf(userId: string): string {
  return hash('sha256', userId).slice(0, 32);
}

/** The values of a claim. It may be nested (`realm_access.roles`), or have dots in its name, as URLs do. */
export function valuesOf(claims: Record<string, unknown>, claim: string): unknown[] {
  const nested = claim
    .split('.')
    .reduce<unknown>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      claims,
    );
  return [claims[claim], nested].flat();
}

export function hasClaim({ claims = {} }: Caller, wanted: { claim: string; value: string }): boolean {
  return valuesOf(claims, wanted.claim).includes(wanted.value);
}

/** The name a caller is counted under. The prefix separates a user named `anonymous` from unknown callers. */
export function callerName(caller: Pick<Caller, 'userId'> | undefined): string {
  return caller ? `user:${caller.userId}` : 'anonymous';
}

/** Names a user in log lines without an identity: more people read logs than may know it. */
export function principalOf(userId: string): string {
  return hash('sha256', userId).slice(0, 16);
}

const erasedPrefix = 'erased:';

/** Names a caller in keys: token issuers give names of any length. */
export function callerHash(caller: string): string {
  return isErased(caller) ? caller.slice(erasedPrefix.length) : hash('sha256', caller);
}

/** The remainder of a person's name in the ledger: the keys that lead to the sums. */
export function erasedCaller(caller: string): string {
  return erasedPrefix + callerHash(caller);
}

/** No token's user can have such a name: `callerName` adds a prefix. */
export function isErased(caller: string): boolean {
  return /^erased:[0-9a-f]{64}$/.test(caller);
}
