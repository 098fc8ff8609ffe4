type Cell = string | number | boolean | undefined;

/** Rows under headings, each column as wide as its widest cell; a cell without a value shows a dash. */
export function table(headings: string[], rows: Cell[][]): string {
  return align([headings, ...rows.map((row) => row.map(shown))], '');
}

/** One thing's fields, a line each; those without a value are left out. */
export function fields(values: Record<string, Cell>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return align(
    present.map(([name, value]) => [name, shown(value)]),
    '',
  );
}

function align(rows: string[][], indent: string): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => indent + row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** What publishers wrote is shown on one line and without control characters, which could redraw the terminal. */
function shown(value: Cell): string {
  if (value === undefined || value === '') return '-';
  return String(value).replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}
