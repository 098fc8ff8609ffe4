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
  if (isSaved) await writeFile(file, textOf(report));
  return moved;
}

/** One line for each figure, without its goals, which are in the code. */
function textOf({ figures, ...about }: Report): string {
  const rounded = (value: number) => Number(value.toFixed(3));
  const lines = figures.map(({ name, unit, median, low, high }) =>
    JSON.stringify({ name, unit, median: rounded(median), low: rounded(low), high: rounded(high) }),
  );
  return `${JSON.stringify(about).slice(0, -1)},"figures":[\n${lines.join(',\n')}\n]}\n`;
}
