import { Refusal } from '../registry/refusal.ts';

export interface Row {
  /** The number of its first line in the file. */
  line: number;
  cells: string[];
}

/** A file of one separator may hold a comma in its numbers, so the rarer ones are looked for first. */
const separators = ['\t', ';', ','];

/** The rows of a CSV file that are not empty, whatever separates its cells and ends its lines. */
export function parseCsv(text: string): Row[] {
  const separator = separatorOf(text);
  // A cell is quoted or not, and ends with a separator, a line or the text.
  const cell = new RegExp(
    `(?: *"([^"]*(?:""[^"]*)*)" *|([^"${separator}\\r\\n]*))(${separator}|\\r\\n|\\r|\\n|$)`,
    'y',
  );
  const rows: Row[] = [];
  let row: Row = { line: 1, cells: [] };
  let line = 1;
  while (true) {
    const [matched, quoted, plain = '', end] = cell.exec(text) ?? [];
    if (matched === undefined)
      throw new Refusal(`Line ${line} of the bill has a quotation mark that does not enclose a cell.`);
    row.cells.push(quoted?.replaceAll('""', '"') ?? plain.trim());
    line += matched.match(/\r\n|\r|\n/g)?.length ?? 0;
    if (end === separator) continue;
    if (row.cells.some((each) => each !== '')) rows.push(row);
    if (end === '' || end === undefined) return rows;
    row = { line, cells: [] };
  }
}

/** One for the whole file, by its first line. */
function separatorOf(text: string): string {
  const first = text.replaceAll(/"[^"]*"/g, '').match(/[^\r\n]+/)?.[0] ?? '';
  return separators.find((each) => first.includes(each)) ?? ',';
}
