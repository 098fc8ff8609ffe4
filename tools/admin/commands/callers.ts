import { command } from '../command.ts';
import { Rejection } from '../registry/administration.ts';
import { callerOf, neverPaid, callerText } from '../spend/caller-name.ts';
import { blockCaller, showTerms, unblockCaller } from '../spend/terms.ts';
import { periodOf } from '../spend/period.ts';
import { callerOfPrincipal, principalName } from '../spend/usage.ts';

/** A user who is named as in log lines is found by what it has paid, or the command fails. */
async function callerNamed(user: string): Promise<string> {
  if (!principalName.test(user)) return callerOf(user);
  const { account } = await showTerms(callerOf(user));
  if (account !== undefined) return callerOf(user);
  const monthAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const caller = await callerOfPrincipal(user, periodOf(monthAgo, undefined));
  if (caller !== undefined) return caller;
  throw new Rejection(
    `No user with the hash ${user} has sent a paid request in the last 31 days, so nothing was changed. Give the user's ID.`,
  );
}

export const block = command({
  parameters: ['user'],
  summary: "Stop a caller's paid requests at once",
  notes:
    'For a leaked token: it stays valid until it expires, but can no longer buy anything. Running tasks are not stopped. The registry operations are not affected. The user can be given as the `principal` of log lines.',
  options: { reason: { value: 'TEXT', about: 'Why; callers do not see it', required: true } },
  examples: [`caller block 'auth0|1234' --reason "token on a public page; ticket 7"`],
  impact: async ({ user }) => `stops all paid requests of ${user}`,
  async run({ user }, { reason }) {
    const caller = await callerNamed(user);
    const { terms, hasPaid } = await blockCaller(caller, reason);
    const shown = callerText(caller);
    return {
      data: { user: shown, blocked: terms?.blocked, has_paid: hasPaid },
      text: `${shown} is blocked.${neverPaid(shown, hasPaid)}`,
    };
  },
});

export const unblock = command({
  parameters: ['user'],
  summary: 'Let a blocked caller pay again',
  examples: [`caller unblock 'auth0|1234'`],
  async run({ user }) {
    const caller = await callerNamed(user);
    const { hasPaid, changed } = await unblockCaller(caller);
    const shown = callerText(caller);
    return {
      data: { user: shown, has_paid: hasPaid },
      text: `${changed ? `Unblocked ${shown}.` : `${shown} was not blocked: nothing changed.`}${neverPaid(shown, hasPaid)}`,
    };
  },
});
