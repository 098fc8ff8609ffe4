import {
  nameRelease,
  problemOf,
  type Release,
  release as thisRelease,
  stateOf,
  type Table,
  writeRelease,
} from '../../infra/release.ts';
import { Rejection } from './registry/administration.ts';

interface Options {
  release?: Release;
  dryRun?: boolean;
  /** The operator's word on a table that doesn't say it itself. */
  writtenBy?: string | undefined;
  /** The command that a rejection suggests. */
  command?: string;
}

interface Upgrade {
  from: string;
  to: string;
}

/** Names this release in the table: its deployment waits for that. A change of records that it needs comes before. */
export async function upgradeTable(
  table: Table,
  { release = thisRelease, dryRun = false, writtenBy, command = 'npm run admin -- upgrade' }: Options = {},
): Promise<Upgrade> {
  const found = await stateOf(table);
  if (found === 'empty' || (found === 'unknown' && writtenBy === release.name)) {
    if (!dryRun) await nameRelease(table, release);
    return { from: found, to: release.name };
  }
  if (found === 'absent') throw new Rejection(`There is no table ${table.name}.`);
  if (found === 'unknown' || found.release !== release.before) {
    const problem = problemOf(table, found, release, command);
    if (found === 'unknown' || problem !== undefined) throw new Rejection(problem ?? '');
    return { from: found.release, to: found.release };
  }
  const at = new Date().toISOString();
  if (!dryRun) await writeRelease(table, { ...found, release: release.name, before: release.before, at });
  return { from: found.release, to: release.name };
}
