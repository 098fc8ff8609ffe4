import { isErased } from '../../../lib/caller.ts';
import { UsageError } from '../command.ts';

/** The name that administrators use for all callers without a token; a user is named by its id. */
const anonymousName = '@anonymous';

/** A user whose id looks like that name gets a prefix, as in `user:@anonymous`. */
const prefix = 'user:';
const needsPrefix = /^(?:user:)*(?:@anonymous|erased:[0-9a-f]{64})$/i;

export function callerOf(user: string): string {
  if (user === anonymousName) return 'anonymous';
  if (isErased(user)) return user;
  if (!needsPrefix.test(user)) return `user:${user}`;
  if (user.startsWith(prefix)) return `user:${user.slice(prefix.length)}`;
  throw new UsageError(
    `Write "${anonymousName}" for all callers without a token, or "${prefix}${user}" for a user of this id.`,
  );
}

export function callerText(caller: string): string {
  if (caller === 'anonymous') return anonymousName;
  if (isErased(caller)) return caller;
  const userId = caller.slice('user:'.length);
  return needsPrefix.test(userId) ? prefix + userId : userId;
}
