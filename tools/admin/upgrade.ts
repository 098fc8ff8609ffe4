import {
  nameRelease,
  deploymentProblem,
  type Release,
  release as thisRelease,
  tableState,
  type Table,
  writeRelease,
} from '../../infra/release.ts';
import { Rejection } from './registry/administration.ts';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { command } from './command.ts';

interface Upgrade {
  from: string;
  to: string;
}

/** Records this release in the table, which its deployment requires. Changes of records come before that. */
export async function upgradeTable(
  table: Table,
  { release = thisRelease, dryRun = false }: { release?: Release; dryRun?: boolean } = {},
): Promise<Upgrade> {
  const found = await tableState(table);
  if (found === 'empty') {
    if (!dryRun) await nameRelease(table, release);
    return { from: found, to: release.name };
  }
  if (found === 'absent') throw new Rejection(`There is no table ${table.name}.`);
  if (found.release !== release.before) {
    const problem = deploymentProblem(table, found, release);
    if (problem !== undefined) throw new Rejection(problem);
    return { from: found.release, to: found.release };
  }
  const at = new Date().toISOString();
  if (!dryRun) await writeRelease(table, { ...found, release: release.name, before: release.before, at });
  return { from: found.release, to: release.name };
}

export const run = command({
  parameters: [],
  summary: 'Prepare the table for this release, before it is deployed',
  notes:
    'Records this release in the table, which its deployment requires. The previous release keeps serving meanwhile and\nafterwards. If interrupted, run it again.',
  options: { 'dry-run': { about: 'Change nothing' } },
  examples: ['upgrade --dry-run', 'upgrade --region eu-west-1 --table node-registry-prod'],
  isDefault: true,
  async run(_, { 'dry-run': dryRun = false }) {
    const data = await upgradeTable({ client: dynamodb, name: tableName() }, { dryRun });
    const text = dryRun
      ? `${data.from === data.to ? `The table stays at release ${data.to}.` : `The table would go from ${data.from} to release ${data.to}.`} Nothing was changed.`
      : `The table is now at release ${data.to}.`;
    return { data, text };
  },
});
