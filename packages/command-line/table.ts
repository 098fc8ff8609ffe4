import { eastAsianWidth } from 'get-east-asian-width';

type Cell = string | number | boolean | undefined;

interface Layout {
  /** The indexes of numeric columns. */
  alignRight?: readonly number[];
  /** The text of a cell without a value. */
  empty?: string;
  /** The text without rows, instead of the headings. */
  none?: string;
}

/** Rows under headings, each column as wide as its widest cell. Drops cells without a heading. */
export function table(
  headings: string[],
  rows: Cell[][],
  { alignRight = [], empty = '-', none }: Layout = {},
): string {
  if (rows.length === 0 && none !== undefined) return none;
  const lines = rows.map((row) => headings.map((_, column) => shown(row[column], empty)));
  return align([headings, ...lines], alignRight);
}

/** Fields with one line each, without those that have no value. */
export function fields(values: Record<string, Cell>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return align(
    present.map(([name, value]) => [name, shown(value, '')]),
    [],
  );
}

function align(rows: string[][], alignRight: readonly number[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const pad = (cell: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    return alignRight.includes(column) ? space + cell : cell + space;
  };
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

/** The cells that a terminal takes for a text: most characters of East Asia take two, and marks none. */
function widthOf(text: string): number {
  return [...text.replace(/\p{M}/gu, '')].reduce(
    (sum, each) => sum + eastAsianWidth(Number(each.codePointAt(0))),
    0,
  );
}

/** Shows publishers' text on one line and without control characters, which could redraw the terminal. */
function shown(value: Cell, empty: string): string {
  if (value === undefined || value === '') return empty;
  return String(value).replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}
