import { asText, digitsOf, orderOf, plain } from '../values/access.ts';
import { raise } from '../values/builtin-types.ts';
import type { Keywords, Machine, Value } from '../values/values.ts';
import { each, joinParts, reprOf, sizeOf, textOf } from '../values/text.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { item } from '../language/subscripts.ts';

const why = 'a text with an unknown part';

const specs = /^(?:(.)?([<>=^]))?([-+ ]?)(0?)(\d{0,3})(,?)(?:\.(\d{1,2}))?([sdfxX]?)$/u;

/** `format(value, spec)`; undefined if the text is unknown, or the spec isn't supported. */
export function formatValue(machine: Machine, value: Value, spec: string): string | undefined {
  if (spec === '') return textOf(machine, value);
  const known = plain(value);
  const [found, fill, align, sign = '', zero, width = '', comma, places, kind = ''] = specs.exec(spec) ?? [];
  if (found === undefined) return undefined;
  machine.budget.text(Number(width));
  const pad = (text: string, how: string, by: string) => {
    const missing = Math.max(0, Number(width) - sizeOf(text));
    const before = how === '<' ? 0 : how === '^' ? missing >> 1 : missing;
    const start = how === '=' && /^[-+ ]/.test(text) ? 1 : 0;
    return text.slice(0, start) + by.repeat(before) + text.slice(start) + by.repeat(missing - before);
  };
  if (typeof known === 'string') {
    if (kind !== '' && kind !== 's') return undefined;
    return pad(
      places === undefined ? known : [...known].slice(0, Number(places)).join(''),
      align ?? '<',
      fill ?? (zero || ' '),
    );
  }
  const digits = digitsIn(machine, known, kind, places);
  if (digits === undefined) return undefined;
  // Each digit looks at all that follow.
  if (comma) machine.budget.spend((digits.length ** 2) >> 6);
  const grouped = comma ? digits.replace(/\d(?=(?:\d{3})+(?!\d))(?<!\..*)/g, '$&,') : digits;
  const signed = grouped.startsWith('-') || sign === '-' ? grouped : sign + grouped;
  return pad(signed, align ?? (zero ? '=' : '>'), fill ?? (zero || ' '));
}

/** A number's digits in the format `kind`. */
function digitsIn(machine: Machine, value: Value, kind: string, places?: string): string | undefined {
  if (kind === 'f' && (typeof value === 'number' || typeof value === 'bigint'))
    return fixed(Number(value), Number(places ?? 6));
  if (places !== undefined || (typeof value === 'number' && kind !== '')) return undefined;
  if (typeof value === 'number') return textOf(machine, value);
  if (typeof value !== 'bigint' || kind === 's') return undefined;
  const digits = kind.toLowerCase() === 'x' ? value.toString(16) : digitsOf(machine, value);
  return kind === 'X' ? digits.toUpperCase() : digits;
}

/** Rounds a tie to the even neighbor, as Python does. */
function fixed(value: number, places: number): string | undefined {
  if (!(Math.abs(value) < 1e15)) return undefined;
  const rest = value.toFixed(100).split('.')[1]?.slice(places) ?? '';
  const near = value.toFixed(places);
  const isOdd = /[13579]$/.test(near);
  return isOdd && /^50*$/.test(rest) ? value.toFixed(places + 1).slice(0, places === 0 ? -2 : -1) : near;
}

/** A template with its fields filled in; unknown if one of them is. */
function fill(
  machine: Machine,
  template: string,
  fields: RegExp,
  write: (...groups: (string | undefined)[]) => string | undefined,
): Value {
  let isKnown = true;
  machine.budget.text(template.length);
  const result = template.replaceAll(fields, (...groups) => {
    const text = write(...groups);
    machine.budget.text(text?.length ?? 0);
    isKnown &&= text !== undefined;
    return text ?? '';
  });
  machine.budget.text(result.length);
  return isKnown ? result : new Unknown(why);
}

export function formatPercent(machine: Machine, template: string, values: Value): Value {
  const given = values instanceof Tuple ? values.items : [values];
  let next = 0;
  const fields = /%(?:\((\w{1,100})\))?([-+ 0]*)(\d{0,3}(?:\.\d{1,2})?)([sdifrxX%]?)/g;
  const result = fill(machine, template, fields, (_, key, flags = '', size = '', kind = '') => {
    if (kind === '%') return '%';
    if (key !== undefined) next = given.length;
    const value = key === undefined ? given[next++] : item(machine, values, key);
    if (value === undefined) return raise('TypeError', 'not enough arguments for format string');
    const shown = converted(machine, value, kind);
    if (shown === undefined || kind === '') return undefined;
    const align = flags.includes('-') ? '<' : flags.includes('0') ? '' : '>';
    const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
    const zero = flags.includes('0') && align === '' ? '0' : '';
    return formatValue(
      machine,
      shown,
      align + sign + zero + size + kind.replace(/[sr]/, '').replace('i', 'd'),
    );
  });
  return next === given.length ? result : new Unknown(why);
}

/** The value to format: the value itself, or its text for a conversion. */
function converted(machine: Machine, value: Value, kind: string | undefined): Value | undefined {
  if (value instanceof Unknown) return undefined;
  if (kind === 'r' || kind === 'a') return reprOf(machine, value);
  return kind === 's' ? textOf(machine, value) : value;
}

export function formatBraces(machine: Machine, template: string, args: Value[], keywords: Keywords): Value {
  let next = 0;
  const fields = /\{\{|\}\}|\{([^{}!:]{0,200})(?:!([rsa]))?(?::([^{}]{0,100}))?\}/g;
  return fill(machine, template, fields, (whole = '', name, conversion, spec = '') => {
    if (whole === '{{' || whole === '}}') return whole.charAt(0);
    const [first = '', ...rest] = (name ?? '').split(/(?=[.[])/);
    const index = first === '' ? next++ : Number(first);
    const given = Number.isNaN(index) ? keywords.get(first) : args[index];
    if (given === undefined) return raise(Number.isNaN(index) ? 'KeyError' : 'IndexError', first);
    const value = rest.reduce<Value>((holder, part) => partOf(machine, holder, part), given);
    const shown = converted(machine, value, conversion);
    return shown === undefined ? undefined : formatValue(machine, shown, spec);
  });
}

/** `.name` or `[key]` of a field. */
function partOf(machine: Machine, holder: Value, part: string): Value {
  if (part.startsWith('.')) return machine.attribute(holder, part.slice(1));
  const key = part.slice(1, -1);
  return item(machine, holder, /^\d+$/.test(key) ? BigInt(key) : key);
}

export function joinTexts(machine: Machine, separator: string, parts: Value): Value {
  const order = orderOf(parts);
  const texts = each(machine.iterate(parts), (part) => {
    if (order !== undefined || plain(part) instanceof Unknown) return undefined;
    return asText(part) ?? raise('TypeError', 'expected str');
  });
  return joinParts(machine, texts, separator) ?? new Unknown(why);
}
