import { hash } from 'node:crypto';

/** The person or program that a valid access token identifies. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
}

/** The name under which a caller is counted. The prefix tells a user named `anonymous` from callers without a token. */
export function callerName(caller: Pick<Caller, 'userId'> | undefined): string {
  return caller ? `user:${caller.userId}` : 'anonymous';
}

/** Names a user in log lines, which more people read than may know who it is. */
export function principalOf(userId: string): string {
  return hash('sha256', userId).slice(0, 16);
}

const erasedPrefix = 'erased:';

/** Names a caller in keys: token issuers give names of any length. */
export function callerHash(caller: string): string {
  return isErased(caller) ? caller.slice(erasedPrefix.length) : hash('sha256', caller);
}

/** What stays of a person's name in the ledger: its keys, by which the sums are found. */
export function erasedCaller(caller: string): string {
  return erasedPrefix + callerHash(caller);
}

/** No token's user is named like that: `callerName` adds a prefix. */
export function isErased(caller: string): boolean {
  return /^erased:[0-9a-f]{64}$/.test(caller);
}
