import { asText, lookUp, plain } from '../values/access.ts';
import { isNumber, numeric } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { each, floatText, joinParts, reprOf, sizeOf, textOf } from '../values/text.ts';
import { Dict } from '../values/collections.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';

const why = 'a text with an unknown part';

/** `text % values`. */
export function formatPercent(machine: Machine, template: string, values: Value): Value {
  const positional = values instanceof Tuple ? values.items : [values];
  let next = 0;
  let isKnown = true;
  machine.budget.text(template.length);
  const result = template.replaceAll(
    /%(?:\((\w{1,100})\))?([-+ #0]{0,5})(\d{1,4}|\*)?(?:\.(\d{1,3}))?([a-zA-Z%])/g,
    (_, name, flags, width, precision, kind) => {
      if (kind === '%') return '%';
      const value =
        name !== undefined && values instanceof Dict ? lookUp(machine, values, name) : positional[next++];
      const text = value === undefined ? undefined : percentPart(machine, value, kind, precision);
      if (text === undefined) isKnown = false;
      const isZeros = flags.includes('0') && !/[sr]/.test(kind);
      return pad(
        machine,
        text ?? '',
        Number(width ?? 0),
        flags.includes('-') ? '<' : isZeros ? '=' : '>',
        isZeros ? '0' : ' ',
      );
    },
  );
  machine.budget.text(result.length);
  return isKnown ? result : new Unknown(why);
}

function percentPart(machine: Machine, value: Value, kind: string, precision?: string): string | undefined {
  if (kind === 's') return textOf(machine, value);
  if (kind === 'r') return reprOf(machine, value);
  return formatNumber(plain(value), kind === 'i' ? 'd' : kind, precision);
}

/** `format(value, spec)`; undefined where the text is unknown. */
export function formatValue(machine: Machine, value: Value, spec: string): string | undefined {
  if (spec === '') return textOf(machine, value);
  const parts = /^(?:(.)?([<>=^]))?([-+ ]?)#?(0?)(\d{0,4})([,_]?)(?:\.(\d{1,3}))?([a-zA-Z%]?)$/.exec(spec);
  if (!parts) return undefined;
  const [, fill, align, sign, zero, width, group, precision, kind] = parts;
  const known = plain(value);
  const isNumeric = isNumber(known) && typeof known !== 'boolean';
  let text = isNumeric ? formatNumber(known, kind ?? '', precision, group) : textOf(machine, value);
  if (text === undefined) return undefined;
  machine.budget.text(text.length);
  if (!isNumeric && precision !== undefined) text = [...text].slice(0, Number(precision)).join('');
  if (isNumeric && sign === '+' && !text.startsWith('-')) text = `+${text}`;
  const usual = isNumeric ? (zero ? '=' : '>') : '<';
  return pad(machine, text, Number(width), align ?? usual, fill ?? (zero ? '0' : ' '));
}

function formatNumber(value: Value, kind: string, precision?: string, group = ''): string | undefined {
  if (!isNumber(value)) return undefined;
  const number = numeric(value);
  const digits = precision === undefined ? 6 : Math.min(100, Number(precision));
  if (kind === 'd' || (kind === '' && typeof number === 'bigint')) {
    const whole = typeof number === 'bigint' ? number : BigInt(Math.trunc(number) || 0);
    return grouped(whole.toString(), group);
  }
  if (kind === 'x' || kind === 'o' || kind === 'b' || kind === 'X') {
    if (typeof number !== 'bigint') return undefined;
    const text = number.toString(kind === 'b' ? 2 : kind === 'o' ? 8 : 16);
    return kind === 'X' ? text.toUpperCase() : text;
  }
  const float = Number(number);
  if (!Number.isFinite(float)) return floatText(float);
  if (kind === 'f' || kind === 'F') return grouped(fixed(float, digits), group);
  if (kind === '%') return `${fixed(float * 100, digits)}%`;
  if (kind === 'e') return exponential(float.toExponential(digits));
  if (kind === '' && precision === undefined) return floatText(float);
  return kind === 'g' || kind === '' ? general(float, Math.max(1, digits), kind === '') : undefined;
}

/** Halves go to the even neighbor. */
export function fixed(value: number, digits: number): string {
  const [rounded, exact] = [value.toFixed(digits), value.toFixed(Math.min(100, digits + 30))];
  const cut = exact.slice(0, digits === 0 ? exact.indexOf('.') : exact.indexOf('.') + 1 + digits);
  return /^\.?50*$/.test(exact.slice(cut.length)) && /[02468]$/.test(cut) ? cut : rounded;
}

function exponential(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** At least one digit after the point is a float's. */
function general(value: number, digits: number, isFloat: boolean): string {
  const size = Math.abs(value);
  const isLong = (size !== 0 && size < 1e-4) || (isFloat && size >= 10 ** (digits - 1));
  const text = isLong ? value.toExponential(digits - 1) : value.toPrecision(digits);
  const [number = '', exponent] = text.split('e');
  const short = number.includes('.') ? number.replace(/\.?0*$/, '') : number;
  if (exponent !== undefined) return exponential(`${short}e${exponent}`);
  return isFloat && !short.includes('.') ? `${short}.0` : short;
}

function grouped(text: string, group: string): string {
  if (group === '') return text;
  const [whole = '', ...rest] = text.split('.');
  const isThird = (at: number) => at < whole.length && (whole.length - at) % 3 === 0;
  const digits = [...whole].map((digit, at) => (/\d/.test(digit) && isThird(at + 1) ? digit + group : digit));
  return [digits.join(''), ...rest].join('.');
}

/** Fills a text up to a width: `=` after its sign, `c` as `str.center` does. */
export function pad(machine: Machine, text: string, width: number, align: string, fill: string): string {
  const missing = width - sizeOf(text);
  if (!(missing > 0)) return text;
  machine.budget.text(width);
  const sign = align === '=' ? (/^[-+]/.exec(text)?.[0] ?? '') : '';
  const half = (missing >> 1) + (align === 'c' ? missing & width & 1 : 0);
  const left = align === '<' ? 0 : align === '^' || align === 'c' ? half : missing;
  return sign + fill.repeat(left) + text.slice(sign.length) + fill.repeat(missing - left);
}

/** `template.format(...)`. */
export function formatBraces(machine: Machine, template: string, args: Value[], keywords: Keywords): Value {
  let next = 0;
  let isKnown = true;
  machine.budget.text(template.length);
  const result = template.replaceAll(
    /\{\{|\}\}|\{([^{}!:]{0,200})(?:!([rsa]))?(?::([^{}]{0,100}))?\}/g,
    (whole, name: string | undefined, conversion: string | undefined, spec = '') => {
      if (whole === '{{' || whole === '}}') return whole.charAt(0);
      const field = name === '' || name === undefined ? String(next++) : name;
      const value = fieldOf(machine, field, args, keywords);
      const text = conversion === 'r' ? reprOf(machine, value) : formatValue(machine, value, spec);
      if (text === undefined) isKnown = false;
      machine.budget.text(text?.length ?? 0);
      return text ?? '';
    },
  );
  machine.budget.text(result.length);
  return isKnown ? result : new Unknown(why);
}

function fieldOf(machine: Machine, field: string, args: Value[], keywords: Keywords): Value {
  const [first = '', ...rest] = field.split(/(?=[.[])/);
  let value = /^\d+$/.test(first) ? args[Number(first)] : keywords.get(first);
  if (value === undefined) {
    return /^\d+$/.test(first) ? raise('IndexError', 'index out of range') : raise('KeyError', first);
  }
  for (const part of rest) {
    if (part.startsWith('.')) value = machine.attribute(value, part.slice(1));
    else {
      const key = part.slice(1).replace(/\]$/, '');
      const item = /^\d+$/.test(key) ? BigInt(key) : key;
      value = machine.call(machine.attribute(value, '__getitem__'), [item]);
    }
  }
  return value;
}

/** `separator.join(parts)`. */
export function joinTexts(machine: Machine, separator: string, parts: Value): Value {
  const texts = each(machine.iterate(parts), (part) => {
    if (plain(part) instanceof Unknown) return undefined;
    return asText(part) ?? raise('TypeError', 'expected str');
  });
  return joinParts(machine, texts, separator) ?? new Unknown(why);
}
