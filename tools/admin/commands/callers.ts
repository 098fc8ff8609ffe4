import { command } from '../command.ts';
import { callerOf, neverPaid } from '../spend/caller-name.ts';
import { blockCaller, unblockCaller } from '../spend/terms.ts';

export const block = command({
  parameters: ['user'],
  summary: "Stop a caller's paid requests at once",
  notes:
    'For a leaked token: it stays valid until it expires, but can no longer buy anything. Running tasks are not stopped. The registry operations are not affected.',
  options: { reason: { value: 'TEXT', about: 'Why; callers do not see it', required: true } },
  examples: [`caller block 'auth0|1234' --reason "token on a public page; ticket 7"`],
  impact: async ({ user }) => `stops all paid requests of ${user}`,
  async run({ user }, { reason }) {
    const { terms, hasPaid } = await blockCaller(callerOf(user), reason);
    return {
      data: { user, blocked: terms?.blocked, has_paid: hasPaid },
      text: `${user} is blocked.${neverPaid(user, hasPaid)}`,
    };
  },
});

export const unblock = command({
  parameters: ['user'],
  summary: 'Let a blocked caller pay again',
  options: {},
  examples: [`caller unblock 'auth0|1234'`],
  async run({ user }) {
    const { hasPaid, changed } = await unblockCaller(callerOf(user));
    return {
      data: { user, has_paid: hasPaid },
      text: `${changed ? `Unblocked ${user}.` : `${user} was not blocked: nothing changed.`}${neverPaid(user, hasPaid)}`,
    };
  },
});
