import { readFile } from 'node:fs/promises';
import { table } from 'command-line/table';
import { loadPaidContracts } from '../../../infra/operations.ts';
import { command, UsageError } from '../command.ts';
import { Rejection } from '../registry/administration.ts';
import { readBill } from '../spend/bill.ts';
import { periodOf, periodOptions } from '../spend/period.ts';
import { type Reconciliation, reconcile } from '../spend/reconcile.ts';
import { usagePages } from '../spend/usage.ts';

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
    const billed = readBill(await readBytes(bill));
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

async function readBytes(file: string): Promise<Uint8Array> {
  return readFile(file).catch((error: unknown) => {
    throw new Rejection(`The bill cannot be read: ${error instanceof Error ? error.message : error}`);
  });
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
    ...result.not_recorded.map(({ task_id, credits, charges }) => [
      charges > 1 ? `billed ${charges} times, not recorded` : 'billed, not recorded',
      ...[task_id, undefined, credits, undefined, undefined],
    ]),
    ...result.billed_twice.map(rowOf('billed twice')),
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
