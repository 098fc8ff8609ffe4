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

/** Names a caller in keys: token issuers give names of any length. */
export function callerHash(caller: string): string {
  return hash('sha256', caller);
}
