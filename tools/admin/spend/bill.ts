import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { Rejection } from '../registry/administration.ts';

/** The credits of each task on a provider's bill: the sum of its lines, because a credit note gives some of it back. */
export type Bill = ReadonlyMap<string, number>;

interface Columns {
  task: number;
  credits: number;
  /** The number of cells in each line, so that a comma in a number isn't read as a separator. */
  width: number;
}

/** The headings of the two columns, without case, spaces, `_` and `-`. An earlier name is preferred. */
const taskNames = ['taskid', 'task', 'id'];
const creditNames = ['credits', 'credit', 'creditsused', 'cost', 'price', 'amount'];

/** With which spreadsheets begin a text in UTF-16. No text in UTF-8 has this byte. */
const utf16Mark = 0xff;

/** Reads a bill as CSV: a task id and its credits on each line, in this order or as a heading names them. */
export function readBill(bytes: Uint8Array): Bill {
  const encoding = bytes[0] === utf16Mark ? 'utf-16le' : 'utf-8';
  if (encoding === 'utf-8' && !isUtf8(bytes))
    throw new Rejection('The bill is not text in UTF-8, or in UTF-16 with a byte order mark.');
  const rows = parseCsv(new TextDecoder(encoding).decode(bytes));
  const heading = rows[0] && headingOf(rows[0]);
  const bill = new Map<string, number>();
  for (const row of heading ? rows.slice(1) : rows) {
    const { task, credits } = readTask(row, heading);
    bill.set(task, rounded((bill.get(task) ?? 0) + credits));
  }
  if (bill.size === 0) throw new Rejection('The bill has no tasks.');
  return bill;
}

function headingOf({ line, cells }: Row): Columns | undefined {
  const named = cells.map((cell) => cell.toLowerCase().replace(/[\s_-]/g, ''));
  const columnOf = (names: string[]) => {
    const name = names.find((each) => named.includes(each));
    if (name === undefined) return undefined;
    const column = named.indexOf(name);
    if (named.includes(name, column + 1))
      throw new Rejection(`Line ${line} of the bill names two columns "${cells[column]}".`);
    return column;
  };
  const [task, credits] = [columnOf(taskNames), columnOf(creditNames)];
  return task === undefined || credits === undefined ? undefined : { task, credits, width: cells.length };
}

function readTask({ line, cells }: Row, heading: Columns | undefined): { task: string; credits: number } {
  const { width, ...columns } = heading ?? { task: 0, credits: 1, width: 2 };
  const [task = '', amount = ''] = [cells[columns.task], cells[columns.credits]];
  const problem =
    cells.length === width
      ? (taskProblem(task) ?? creditsProblem(amount))
      : `has ${cells.length} of ${width} cells`;
  if (problem === undefined) return { task, credits: Number(amount) };
  const hint = heading ? '' : ' and is not a heading such as task_id,credits';
  throw new Rejection(`Line ${line} of the bill ${problem}${hint}: ${cells.join(' | ').slice(0, 80)}`);
}

function taskProblem(id: string): string | undefined {
  if (id === '') return 'has no task id';
  if (/^\d(?:[.,]\d+)?e\+\d+$/i.test(id)) return 'has a task id that a spreadsheet has rounded';
  return /^(?:(?:sub|grand )?total|sum)$/i.test(id) ? 'is a sum and not a task' : undefined;
}

/** A point before three digits separates thousands in some languages and a fraction in others. */
function creditsProblem(amount: string): string | undefined {
  const isNumber = /^-?\d{1,12}(?:\.\d{1,6})?$/.test(amount) && !/^-?\d{1,3}\.\d{3}$/.test(amount);
  return isNumber ? undefined : 'has credits that are not a plain number such as 20 or 20.5';
}

/** Sums of fractions have an error in their last digits. */
export function rounded(credits: number): number {
  return Math.round(credits * 1e6) / 1e6;
}

interface Row {
  /** The number of its last line in the file. */
  line: number;
  cells: string[];
}

/** A file with one of the rarer separators may have commas in its numbers, so those are tried first. */
const separators = ['\t', ';', ','];

/** The non-empty rows of a CSV file, with any separator and line end. */
function parseCsv(text: string): Row[] {
  const rows: Row[] = [];
  try {
    parse(text, {
      delimiter: separatorOf(text),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_records_with_empty_values: true,
      trim: true,
      on_record: (cells: string[], { lines: line }) => void rows.push({ line, cells }),
    });
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Rejection(`Line ${error.lines} of the bill has a quotation mark that does not enclose a cell.`);
  }
}

/** One for the whole file, by its first line. */
function separatorOf(text: string): string {
  const first = text.replaceAll(/"[^"]*"/g, '').match(/[^\r\n]+/)?.[0] ?? '';
  return separators.find((each) => first.includes(each)) ?? ',';
}
