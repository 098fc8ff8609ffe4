import { table } from '@node-registry/command-line/table';
import { command, readNamed, UsageError } from '../command.ts';
import { callerOf, callerText } from '../spend/caller-name.ts';
import { periodOf, periodOptions, readDay } from '../spend/period.ts';
import { reconcile, type Reconciliation, usageView } from '../spend/reconcile.ts';
import { concludeAll, findEndings } from '../spend/conclude.ts';
import { findUsage, type Grouping, groupings, sumUsage, usagePages } from '../spend/usage.ts';
import { loadPaidContracts } from '../../../infra/operations.ts';
import { readBill } from '../spend/bill.ts';
import { tableOf } from '../view.ts';

export const sum = command({
  parameters: [],
  isDefault: true,
  summary: 'Sum up the spending',
  readsOnly: true,
  notes:
    'Attempts with an unknown outcome count with their whole reservation, unless the provider has told their price since. Tasks without a known end have a line of their own.',
  options: {
    ...periodOptions,
    user: { value: 'USER', about: 'Only this user, or @anonymous for callers without a token' },
    by: {
      value: 'NAMES',
      about: `One line for each ${groupings.join(', ')}; caller,operation by default`,
    },
    csv: { about: 'Print CSV' },
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
    const counts = [
      'credits',
      'tasks',
      'unknown',
      'rejected',
      ...(isAnyGivenUp ? ['given_up'] : []),
    ] as const;
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
    const columns = ['at', 'caller', 'operation', 'state', 'credits', 'task_id', 'request_id'];
    return {
      data,
      text: tableOf(data, 'No records match.', columns),
      problem: hasMore ? `There are more than ${maxListed}: name a shorter period, or a user.` : undefined,
    };
  },
});

const maxListed = 1000;

export const conclude = command({
  parameters: [],
  summary: 'End attempts whose outcome is unknown, and correct what their callers have spent',
  notes:
    "Without --apply it changes nothing, and prints callers and credits. By --bill, tasks on a provider's bill count as billed; by --told, tasks whose price the provider told later; by --rejected, all of which the provider said nothing, for a time when it took nothing. Keys stay used up. The last hour is left alone.",
  options: {
    from: {
      value: 'TIME',
      about: 'When the first attempts began, such as 2026-11-28T10:00Z',
      required: true,
    },
    to: { value: 'TIME', about: 'The time before which the last ones began', required: true },
    bill: { value: 'FILE', about: 'A bill as for usage compare' },
    told: { about: 'By the prices that the provider told after its answer' },
    rejected: { about: 'As rejected: they cost nothing' },
    user: { value: 'USER', about: 'Only this user, or @anonymous for callers without a token' },
    operations: { value: 'NAMES', about: 'Only these operations, such as relightImage' },
    apply: { about: 'Make the changes' },
  },
  examples: ['usage conclude --from 2026-11-28T10:00Z --to 2026-11-28T11:00Z --rejected --apply'],
  async run(_, { from, to, bill, told, rejected, user, operations, apply }, { actor }) {
    if ([bill, told, rejected].filter(Boolean).length !== 1)
      throw new UsageError('Give one of --bill, --told and --rejected.');
    const span = { from: readTime(from), to: readTime(to), operations: await readOperations(operations) };
    if (span.from >= span.to) throw new UsageError(`--from ${from} is not before --to ${to}.`);
    if (Date.parse(span.to) > Date.now() - minAgeMs)
      throw new UsageError('--to must be an hour ago at least.');
    const source = bill === undefined ? (told ? 'told' : 'rejected') : readBill(await readNamed(bill));
    const caller = user === undefined ? undefined : callerOf(user);
    const data: { user: string; attempts: number; before: number; after: number; skipped: number }[] = [];
    for (const [name, endings] of await findEndings({ ...span, caller }, source)) {
      const done = apply ? await concludeAll(actor, name, endings, source !== 'rejected', span) : endings;
      const before = done.reduce((sum, { record }) => sum + record.credits, 0);
      const after = done.reduce((sum, { credits }) => sum + credits, 0);
      const [attempts, skipped] = [done.length, endings.length - done.length];
      data.push({ user: callerText(name), attempts, before, after, skipped });
    }
    const text = tableOf(data, 'No attempt matches.');
    const skipped = data.reduce((sum, each) => sum + each.skipped, 0);
    const problem = skipped > 0 ? `${skipped} changed meanwhile, or are open: run it again.` : undefined;
    return { data, text: apply ? text : `${text}\n\nNothing was changed: add --apply.`, problem };
  },
});

const minAgeMs = 60 * 60 * 1000;

function readTime(text: string): string {
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\dZ)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError(`"${text}" is not a time such as 2026-11-28T10:00Z.`);
  readDay(text.slice(0, 10));
  return new Date(time).toISOString();
}

function readGrouping(name: string): Grouping {
  const found = groupings.find((each) => each === name.trim());
  if (found) return found;
  throw new UsageError(`--by takes ${groupings.join(', ')}, separated by commas.`);
}

/**
 * Spreadsheets run a cell that begins like a formula, even in full-width characters or after a line end, and
 * issuers choose users' IDs. An ID's own apostrophe must stay distinguishable from the one added here.
 */
function csvCell(text: string): string {
  const safe = /^['=+\-@＝＋－＠\t\r\n]/.test(text) && text !== '@anonymous' ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const compare = command({
  parameters: ['bill'],
  summary: "Compare the usage records with a provider's bill",
  readsOnly: true,
  notes:
    'The bill is a CSV file with a task id and its credits on each line, or with a heading that names these two columns (task_id, credits). The lines of one task are summed up, so a credit note has negative credits.',
  options: {
    ...periodOptions,
    operations: { value: 'NAMES', about: 'Only these operations, such as relightImage' },
  },
  examples: ['usage compare bill.csv --from 2026-11-01 --to 2026-11-30 --operations relightImage'],
  async run({ bill }, { from, to, operations }) {
    const only = await readOperations(operations);
    const period = periodOf(from, to);
    const billed = readBill(await readNamed(bill));
    const result = await reconcile(usagePages(period), billed, ({ operation }) => only.includes(operation));
    return { data: result, text: describe(result) };
  },
});

async function readOperations(names: string | undefined): Promise<string[]> {
  const paidOperations = (await loadPaidContracts()).map(({ name }) => name);
  const chosen = names?.split(',').map((name) => name.trim()) ?? paidOperations;
  const unknown = chosen.find((name) => !paidOperations.includes(name));
  if (unknown === undefined) return chosen;
  throw new UsageError(`"${unknown}" is not a paid operation. Choose from ${paidOperations.join(', ')}.`);
}

interface Finding {
  task_id?: string | undefined;
  request_id?: string;
  operation?: string;
  credits: number;
  billed?: number;
  at?: string;
  is_exact?: boolean | undefined;
}

function describe(result: Reconciliation): string {
  const rows = [
    ...result.not_recorded.map(({ task_id, credits }) => [
      ...['billed, not recorded', task_id, undefined, credits, undefined, undefined],
    ]),
    ...result.recorded_twice.map(rowOf('recorded twice')),
    ...result.not_billed.map(rowOf('recorded, not billed')),
    ...result.other_price.map(rowOf('another price')),
    ...result.unknown.map(rowOf('unknown')),
  ];
  const { billed, recorded, difference, unknown } = result.totals;
  const summary = [
    `${result.matched} ${result.matched === 1 ? 'task agrees' : 'tasks agree'}, ${rows.length} ${rows.length === 1 ? 'does' : 'do'} not.`,
    `Billed ${billed}, recorded ${recorded}, difference ${difference}.`,
    ...(unknown > 0 ? [`Another ${unknown} are counted for attempts with an unknown outcome.`] : []),
  ].join('\n');
  if (rows.length === 0) return summary;
  const headings = ['FOUND', 'TASK OR REQUEST', 'OPERATION', 'BILLED', 'RECORDED', 'TIME'];
  return `${summary}\n\n${table(headings, rows)}`;
}

/** A task whose reply had no price is recorded at its ceiling. */
function rowOf(found: string) {
  return ({ task_id, request_id, operation, credits, billed, at, is_exact }: Finding) => [
    task_id !== undefined && is_exact === false ? `${found}, price never known` : found,
    ...[task_id ?? request_id, operation, billed, credits, at],
  ];
}
