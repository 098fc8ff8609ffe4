import { type Limits, limitsOf } from '../../../lib/attempts/account.ts';
import { command, textOf, UsageError } from '../command.ts';
import { callerOf, callerText } from '../spend/caller-name.ts';
import {
  blockCaller,
  clearLimits,
  listLimits,
  setLimits,
  showLimits,
  unblockCaller,
} from '../spend/limits.ts';
import { Rejection } from '../registry/administration.ts';
import { periodOf } from '../spend/period.ts';
import { callerOfPrincipal, principalName } from '../spend/usage.ts';
import { findLimits } from '../target.ts';
import { fieldsOf, tableOf } from '../view.ts';

const standard = 'default';

export const set = command({
  parameters: ['user'],
  summary: 'Limit what a caller may spend',
  notes:
    'The user is the subject of its access tokens, or @anonymous for all callers without one. A limit applies at once, and includes earlier spending in the same day or minute.',
  options: {
    'credits-per-day': { value: 'N', about: `Credits per UTC day; 0 for no limit, or ${standard}` },
    'tasks-per-day': { value: 'N', about: `Tasks per UTC day; 0 for no limit, or ${standard}` },
    'requests-per-minute': { value: 'N', about: `Paid requests per minute; 0 for no limit, or ${standard}` },
  },
  examples: [`limit set 'auth0|1234' --credits-per-day 2000`, 'limit set @anonymous --tasks-per-day 10'],
  async run({ user }, options, { actor }) {
    const changes = Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.replaceAll('-', '_'), readLimit(name, value)] as const],
    );
    if (changes.length === 0) throw new UsageError('Say which limit to set.');
    const { result: limits } = await setLimits(actor, callerOf(user), Object.fromEntries(changes));
    return { data: { user, limits: limits?.values }, text: `${user}: ${describe(limits?.values)}` };
  },
});

export const clear = command({
  parameters: ['user'],
  summary: 'Return a caller to the default limits of the stage',
  examples: [`limit clear 'auth0|1234'`],
  async run({ user }, _, { actor }) {
    await clearLimits(actor, callerOf(user));
    return { data: { user, limits: {} }, text: `${user}: ${describe({})}` };
  },
});

export const show = command({
  parameters: ['user'],
  summary: "Show a caller's own limits and those in force, what it has used today, and its history",
  readsOnly: true,
  notes: 'A running task counts with its maximum cost until its cost is known.',
  examples: [`limit show 'auth0|1234'`],
  async run({ user }) {
    const unread = await findLimits().then(() => undefined, textOf);
    const { account, history } = await showLimits(callerOf(user));
    const today = new Date().toISOString().slice(0, 10);
    const used = {
      credits: account?.[`credits:${today}`] ?? 0,
      tasks: account?.[`tasks:${today}`] ?? 0,
    };
    const running = account?.open ?? 0;
    const { values: limits = {}, blocked } = account?.limits ?? {};
    const changes = history.map(({ at, actor, action, detail }) => ({ at, actor, action, detail }));
    const in_force = unread === undefined ? limitsOf(account?.limits) : undefined;
    const data = { user, limits, in_force, blocked, used, running };
    const shown = { ...data, limits: describe(limits), in_force: in_force && describe(in_force) };
    const text = `${fieldsOf(shown)}\n\n${tableOf(changes, 'No changes are recorded.')}`;
    return { data: { ...data, history: changes }, text, problem: unread };
  },
});

export const list = command({
  parameters: [],
  summary: 'List the callers that have limits of their own or are blocked',
  readsOnly: true,
  examples: ['limit list', 'limit list --json'],
  async run() {
    const callers = await listLimits();
    const data = callers.map(({ caller, limits: { values: limits = {}, blocked } = {} }) => ({
      user: callerText(caller),
      limits,
      blocked,
    }));
    const columns = ['user', 'limits', 'blocked.reason'];
    return { data, text: tableOf(data, 'No caller has limits of its own.', columns) };
  },
});

function readLimit(name: string, value: string): number | null {
  if (value === standard) return null;
  if (!/^\d{1,9}$/.test(value))
    throw new UsageError(`--${name} takes a whole number from 0 to 999999999, or "${standard}".`);
  return Number(value);
}

function describe(limits: Partial<Limits> = {}): string {
  const set = Object.entries(limits).map(([name, value]) => {
    const words = name.replaceAll('_', ' ');
    return value === 0 ? `no limit on ${words}` : `${value} ${words}`;
  });
  return set.length > 0 ? set.join(', ') : 'the default limits';
}

/** Finds a user given as a log line's hash by its payments; otherwise the command fails. */
async function callerNamed(user: string): Promise<string> {
  if (!principalName.test(user)) return callerOf(user);
  const { account } = await showLimits(callerOf(user));
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
  summary: "Stop a caller's paid requests, edits and publishes at once",
  notes:
    'For a leaked access token: it stays valid until it expires, but can no longer buy, edit or publish anything, not even as an admin; it can still revoke tokens and leave publishers. Running tasks are not stopped. A publish without an access token goes on: end its personal token with "token revoke" or its CI job with "trust remove", or ban the publisher. A user who has paid can be given as the `principal` of log lines.',
  options: { reason: { value: 'TEXT', about: 'Why; callers do not see it', required: true } },
  examples: [`caller block 'auth0|1234' --reason "token on a public page; case 7"`],
  impact: async ({ user }) => `stops all paid requests, edits and publishes of ${user}`,
  async run({ user }, { reason }, { actor }) {
    const caller = await callerNamed(user);
    const { account } = await showLimits(caller);
    const { result: limits } = await blockCaller(actor, caller, reason);
    const shown = callerText(caller);
    const hint = account ? '' : ' It has never paid or had a limit here: is the name right?';
    return { data: { user: shown, blocked: limits?.blocked }, text: `${shown} is blocked.${hint}` };
  },
});

export const unblock = command({
  parameters: ['user'],
  summary: 'Let a blocked caller pay, edit and publish again',
  examples: [`caller unblock 'auth0|1234'`],
  async run({ user }, _, { actor }) {
    const caller = await callerNamed(user);
    const { changed } = await unblockCaller(actor, caller);
    const shown = callerText(caller);
    const text = changed ? `Unblocked ${shown}.` : `${shown} was not blocked: nothing changed.`;
    return { data: { user: shown }, text };
  },
});
