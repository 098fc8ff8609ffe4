import { readFile, writeFile } from 'node:fs/promises';
import { picture } from './picture.ts';
import { compare, type Report } from './report.ts';

interface Files {
  baseline: string;
  picture: string;
}

const ours: Files = { baseline: 'tools/bench/baseline.json', picture: 'docs/bench.svg' };

export async function readBaseline({ baseline } = ours): Promise<Report> {
  return JSON.parse(await readFile(baseline, 'utf8'));
}

/** Lists what moved since the baseline, before the report replaces it. */
export async function compareAndSave(
  report: Report,
  { isCompared, isSaved }: { isCompared: boolean; isSaved: boolean },
  files = ours,
): Promise<string[]> {
  const moved = isCompared ? compare(await readBaseline(files), report) : [];
  if (isSaved) {
    await writeFile(files.baseline, `${JSON.stringify(report, null, 2)}\n`);
    await writeFile(files.picture, picture(report));
  }
  return moved;
}
