import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { table } from 'command-line/table';
import type { Figure } from './figures.ts';

export interface Report {
  date: string;
  machine: string;
  figures: Figure[];
}

export function machineName(): string {
  return `${cpus().length} x ${cpus()[0]?.model.trim() ?? process.arch}, Node ${process.versions.node}`;
}

export function render({ date, machine, figures }: Report): string {
  const rows = figures.map(({ name, unit, median, low, high, usual, reach }) => [
    name,
    show(median, unit),
    low === high ? '' : `${low.toFixed(2)} to ${high.toFixed(2)}`,
    usual === undefined ? '' : show(usual, unit),
    reach === undefined ? '' : show(reach, unit),
    reach !== undefined && median > reach ? 'not reached' : '',
  ]);
  const headings = ['', 'measured', 'middle half', 'usual', 'to reach', ''];
  return `${date}, ${machine}\n\n${table(headings, rows, { alignRight: [1, 2, 3, 4], empty: '' })}\n`;
}

function show(value: number, unit: Figure['unit']): string {
  return unit === 'times' ? value.toFixed(2) : `${value.toFixed(0)} ${unit}`;
}

/** The figures that moved by more than the noise of both runs. */
export function compare(before: Report, after: Report): string[] {
  return after.figures.flatMap((now) => {
    const then = before.figures.find(({ name }) => name === now.name);
    if (!then) return [`${now.name} is new: ${show(now.median, now.unit)}`];
    const isApart = now.low > then.high || now.high < then.low;
    const isNotable = Math.abs(now.median - then.median) > then.median * minChange;
    if (!isApart || !isNotable) return [];
    const isBetter = now.unit === 'a second' ? now.median > then.median : now.median < then.median;
    const word = isBetter ? 'better' : 'worse';
    return [`${now.name} is ${word}: ${show(then.median, then.unit)} -> ${show(now.median, now.unit)}`];
  });
}

const minChange = 0.02;

/** Bounds that noise does not reach: sizes do not vary, and for CPU times even the better quarter must be worse. */
const maxChange = { 'first load': 1.05, 'cold cpu': 1.5, 'warm endpoint': 2.5 };

export function grossRegressions(before: Report, after: Report): { name: string; text: string }[] {
  return after.figures.flatMap(({ name, median, low, unit }) => {
    const then = before.figures.find((figure) => figure.name === name);
    const [, bound] = Object.entries(maxChange).find(([kind]) => name.startsWith(kind)) ?? [];
    return then && bound && low > then.median * bound
      ? [{ name, text: `${name}: ${show(then.median, unit)} -> ${show(median, unit)}` }]
      : [];
  });
}

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
