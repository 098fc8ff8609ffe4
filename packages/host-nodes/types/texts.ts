import { asText, plain } from '../values/access.ts';
import { sizeOf } from '../values/text.ts';
import { type Methods, raise } from '../values/builtin-types.ts';
import { encoded, Tuple, Unknown } from '../values/plain.ts';
import { type Keywords, List, type Machine, type Value } from '../values/values.ts';
import { formatBraces, formatValue, joinTexts } from './formatting.ts';

type TextMethod = (text: string, args: Value[], machine: Machine, keywords: Keywords) => Value;

const blanks = /\s+/;

const lineEnd = /\r\n|[\n\r\v\f\x85\u2028\u2029]/;
const lastEnd = new RegExp(`(?:${lineEnd.source})$`);

const plainMethods: Record<string, TextMethod> = {
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  capitalize: (text) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase(),
  title: (text) =>
    text.replaceAll(/\p{L}+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()),
  strip: (text, [set]) => strip(text, set, true, true),
  lstrip: (text, [set]) => strip(text, set, true, false),
  rstrip: (text, [set]) => strip(text, set, false, true),
  startswith: (text, [prefix, ...span]) => affix(prefix, span, (part) => text.startsWith(part)),
  endswith: (text, [suffix, ...span]) => affix(suffix, span, (part) => text.endsWith(part)),
  removeprefix: (text, [prefix]) => (text.startsWith(word(prefix)) ? text.slice(word(prefix).length) : text),
  removesuffix: (text, [suffix]) =>
    word(suffix) !== '' && text.endsWith(word(suffix)) ? text.slice(0, -word(suffix).length) : text,
  replace: replaceAll,
  split: (text, args, machine, keywords) => split(text, args, machine, keywords, false),
  rsplit: (text, args, machine, keywords) => split(text, args, machine, keywords, true),
  encode: (text, [encoding = 'utf-8'], machine, keywords) => {
    machine.budget.text(2 * text.length);
    const isKnown = isUtf8(keywords.get('encoding') ?? encoding, text);
    return (isKnown ? encoded(text) : undefined) ?? new Unknown('bytes');
  },
  splitlines: (text, _, machine) => list(machine, text.replace(lastEnd, '').split(lineEnd)),
  find: (text, [part, ...span]) => position(text, text.indexOf(word(part)), span),
  rfind: (text, [part, ...span]) => position(text, text.lastIndexOf(word(part)), span),
  partition: (text, [part]) => partition(text, text.indexOf(word(part)), word(part), false),
  rpartition: (text, [part]) => partition(text, text.lastIndexOf(word(part)), word(part), true),
  zfill: (text, [width = 0n], machine) => padded(machine, text, `0=${width}`),
  ljust: (text, [width = 0n, by = ' '], machine) => padded(machine, text, `${by}<${width}`),
  rjust: (text, [width = 0n, by = ' '], machine) => padded(machine, text, `${by}>${width}`),
  isupper: (text) => text === text.toUpperCase() && text !== text.toLowerCase(),
  islower: (text) => text === text.toLowerCase() && text !== text.toUpperCase(),
};

/** Whether a text's bytes are those of UTF-8 in this encoding. */
export function isUtf8(encoding: Value | undefined, text: string): boolean {
  const name = asText(encoding) ?? '';
  return /^utf[-_]?8$/i.test(name) || (/^(?:us-)?ascii$/i.test(name) && !/[^\0-\x7f]/.test(text));
}

const kinds: Record<string, RegExp> = {
  digit: /^\p{Nd}+$/u,
  decimal: /^\p{Nd}+$/u,
  numeric: /^\p{N}+$/u,
  alpha: /^\p{L}+$/u,
  alnum: /^[\p{L}\p{N}]+$/u,
  space: /^\s+$/,
  identifier: /^[\p{L}_][\p{L}\p{N}_]*$/u,
  title: /^\p{Lu}/u,
};
for (const [kind, pattern] of Object.entries(kinds)) plainMethods[`is${kind}`] = (text) => pattern.test(text);

/** The methods of `str`, which derived classes also have. */
export const textMethods: Methods = {
  join: (machine, [self, parts]) => joinTexts(machine, asText(self) ?? '', parts ?? null),
  format: (machine, [self, ...args], keywords) => formatBraces(machine, asText(self) ?? '', args, keywords),
};

for (const [name, method] of Object.entries(plainMethods)) {
  textMethods[name] = (machine, [self, ...args], keywords) => {
    const text = asText(self);
    if (text === undefined) return new Unknown('a text with an unknown part');
    const unknown = args.map(plain).find((arg) => arg instanceof Unknown);
    if (unknown !== undefined) return unknown;
    for (const part of [text, ...args.map(plain)])
      machine.budget.read(
        typeof part === 'string' ? part.length : part instanceof Tuple ? part.items.length : 0,
      );
    return method(text, args.map(plain), machine, keywords);
  };
}

function padded(machine: Machine, text: string, spec: string): Value {
  return formatValue(machine, text, spec) ?? new Unknown('a text with an unknown part');
}

/** A search in a span of the text isn't supported. */
function position(text: string, index: number, span: Value[]): Value {
  if (span.length > 0) return new Unknown('a text with an unknown part');
  return index < 0 ? -1n : BigInt(sizeOf(text.slice(0, index)));
}

function partition(text: string, index: number, separator: string, fromEnd: boolean): Tuple {
  if (separator === '') return raise('ValueError', 'empty separator');
  if (index < 0) return new Tuple(fromEnd ? ['', '', text] : [text, '', '']);
  return new Tuple([text.slice(0, index), separator, text.slice(index + separator.length)]);
}

/** A method's argument, which must be a string. */
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

/** Whether one of the parts fits; a search in a span of the text isn't supported. */
function affix(part: Value | undefined, span: Value[], fits: (part: string) => boolean): Value {
  if (span.length > 0) return new Unknown('a text with an unknown part');
  return part instanceof Tuple ? part.items.some((item) => fits(word(item))) : fits(word(part));
}

function replaceAll(text: string, [from, to, count]: Value[], machine: Machine): Value {
  const [old, fresh] = [word(from), word(to)];
  const times = count === undefined || count === null ? -1 : Number(count);
  const pieces = old === '' ? undefined : text.split(old);
  if (!pieces) return new Unknown('a text with an unknown part');
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

/** With a limit, the rest stays whole: the end of the text, or its beginning. */
function split(text: string, args: Value[], machine: Machine, keywords: Keywords, isFromEnd: boolean): Value {
  const separator = args[0] ?? keywords.get('sep') ?? null;
  const most = Number(args[1] ?? keywords.get('maxsplit') ?? -1);
  const between = separator === null ? ' ' : word(separator);
  if (between === '') return raise('ValueError', 'empty separator');
  const words = text.trim().split(blanks).filter(Boolean);
  const parts = separator === null ? words : text.split(between);
  if (most < 0 || parts.length <= most + 1) return list(machine, parts);
  const cut = isFromEnd ? parts.length - most : most;
  const [before, after] = [parts.slice(0, cut), parts.slice(cut)];
  return list(machine, isFromEnd ? [before.join(between), ...after] : [...before, after.join(between)]);
}
