import { digitsOf, orderOf } from './access.ts';
import { Dict, List, type Machine, type Value } from './values.ts';
import { Class, Instance, methodOf, outsideBase } from './objects.ts';
import { Symbolic, Tuple, Unknown } from './plain.ts';

/** The number of characters in a text; JavaScript counts some of them twice. */
export function sizeOf(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

/** The result of `str`; undefined if unknown, such as an address in memory. */
export function textOf(machine: Machine, value: Value): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Instance) {
    const own = ownText(machine, value, '__str__');
    if (own !== null) return own;
    if (typeof value.payload === 'string') return value.payload;
    const args = value.own('args');
    if (args instanceof Tuple) return messageOf(machine, value.cls, args);
  }
  return reprOf(machine, value);
}

/** The text of an exception. */
function messageOf(machine: Machine, cls: Class, args: Tuple): string | undefined {
  const [only] = args.items;
  if (only === undefined) return '';
  if (args.items.length > 1) return reprOf(machine, args);
  return cls.mro.some(({ name }) => name === 'KeyError') ? reprOf(machine, only) : textOf(machine, only);
}

/** The result of `repr`; undefined if unknown. */
export function reprOf(machine: Machine, value: Value): string | undefined {
  machine.budget.spend();
  if (value instanceof Unknown) return undefined;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return digitsOf(machine, value);
  if (typeof value === 'number') return floatText(value);
  if (typeof value === 'string') return quoted(machine, value);
  if (value instanceof Symbolic) return value.name;
  if (value instanceof Instance) return instanceText(machine, value);
  if (orderOf(value) !== undefined) return undefined;
  if (value instanceof List) return listed(machine, '[', value.items, ']');
  if (value instanceof Tuple) return listed(machine, '(', value.items, value.items.length === 1 ? ',)' : ')');
  if (value instanceof Dict) return dictText(machine, value);
  if (value instanceof Class) return classText(value);
  return undefined;
}

function classText(cls: Class): string {
  const module = cls.own('__module__');
  return cls.builtin || typeof module !== 'string'
    ? `<class '${cls.name}'>`
    : `<class '${module}.${cls.name}'>`;
}

function instanceText(machine: Machine, value: Instance): string | undefined {
  const own = ownText(machine, value, '__repr__');
  if (own !== null) return own;
  if (value.payload !== undefined) return reprOf(machine, value.payload);
  const args = value.own('args');
  if (!(args instanceof Tuple)) return undefined;
  return listed(machine, `${value.cls.name}(`, args.items, ')');
}

/** The result of the pack's own method; null if there is none. */
function ownText(machine: Machine, value: Instance, name: string): string | undefined | null {
  const method = methodOf(value, name);
  if (method === undefined) return outsideBase(value) === undefined ? null : undefined;
  const text = machine.call(method, [value]);
  return typeof text === 'string' ? text : undefined;
}

/** Joins the written parts of something; undefined if one of them is unknown. */
export function joinParts(
  machine: Machine,
  parts: Iterable<string | undefined>,
  separator: string,
): string | undefined {
  const known: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (part === undefined) return undefined;
    const added = part.length + separator.length;
    length += added;
    machine.budget.text(added, length);
    known.push(part);
  }
  return known.join(separator);
}

/** Lazy: nothing after an unknown part is written. */
export function* each<Item>(items: Iterable<Item>, write: (item: Item) => string | undefined) {
  for (const item of items) yield write(item);
}

function listed(machine: Machine, open: string, items: Iterable<Value>, close: string): string | undefined {
  const inside = joinParts(
    machine,
    each(items, (item) => reprOf(machine, item)),
    ', ',
  );
  return inside === undefined ? undefined : `${open}${inside}${close}`;
}

function dictText(machine: Machine, dict: Dict): string | undefined {
  if (dict.open !== undefined) return undefined;
  const inside = joinParts(
    machine,
    each(dict.entries.values(), ({ key, value, conditional }) => {
      const [name, text] = [reprOf(machine, key), reprOf(machine, value)];
      return conditional || name === undefined || text === undefined ? undefined : `${name}: ${text}`;
    }),
    ', ',
  );
  return inside === undefined ? undefined : `{${inside}}`;
}

export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits = '', exponent = ''] = value.toExponential().split('e');
    const sign = exponent.startsWith('-') ? '-' : '+';
    return `${digits}e${sign}${exponent.slice(1).padStart(2, '0')}`;
  }
  const text = value.toString();
  return text.includes('.') || text.includes('e') ? text : `${text}.0`;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function quoted(machine: Machine, text: string): string | undefined {
  machine.budget.text(text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let result = quote;
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (character === quote) result += `\\${character}`;
    else if (escapes.has(character)) result += escapes.get(character);
    else if (code < 32 || code === 127) result += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (/[\p{C}\p{Z}]/u.test(character) && character !== ' ') return undefined;
    else result += character;
  }
  return result + quote;
}
