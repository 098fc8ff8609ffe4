import { CsvError, parse } from 'csv-parse/sync';
import { Rejection } from '../registry/administration.ts';

export interface Row {
  /** The number of its first line in the file. */
  line: number;
  cells: string[];
}

/** A file of one separator may hold a comma in its numbers, so the rarer ones are looked for first. */
const separators = ['\t', ';', ','];

/** The non-empty rows of a CSV file, with any separator and line end. */
export function parseCsv(text: string): Row[] {
  const rows: Row[] = [];
  try {
    parse(text, {
      delimiter: separatorOf(text),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_records_with_empty_values: true,
      trim: true,
      on_record: (cells: string[], { lines }) => {
        // The parser names the last line of a row.
        rows.push({ line: lines - lineEndsIn(cells), cells });
      },
    });
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Rejection(`Line ${error.lines} of the bill has a quotation mark that does not enclose a cell.`);
  }
}

function lineEndsIn(cells: readonly string[]): number {
  return cells.join('').match(/\r\n|\r|\n/g)?.length ?? 0;
}

/** One for the whole file, by its first line. */
function separatorOf(text: string): string {
  const first = text.replaceAll(/"[^"]*"/g, '').match(/[^\r\n]+/)?.[0] ?? '';
  return separators.find((each) => first.includes(each)) ?? ',';
}
