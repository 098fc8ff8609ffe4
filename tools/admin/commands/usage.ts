import { sweepSpending } from '../../../lib/spend/sweep-spending.ts';
import { table } from 'command-line/table';
import { command, problemOf, UsageError } from '../command.ts';
import { textOf } from '../faults.ts';
import { callerOf, callerText } from '../spend/caller-name.ts';
import { periodOf, periodOptions } from '../spend/period.ts';
import { usageView } from '../spend/reconcile.ts';
import { findUsage, type Grouping, groupings, sumUsage } from '../spend/usage.ts';

const sweepMs = 10 * 60 * 1000;

export const sum = command({
  parameters: [],
  isDefault: true,
  summary: 'Sum up what was spent',
  readsOnly: true,
  notes:
    'Attempts with an unknown outcome count with their whole reservation, unless the provider has told their price since. Tasks of whose end nothing was heard have a line of their own.',
  options: {
    ...periodOptions,
    user: { value: 'USER', about: 'Only this user, or @anonymous for callers without a token' },
    by: {
      value: 'NAMES',
      about: `One line for each ${groupings.join(', ')}; caller,operation by default`,
    },
    csv: { about: 'Print CSV', isFormat: true },
  },
  examples: [
    'usage --from 2026-11-01 --by caller',
    `usage --user 'auth0|1234' --from 2026-11-01 --by day,operation,model --csv`,
  ],
  async run(_, { from, to, user, by = 'caller,operation', csv }) {
    const caller = user === undefined ? undefined : callerOf(user);
    const names = by.split(',').map(readGrouping);
    const sums = (await sumUsage({ ...periodOf(from, to), caller }, names)).map(({ group, ...rest }) => {
      const shown = group.caller === undefined ? group : { ...group, caller: callerText(group.caller) };
      return { group: shown, ...rest };
    });
    const isAnyGivenUp = sums.some(({ given_up }) => given_up !== undefined);
    const counts = ['credits', 'tasks', 'unknown', 'refused', ...(isAnyGivenUp ? ['given_up'] : [])] as const;
    const heading = [...names, ...counts];
    const rows = sums.map(({ group, ...sum }) => [
      ...names.map((name) => group[name] ?? ''),
      ...counts.map((name) => String(sum[name as keyof typeof sum] ?? 0)),
    ]);
    if (csv)
      return { data: sums, text: [heading, ...rows].map((row) => row.map(csvCell).join(',')).join('\n') };
    const headings = heading.map((name) => name.toUpperCase());
    return { data: sums, text: table(headings, rows, { none: 'Nothing was spent.' }) };
  },
});

export const list = command({
  parameters: [],
  summary: 'List single usage records',
  readsOnly: true,
  notes: 'Without a user, the records of all callers are searched. The first 1,000 matches are listed.',
  options: {
    ...periodOptions,
    user: { value: 'USER', about: 'Only this user, or @anonymous for callers without a token' },
    request: { value: 'ID', about: 'Only the request with this id' },
    task: { value: 'ID', about: 'Only the task with this id at the provider' },
  },
  examples: [
    `usage list --user 'auth0|1234'`,
    'usage list --from 2026-11-01 --task 1913',
    'usage list --request 0f7a --json',
  ],
  async run(_, { from, to, user, request, task }) {
    const caller = user === undefined ? undefined : callerOf(user);
    const wanted = { requestId: request, taskId: task };
    const { records, hasMore } = await findUsage({ ...periodOf(from, to), caller }, wanted, maxListed);
    const data = records.map(usageView);
    const rows = data.map(({ at, caller: shown, operation, state, credits, task_id, request_id }) => [
      ...[at, shown, operation, state, credits, task_id, request_id],
    ]);
    const headings = ['TIME', 'USER', 'OPERATION', 'STATE', 'CREDITS', 'TASK', 'REQUEST'];
    return {
      data,
      text: table(headings, rows, { none: 'No records match.' }),
      problem: hasMore ? `There are more than ${maxListed}: name a shorter period, or a user.` : undefined,
    };
  },
});

const maxListed = 1000;

export const sweep = command({
  parameters: [],
  summary: 'Correct the totals of callers from their usage records',
  notes:
    'Releases what crashed requests reserved and never sent, and counts in full what may have been sent. Safe to run at any time: the last five minutes are left alone. A deployed stage does it every minute by itself.',
  examples: ['usage sweep'],
  async run() {
    const found: { user: string; found: string; at?: string; error?: string | undefined }[] = [];
    const report = await sweepSpending(
      { deadline: Date.now() + sweepMs },
      {
        onEnded: ({ caller, at, state }) => found.push({ user: callerText(caller), found: state, at }),
        onVisited: ({ caller }, { finding, error }) => {
          if (finding === 'closed' || finding === 'changed') return;
          const reason = error === undefined ? {} : { error: textOf(error) };
          found.push({ user: callerText(caller), found: finding, ...reason });
        },
      },
    );
    const { visited, failed, unvisited, unread_shards } = report;
    const rows = found.map((each) => [each.user, each.found, each.at, each.error]);
    const isLeft = unvisited + unread_shards > 0;
    return {
      data: { accounts: visited, failed, is_left: isLeft, found },
      text: table(['USER', 'FOUND', 'BEGAN AT', 'ERROR'], rows, { none: 'Nothing had to be corrected.' }),
      problem: isLeft ? 'Time ran out: run it again.' : problemOf(failed, visited),
    };
  },
});

function readGrouping(name: string): Grouping {
  const found = groupings.find((each) => each === name.trim());
  if (found) return found;
  throw new UsageError(`--by takes ${groupings.join(', ')}, separated by commas.`);
}

/**
 * Spreadsheets run a cell that begins like a formula, even in full-width characters or after a line end, and issuers choose
 * users' IDs. An ID's own apostrophe must stay distinguishable from the one added here.
 */
function csvCell(text: string): string {
  const safe = /^['=+\-@＝＋－＠\t\r\n]/.test(text) && text !== '@anonymous' ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
