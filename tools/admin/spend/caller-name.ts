/** How an administrator writes all callers without a token; a user is written by its id. */
const anonymousName = '@anonymous';

export function callerOf(user: string): string {
  return user === anonymousName ? 'anonymous' : `user:${user}`;
}

export function shownCaller(caller: string): string {
  return caller === 'anonymous' ? anonymousName : caller.slice('user:'.length);
}
