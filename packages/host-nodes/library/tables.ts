import { asText, dictOf } from '../values/access.ts';
import { openType } from '../values/builtin-types.ts';
import type { Machine } from '../values/machine.ts';
import { Instance } from '../values/objects.ts';
import { Iterator, Unknown } from '../values/plain.ts';
import { type Keywords, List, type Value } from '../values/values.ts';
import { argument, type Models, natives } from './define.ts';

/** `csv`: packs keep styles and presets in tables. */
export function tableModels(): Models {
  return natives('csv', {
    reader: (machine, [source = null], keywords) => {
      const rows = read(machine, source, keywords);
      return rows instanceof Unknown ? rows : new Iterator(rows.map((row) => new List(row)).values());
    },
    DictReader: (machine, args, keywords) => {
      const all = read(machine, args[0] ?? null, keywords);
      if (all instanceof Unknown) return all;
      const rows = all.filter((row) => row.length > 0);
      const given = argument(args, keywords, 1, 'fieldnames') ?? null;
      const names = given === null ? (rows.shift() ?? []) : [...machine.iterate(given)];
      machine.budget.spend(names.length * rows.length);
      const dicts = rows.map((row) => {
        const rest: [Value, Value][] =
          row.length > names.length ? [[null, new List(row.slice(names.length))]] : [];
        return dictOf(machine, [
          ...names.map((name, at): [Value, Value] => [name, row[at] ?? null]),
          ...rest,
        ]);
      });
      const reader = new Instance(readerType, new Iterator(dicts.values()));
      reader.define('fieldnames', new List(names));
      return reader;
    },
  });
}

const readerType = openType('DictReader');

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
        rows.push(row.length > 1 || row[0] !== '' ? row : []);
        row = [];
      }
    }
  }
  return rows;
}
