import { asText, dictOf } from '../values/access.ts';
import type { Machine } from '../values/machine.ts';
import { Unknown } from '../values/plain.ts';
import { type Keywords, List, type Value } from '../values/values.ts';
import { argument, type Models, natives } from './define.ts';

/** `csv`: packs keep styles and presets in tables. */
export function tableModels(): Models {
  return natives('csv', {
    reader: (machine, [source = null], keywords) => {
      const rows = read(machine, source, keywords);
      return rows instanceof Unknown ? rows : new List(rows.map((row) => new List(row)));
    },
    DictReader: (machine, args, keywords) => {
      const rows = read(machine, args[0] ?? null, keywords);
      if (rows instanceof Unknown) return rows;
      const given = argument(args, keywords, 1, 'fieldnames') ?? null;
      const names = given === null ? (rows.shift() ?? []) : [...machine.iterate(given)];
      machine.budget.spend(names.length * rows.length);
      return new List(
        rows.map((row) =>
          dictOf(
            machine,
            names.map((name, at): [Value, Value] => [name, row[at] ?? null]),
          ),
        ),
      );
    },
  });
}

/** The rows of a file, or of a list of lines, with a delimiter at most. */
function read(machine: Machine, source: Value, keywords: Keywords): string[][] | Unknown {
  const { delimiter = ',', fieldnames: _, newline: __, ...others } = Object.fromEntries(keywords);
  const comma = asText(delimiter);
  if (comma?.length !== 1 || Object.keys(others).length > 0)
    return new Unknown('a table of a kind of its own');
  let text = '';
  for (const line of machine.iterate(source)) {
    const known = asText(line);
    if (known === undefined) return new Unknown('a table with an unknown line');
    machine.budget.text(known.length, text.length + known.length);
    text += known.endsWith('\n') ? known : `${known}\n`;
  }
  machine.budget.spend(text.length >> 2);
  return rowsOf(text.replaceAll('\r\n', '\n'), comma);
}

function rowsOf(text: string, comma: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (isQuoted && letter === '"' && text[at + 1] === '"') {
      cell += letter;
      at += 1;
    } else if (letter === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted;
    else if (isQuoted || (letter !== comma && letter !== '\n')) cell += letter;
    else {
      row.push(cell);
      cell = '';
      if (letter === '\n') {
        // A line without anything is an empty row for `reader`, and none for `DictReader`.
        if (row.length > 1 || row[0] !== '') rows.push(row);
        row = [];
      }
    }
  }
  return rows;
}
