import { cpus } from 'node:os';
import { table } from '@node-registry/command-line/table';

type Unit = 'times' | 'KB' | 'MB' | 'a second';

/** One result: a ratio to something measured in the same run, or a size. */
export interface Figure {
  name: string;
  unit: Unit;
  median: number;
  /** The middle half of all rounds lies between these. */
  middle?: [low: number, high: number];
  /** The goal: at most this. */
  reach?: number | undefined;
}

/** The ratio of two series that were measured in turns: a disturbance of a round affects both. */
export function ratio(name: string, times: number[], base: number[], reach?: number): Figure {
  const ratios = times.map((time, round) => time / Number(base[round])).sort((a, b) => a - b);
  const at = (share: number) => Number(ratios[Math.round((ratios.length - 1) * share)]);
  return { name, unit: 'times', median: at(0.5), middle: [at(0.25), at(0.75)], reach };
}

/** Runs everything in turns, A, B, A, B and so on, and returns each one's results in the order of rounds. */
export async function inTurns<Name extends string, Result>(
  rounds: number,
  runs: Record<Name, () => Promise<Result>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(runs) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results[name].push(await runs[name]());
  }
  return results;
}

/** The figures as a table, with the day and the machine. */
export function render(figures: readonly Figure[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? process.arch}, Node ${process.versions.node}`;
  const rows = figures.map(({ name, unit, median, middle, reach }) => [
    name,
    unit === 'times' ? median.toFixed(2) : `${median.toFixed(0)} ${unit}`,
    middle?.map((value) => value.toFixed(2)).join(' to ') ?? '',
    reach?.toFixed(2) ?? '',
    reach !== undefined && median > reach ? 'not reached' : '',
  ]);
  const headings = ['', 'measured', 'middle half', 'to reach', ''];
  return `${date}, ${machine}\n\n${table(headings, rows, { alignRight: [1, 2, 3], empty: '' })}\n`;
}
