import { write } from './new-file.ts';
import type { Ending, Mean } from './output.ts';
import { type PlanFlags, packReport, planLines, planOf } from './plan.ts';

interface PackFlags extends PlanFlags {
  output: string | undefined;
}

/** Writes the archive for inspection; an existing file stays. */
export async function packCommand(folder: string, flags: PackFlags, mean: Mean): Promise<Ending> {
  const plan = await planOf(folder, flags, mean, async () => undefined);
  const { node, version } = plan.project;
  const file = flags.output ?? `${node}-${version}.zip`;
  await write(file, plan.packed.archive);
  return {
    report: { ...packReport(plan), status: 'packed' },
    lines: [...planLines(plan), `sha256     ${plan.packed.sha256}`, `Wrote ${file}. Nothing was sent.`],
  };
}
