/** The person or program that a valid access token identifies. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
}

/** Under what name a caller is counted; the prefix keeps a user named `anonymous` apart from those without a token. */
export function callerName(caller: Pick<Caller, 'userId'> | undefined): string {
  return caller ? `user:${caller.userId}` : 'anonymous';
}
