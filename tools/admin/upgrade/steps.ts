import {
  nameRelease,
  problemOf,
  type Release,
  type ReleaseRecord,
  release as thisRelease,
  stateOf,
  type Table,
  writeRelease,
} from '../../../infra/release.ts';
import { Rejection } from '../registry/rejection.ts';

/** A change of records that the release before must be able to read too: until the deployment it serves them. */
export interface Step {
  name: string;
  summary: string;
  /** Begins after `place`, which it has kept itself. A record may be visited twice. */
  run(place: string | undefined, keep: (place: string) => Promise<void>): Promise<void>;
}

/** The steps of this release; empty, because 3.0.0 begins with an empty table. */
export const steps: readonly Step[] = [];

interface Options {
  release?: Release;
  steps?: readonly Step[];
  dryRun?: boolean;
  /** The operator's word on a table that doesn't say it itself. */
  writtenBy?: string | undefined;
  /** The command that a rejection suggests. */
  command?: string;
}

export interface Upgrade {
  from: string;
  to: string;
  /** The steps that this run did, or would do. */
  steps: string[];
}

/** Does the steps of this release that are not done, and then names it in the table: its deployment waits for that. */
export async function upgradeTable(
  table: Table,
  {
    release = thisRelease,
    steps: all = steps,
    dryRun = false,
    writtenBy,
    command = 'npm run admin -- upgrade',
  }: Options = {},
): Promise<Upgrade> {
  const found = await stateOf(table);
  if (found === 'empty' || (found === 'unknown' && writtenBy === release.name)) {
    if (!dryRun) await nameRelease(table, release);
    return { from: found, to: release.name, steps: [] };
  }
  if (found === 'absent') throw new Rejection(`There is no table ${table.name}.`);
  if (found === 'unknown' || found.release !== release.before) {
    const problem = problemOf(table, found, release, command);
    if (found === 'unknown' || problem !== undefined) throw new Rejection(problem ?? '');
    return { from: found.release, to: found.release, steps: [] };
  }
  const begun = found.upgrade?.to === release.name ? found.upgrade : undefined;
  let upgrade: NonNullable<ReleaseRecord['upgrade']> = begun ?? { to: release.name, done: [] };
  const left = all.filter(({ name }) => !upgrade.done.includes(name));
  const result = { from: found.release, to: release.name, steps: left.map(({ name }) => name) };
  if (dryRun) return result;
  for (const step of left) {
    const { done } = upgrade;
    const keep = (place: string) =>
      writeRelease(table, { ...found, upgrade: { to: release.name, done, place } });
    await step.run(upgrade.place, keep);
    upgrade = { to: release.name, done: [...done, step.name] };
    await writeRelease(table, { ...found, upgrade });
  }
  const { upgrade: _, ...rest } = found;
  const at = new Date().toISOString();
  await writeRelease(table, { ...rest, release: release.name, before: release.before, at });
  return result;
}
