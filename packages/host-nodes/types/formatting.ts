import { asText, plain } from '../values/access.ts';
import { isNumber } from '../values/equality.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { each, floatText, joinParts, reprOf, sizeOf, textOf } from '../values/text.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';

const why = 'a text with an unknown part';

/** `format(value, spec)`; undefined where the text is unknown. */
export function formatValue(machine: Machine, value: Value, spec: string): string | undefined {
  if (spec === '') return textOf(machine, value);
  const parts = /^(?:(.)?([<>=^]))?([-+ ]?)#?(0?)(\d{0,4})(?:\.(\d{1,3}))?([a-zA-Z%]?)$/.exec(spec);
  if (!parts) return undefined;
  const [, fill, align, sign, zero, width, precision, kind] = parts;
  const known = plain(value);
  const isNumeric = isNumber(known) && typeof known !== 'boolean';
  let text = isNumeric ? formatNumber(known, kind ?? '', precision) : textOf(machine, value);
  if (text === undefined) return undefined;
  machine.budget.text(text.length);
  if (!isNumeric && precision !== undefined) text = [...text].slice(0, Number(precision)).join('');
  if (isNumeric && sign === '+' && !text.startsWith('-')) text = `+${text}`;
  const usual = isNumeric ? (zero ? '=' : '>') : '<';
  return pad(machine, text, Number(width), align ?? usual, fill ?? (zero ? '0' : ' '));
}

function formatNumber(value: number | bigint, kind: string, precision?: string): string | undefined {
  if (kind === 'd' || (kind === '' && typeof value === 'bigint'))
    return typeof value === 'bigint' ? value.toString() : undefined;
  const float = Number(value);
  if (!Number.isFinite(float) || (kind === '' && precision === undefined)) return floatText(float);
  const digits = precision === undefined ? 6 : Math.min(100, Number(precision));
  if (kind === '%') return `${fixed(float * 100, digits)}%`;
  return kind === 'f' || kind === 'F' ? fixed(float, digits) : undefined;
}

/** Halves go to the even neighbor. */
function fixed(value: number, digits: number): string {
  const [rounded, exact] = [value.toFixed(digits), value.toFixed(Math.min(100, digits + 30))];
  const cut = exact.slice(0, digits === 0 ? exact.indexOf('.') : exact.indexOf('.') + 1 + digits);
  return /^\.?50*$/.test(exact.slice(cut.length)) && /[02468]$/.test(cut) ? cut : rounded;
}

/** Fills a text up to a width: `=` after its sign. */
function pad(machine: Machine, text: string, width: number, align: string, fill: string): string {
  const missing = width - sizeOf(text);
  if (!(missing > 0)) return text;
  machine.budget.text(width);
  const sign = align === '=' ? (/^[-+]/.exec(text)?.[0] ?? '') : '';
  const left = align === '<' ? 0 : align === '^' ? missing >> 1 : missing;
  return sign + fill.repeat(left) + text.slice(sign.length) + fill.repeat(missing - left);
}

/** `template % values`, as far as it is of plain `%s` and `%d`. */
export function formatPercent(machine: Machine, template: string, values: Value): Value {
  const given = values instanceof Tuple ? values.items : [values];
  const [first = '', ...parts] = template.split(/%(?=[sd])/);
  machine.budget.text(template.length);
  if ([first, ...parts].join('').includes('%') || parts.length !== given.length) return new Unknown(why);
  const texts = each(parts.entries(), ([at, part]) => {
    const value = plain(given[at] ?? null);
    const text =
      part.startsWith('s') || typeof value === 'bigint' ? textOf(machine, given[at] ?? null) : undefined;
    return text === undefined ? undefined : text + part.slice(1);
  });
  const rest = joinParts(machine, texts, '');
  return rest === undefined ? new Unknown(why) : first + rest;
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
