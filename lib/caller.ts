import { hash } from 'node:crypto';

/** The person or program that a valid access token identifies. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
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
