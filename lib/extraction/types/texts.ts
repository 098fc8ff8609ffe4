import { asText, plain } from '../values/access.ts';
import { isNumber } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { Dict, List } from '../values/collections.ts';
import { Bytes, Tuple, Unknown } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';
import type { Methods } from '../values/builtin-types.ts';
import { formatBraces, joinTexts } from './formatting.ts';

type TextMethod = (text: string, args: Value[], machine: Machine, keywords: Keywords) => Value;

const blanks = /\s+/;

const plainMethods: Record<string, TextMethod> = {
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  casefold: (text) => text.toLowerCase(),
  capitalize: (text) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase(),
  title: (text) =>
    text.replaceAll(/\p{L}+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()),
  swapcase: (text) =>
    [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join(''),
  strip: (text, [set]) => strip(text, set, true, true),
  lstrip: (text, [set]) => strip(text, set, true, false),
  rstrip: (text, [set]) => strip(text, set, false, true),
  startswith: (text, [prefix, start]) =>
    affix(text.slice(Number(start ?? 0)), prefix, (part, whole) => whole.startsWith(part)),
  endswith: (text, [suffix]) => affix(text, suffix, (part, whole) => whole.endsWith(part)),
  removeprefix: (text, [prefix]) => (text.startsWith(word(prefix)) ? text.slice(word(prefix).length) : text),
  removesuffix: (text, [suffix]) =>
    word(suffix) !== '' && text.endsWith(word(suffix)) ? text.slice(0, -word(suffix).length) : text,
  replace: replaceAll,
  find: (text, [part, start]) => BigInt(text.indexOf(word(part), Number(start ?? 0))),
  rfind: (text, [part]) => BigInt(text.lastIndexOf(word(part))),
  index: (text, [part]) => position(text.indexOf(word(part))),
  rindex: (text, [part]) => position(text.lastIndexOf(word(part))),
  count: (text, [part], machine) => {
    machine.budget.text(text.length);
    return BigInt(text.split(word(part)).length - 1);
  },
  split: (text, args, machine, keywords) => split(text, args, machine, keywords),
  rsplit: (text, args, machine, keywords) => rsplit(text, args, machine, keywords),
  splitlines: (text, _, machine) => list(machine, text.replace(/\r?\n$/, '').split(/\r?\n/)),
  partition: (text, [separator]) => partition(text, text.indexOf(word(separator)), word(separator), false),
  rpartition: (text, [separator]) =>
    partition(text, text.lastIndexOf(word(separator)), word(separator), true),
  isdigit: (text) => /^\p{Nd}+$/u.test(text),
  isdecimal: (text) => /^\p{Nd}+$/u.test(text),
  isnumeric: (text) => /^\p{N}+$/u.test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isalnum: (text) => /^[\p{L}\p{N}]+$/u.test(text),
  isspace: (text) => /^\s+$/.test(text),
  isupper: (text) => text === text.toUpperCase() && text !== text.toLowerCase(),
  islower: (text) => text === text.toLowerCase() && text !== text.toUpperCase(),
  isidentifier: (text) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text),
  istitle: (text) => /^\p{Lu}/u.test(text),
  zfill: (text, [width], machine) =>
    padded(machine, text, width, (size) =>
      /^[-+]/.test(text) ? text.charAt(0) + text.slice(1).padStart(size - 1, '0') : text.padStart(size, '0'),
    ),
  ljust: (text, [width, fill], machine) =>
    padded(machine, text, width, (size) => text.padEnd(size, asText(fill) ?? ' ')),
  rjust: (text, [width, fill], machine) =>
    padded(machine, text, width, (size) => text.padStart(size, asText(fill) ?? ' ')),
  center: (text, [width, fill], machine) =>
    padded(machine, text, width, (size) =>
      text
        .padStart(text.length + ((size - text.length) >> 1), asText(fill) ?? ' ')
        .padEnd(size, asText(fill) ?? ' '),
    ),
  expandtabs: (text) => text.replaceAll('\t', '        '),
  encode: (text) => new Bytes(String.fromCharCode(...new TextEncoder().encode(text.slice(0, 10_000)))),
  translate: (text, [table], machine) => translate(machine, text, table),
  __len__: (text) => BigInt(text.length),
  __hash__: () => new Unknown('a hash'),
};

/** The methods of `str`, which a class derived from it has too. */
export const textMethods: Methods = {
  join: (machine, [self, parts]) => joinTexts(machine, asText(self) ?? '', parts ?? null),
  format: (machine, [self, ...args], keywords) => formatBraces(machine, asText(self) ?? '', args, keywords),
  format_map: (machine, [self, map]) => {
    const names = new Map<string, Value>();
    if (!(map instanceof Dict)) return new Unknown('a text with an unknown part');
    for (const { key, value } of map.entries.values()) if (typeof key === 'string') names.set(key, value);
    return formatBraces(machine, asText(self) ?? '', [], names);
  },
};

for (const [name, method] of Object.entries(plainMethods)) {
  textMethods[name] = (machine, [self, ...args], keywords) => {
    const text = asText(self);
    if (text === undefined) return new Unknown('a method of an unknown text');
    const unknown = args.map(plain).find((arg) => arg instanceof Unknown);
    if (unknown !== undefined) return unknown;
    machine.budget.text(text.length);
    return method(text, args.map(plain), machine, keywords);
  };
}

export const bytesMethods: Methods = {
  decode: (_, [self]) =>
    self instanceof Bytes
      ? new TextDecoder().decode(Uint8Array.from(self.text, (character) => character.charCodeAt(0)))
      : null,
  hex: () => new Unknown('bytes'),
};

/** A method's argument, which must be a text. */
function word(value: Value | undefined): string {
  return asText(value) ?? raise('TypeError', 'expected str');
}

function list(machine: Machine, parts: string[]): List {
  machine.budget.spend(parts.length);
  return new List(parts);
}

function strip(text: string, set: Value | undefined, left: boolean, right: boolean): string {
  const removed = set === undefined || set === null ? undefined : new Set(word(set));
  const isRemoved = (character: string) => (removed ? removed.has(character) : blanks.test(character));
  let [start, end] = [0, text.length];
  while (left && start < end && isRemoved(text.charAt(start))) start += 1;
  while (right && end > start && isRemoved(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function affix(text: string, part: Value | undefined, fits: (part: string, text: string) => boolean): Value {
  if (part instanceof Tuple) return part.items.some((item) => fits(word(item), text));
  return fits(word(part), text);
}

function replaceAll(text: string, [from, to, count]: Value[], machine: Machine): Value {
  const [old, fresh] = [word(from), word(to)];
  const times = count === undefined || count === null ? -1 : Number(count);
  const pieces = old === '' ? undefined : text.split(old);
  if (!pieces) return new Unknown('a replacement of nothing');
  const replaced = times < 0 ? pieces.length - 1 : Math.min(times, pieces.length - 1);
  machine.budget.text(text.length + replaced * Math.max(0, fresh.length - old.length));
  return (
    pieces.slice(0, replaced + 1).join(fresh) +
    pieces
      .slice(replaced + 1)
      .map((piece) => old + piece)
      .join('')
  );
}

function position(index: number): bigint {
  return index < 0 ? raise('ValueError', 'substring not found') : BigInt(index);
}

function split(text: string, args: Value[], machine: Machine, keywords: Keywords): Value {
  const separator = args[0] ?? keywords.get('sep') ?? null;
  const most = Number(args[1] ?? keywords.get('maxsplit') ?? -1);
  if (separator === null) {
    const trimmed = text.trim();
    return list(machine, trimmed === '' ? [] : limited(trimmed.split(blanks), most, ' '));
  }
  if (separator === '') return raise('ValueError', 'empty separator');
  return list(machine, limited(text.split(word(separator)), most, word(separator)));
}

function limited(parts: string[], most: number, separator: string): string[] {
  if (most < 0 || parts.length <= most + 1) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(separator)];
}

function rsplit(text: string, args: Value[], machine: Machine, keywords: Keywords): Value {
  const separator = args[0] ?? keywords.get('sep') ?? null;
  const most = Number(args[1] ?? keywords.get('maxsplit') ?? -1);
  const between = separator === null ? ' ' : word(separator);
  if (between === '') return raise('ValueError', 'empty separator');
  const parts = separator === null ? text.trim().split(blanks) : text.split(between);
  if (most < 0 || parts.length <= most + 1) return list(machine, parts);
  const cut = parts.length - most;
  return list(machine, [parts.slice(0, cut).join(between), ...parts.slice(cut)]);
}

function partition(text: string, index: number, separator: string, fromEnd: boolean): Tuple {
  if (separator === '') return raise('ValueError', 'empty separator');
  if (index < 0) return new Tuple(fromEnd ? ['', '', text] : [text, '', '']);
  return new Tuple([text.slice(0, index), separator, text.slice(index + separator.length)]);
}

function padded(
  machine: Machine,
  text: string,
  width: Value | undefined,
  pad: (size: number) => string,
): Value {
  if (!isNumber(width ?? null)) return raise('TypeError', 'an integer is required');
  const size = Number(width);
  machine.budget.text(Math.max(text.length, size));
  return size > text.length ? pad(size) : text;
}

function translate(machine: Machine, text: string, table: Value | undefined): Value {
  if (!(table instanceof Dict)) return new Unknown('a translation');
  const result: string[] = [];
  let length = 0;
  for (const character of text) {
    const entry = table.entries.get(`\0n${character.codePointAt(0)}`);
    const fresh = entry === undefined ? character : (asText(entry.value) ?? '');
    length += fresh.length;
    machine.budget.text(length);
    result.push(fresh);
  }
  return result.join('');
}
