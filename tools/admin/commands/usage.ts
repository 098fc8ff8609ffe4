import { readFile } from 'node:fs/promises';
import { table } from '../../command-line/table.ts';
import { command, UsageError } from '../command.ts';
import { Refusal } from '../registry/refusal.ts';
import { callerOf, shownCaller } from '../spend/caller-name.ts';
import { readBill, reconcile } from '../spend/reconcile.ts';
import { type Grouping, groupings, listUsage, sumUsage } from '../spend/usage.ts';

const days = {
  from: { value: 'DAY', about: 'The first UTC day, such as 2026-11-01; today unless you say' },
  to: { value: 'DAY', about: 'The last UTC day; today unless you say' },
} as const;

export const sum = command({
  parameters: [],
  isDefault: true,
  summary: 'Sum up what was spent',
  notes: 'Attempts of which it is unknown whether they were taken count with all that was reserved for them.',
  options: {
    ...days,
    user: { value: 'USER', about: 'Only this user, or @anonymous for callers without a token' },
    by: {
      value: 'NAMES',
      about: `One line for each ${groupings.join(', ')}; caller,operation unless you say`,
    },
    csv: { about: 'Print CSV' },
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

export const compare = command({
  parameters: ['bill'],
  summary: "Compare the usage records with a provider's bill",
  notes: 'The bill is a CSV file with a task id and its credits on each line, such as providers export.',
  options: { ...days, operations: { value: 'NAMES', about: 'Only these operations, such as relightImage' } },
  examples: ['usage compare bill.csv --from 2026-11-01 --to 2026-11-30 --operations relightImage'],
  async run({ bill }, { from, to, operations }) {
    const only = operations?.split(',');
    const records = await listUsage(periodOf(from, to));
    const billed = readBill(await readText(bill));
    const result = reconcile(
      records.filter(({ operation }) => only === undefined || only.includes(operation)),
      billed,
    );
    const rows = [
      ...result.notRecorded.map(({ task_id, credits }) => [
        'billed, not recorded',
        task_id,
        String(credits),
        '',
      ]),
      ...result.billedTwice.map(({ task_id, credits }) => ['billed twice', task_id, String(credits), '']),
      ...result.notBilled.map(({ task_id, credits, at }) => [
        'recorded, not billed',
        task_id,
        String(credits),
        at,
      ]),
      ...result.otherPrice.map(({ record, billed: price }) => [
        `recorded at ${record.credits}`,
        record.task_id,
        String(price),
        record.at,
      ]),
      ...result.unknown.map(({ credits, at, request_id }) => ['unknown', request_id, String(credits), at]),
    ];
    const summary = `${result.matched} tasks agree, ${rows.length} do not.`;
    const details = table(['FOUND', 'TASK OR REQUEST', 'CREDITS', 'TIME'], rows);
    return { data: result, text: rows.length > 0 ? `${summary}\n\n${details}` : summary };
  },
});

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new Refusal(`The bill cannot be read: ${error instanceof Error ? error.message : error}`);
  });
}

function periodOf(from: string | undefined, to: string | undefined): { from: string; to: string } {
  const today = new Date().toISOString().slice(0, 10);
  const last = readDay(to ?? today);
  return { from: readDay(from ?? last), to: last };
}

function readDay(day: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))) return day;
  throw new UsageError(`"${day}" is not a day such as 2026-11-21.`);
}

function readGrouping(name: string): Grouping {
  const found = groupings.find((each) => each === name.trim());
  if (found) return found;
  throw new UsageError(`--by takes ${groupings.join(', ')}, separated by commas.`);
}

/** A spreadsheet runs a cell that begins as a formula does, and a user's id is what its issuer lets it be. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) && text !== '@anonymous' ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
