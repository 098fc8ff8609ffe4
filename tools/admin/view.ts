import { fields, table } from '@node-registry/command-line/table';
import { isObject } from '../../lib/json.ts';

/* What --json prints, as text for people. A word of the text is the name of its field. */

/** One line for each, with a column for each of these fields, such as `user.id`, or for all. Without any, `none`. */
export function tableOf(list: readonly object[], none: string, columns = Object.keys(list[0] ?? {})): string {
  const rows = list.map((each) => columns.map((path) => secondsOf(cellOf(fieldAt(each, path)))));
  const alignRight = columns.flatMap((_, column) => (typeof rows[0]?.[column] === 'number' ? column : []));
  const headings = columns.map((path) => wordsOf(path).toUpperCase());
  return table(headings, rows, { alignRight, none });
}

/** A time without its milliseconds, for narrow lines. */
function secondsOf(cell: string | number | undefined) {
  return typeof cell === 'string' ? cell.replace(/(T\d\d:\d\d:\d\d)\.\d{3}Z$/, '$1Z') : cell;
}

/** One line for each field that has a value. */
export function fieldsOf(record: object): string {
  const lines = Object.entries(record).map(([name, value]) => {
    const words = wordsOf(name);
    return [words.charAt(0).toUpperCase() + words.slice(1), cellOf(value)];
  });
  return fields(Object.fromEntries(lines));
}

function fieldAt(record: object, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value)[name], record);
}

/** `latest_version.version` is the latest version. */
function wordsOf(path: string): string {
  return [...new Set(path.split(/[._]|(?=[A-Z])/))].join(' ').toLowerCase();
}

function cellOf(value: unknown): string | number | undefined {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return shortStatus(value);
  if (Array.isArray(value)) return value.some(isObject) ? value.length : value.join(', ');
  if (!isObject(value)) return value as number | undefined;
  // A stored map has no order of its own.
  const parts = Object.entries(value).map(([name, each]) => [wordsOf(name), cellOf(each) ?? '']);
  return parts
    .filter(([, cell]) => cell !== '')
    .map((part) => part.join(' '))
    .sort()
    .join(', ');
}

/** Of the status of a node or a version; other text stays. */
export function shortStatus(text: string): string {
  const [, status] = /^Node(?:Version)?Status(\w+)$/.exec(text) ?? [];
  return status === 'Deleted' ? 'withdrawn' : (status?.toLowerCase() ?? text);
}
