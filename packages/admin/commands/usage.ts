import { timeOf } from '../../../lib/spend/settle.ts';
import { sweepHolds } from '../../../lib/spend/sweep-holds.ts';
import { table } from '../../command-line/table.ts';
import { command, problemOf, UsageError } from '../command.ts';
import { textOf } from '../faults.ts';
import { callerOf, shownCaller } from '../spend/caller-name.ts';
import { periodOf, periodOptions } from '../spend/period.ts';
import { type Grouping, groupings, listUsage, sumUsage } from '../spend/usage.ts';

const sweepMs = 10 * 60 * 1000;

export const sum = command({
  parameters: [],
  isDefault: true,
  summary: 'Sum up what was spent',
  readsOnly: true,
  notes: 'Attempts of which it is unknown whether they were taken count with all that was reserved for them.',
  options: {
    ...periodOptions,
    user: { value: 'USER', about: 'Only this user, or @anonymous for callers without a token' },
    by: {
      value: 'NAMES',
      about: `One line for each ${groupings.join(', ')}; caller,operation unless you say`,
    },
    csv: { about: 'Print CSV', isFormat: true },
  },
  examples: [
    'usage --from 2026-11-01 --by caller',
    `usage --user 'auth0|1234' --from 2026-11-01 --by day,operation,model --csv`,
  ],
  async run(_, { from, to, user, by = 'caller,operation', csv }) {
    const caller = user === undefined ? undefined : callerOf(user);
    const records = await listUsage({ ...periodOf(from, to), caller });
    const names = by.split(',').map(readGrouping);
    const sums = sumUsage(records, names).map(({ group, ...rest }) => {
      const shown = group.caller === undefined ? group : { ...group, caller: shownCaller(group.caller) };
      return { group: shown, ...rest };
    });
    const heading = [...names, 'credits', 'tasks', 'unknown', 'refused'];
    const rows = sums.map(({ group, credits, tasks, unknown, refused }) => [
      ...names.map((name) => group[name] ?? ''),
      ...[credits, tasks, unknown, refused].map(String),
    ]);
    if (csv)
      return { data: sums, text: [heading, ...rows].map((row) => row.map(csvCell).join(',')).join('\n') };
    const text = table(
      heading.map((name) => name.toUpperCase()),
      rows,
    );
    return { data: sums, text: rows.length > 0 ? text : 'Nothing was spent.' };
  },
});

export const sweep = command({
  parameters: [],
  summary: 'End what invocations that died have left reserved',
  notes:
    'Releases what was reserved and never sent, and counts in full what may have been sent. Safe to run at any time: reservations of the last five minutes are left alone. A deployed stage does it every hour by itself.',
  options: {},
  examples: ['usage sweep'],
  async run() {
    const swept = await sweepHolds({ deadline: Date.now() + sweepMs });
    const data = swept.map(({ caller, attempt, finding, error }) => ({
      caller: shownCaller(caller),
      at: new Date(timeOf(attempt)).toISOString(),
      finding,
      ...(error !== undefined && { error: textOf(error) }),
    }));
    const rows = data.map(({ caller, at, finding, error }) => [caller, at, finding, error]);
    const text = table(['CALLER', 'RESERVED AT', 'FOUND', 'ERROR'], rows);
    const failed = swept.filter(({ finding }) => finding === 'failed').length;
    return {
      data,
      text: rows.length > 0 ? text : 'Nothing was left reserved.',
      problem: problemOf(failed, swept.length),
    };
  },
});

function readGrouping(name: string): Grouping {
  const found = groupings.find((each) => each === name.trim());
  if (found) return found;
  throw new UsageError(`--by takes ${groupings.join(', ')}, separated by commas.`);
}

/**
 * A spreadsheet runs a cell that begins as a formula does, in full width and after a line end too, and a user's id is
 * what its issuer lets it be. The apostrophe before such a cell has to be told from one that an id begins with.
 */
function csvCell(text: string): string {
  const safe = /^['=+\-@＝＋－＠\t\r\n]/.test(text) && text !== '@anonymous' ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
