import { cpus } from 'node:os';
import { table } from 'command-line/table';
import type { Figure } from './figures.ts';

/** The figures as a table, with the day and the machine. */
export function render(figures: readonly Figure[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? process.arch}, Node ${process.versions.node}`;
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
