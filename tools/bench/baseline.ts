import { readFile, writeFile } from 'node:fs/promises';
import { compare, type Report } from './report.ts';

const ours = 'tools/bench/baseline.json';

export async function readBaseline(file = ours): Promise<Report> {
  return JSON.parse(await readFile(file, 'utf8'));
}

/** Lists the changes since the baseline, before the report replaces it. */
export async function compareAndSave(
  report: Report,
  { isCompared, isSaved }: { isCompared: boolean; isSaved: boolean },
  file = ours,
): Promise<string[]> {
  const moved = isCompared ? compare(await readBaseline(file), report) : [];
  if (isSaved) await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return moved;
}
