import { asText, digitsOf, plain } from '../values/access.ts';
import { raise } from '../values/exceptions.ts';
import type { Machine } from '../values/machine.ts';
import { each, joinParts, reprOf, textOf } from '../values/text.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';

const why = 'a text with an unknown part';

/** `format(value, spec)`; undefined where the text is unknown. Only whole numbers of a width are followed. */
export function formatValue(machine: Machine, value: Value, spec: string): string | undefined {
  if (spec === '') return textOf(machine, value);
  const known = plain(value);
  const [, zero, width] = /^(0?)(\d{0,2})d$/.exec(spec) ?? [];
  if (width === undefined || typeof known !== 'bigint') return undefined;
  const sign = known < 0n ? '-' : '';
  const digits = digitsOf(machine, known).slice(sign.length);
  const size = Number(width) - sign.length;
  return zero ? sign + digits.padStart(size, '0') : (sign + digits).padStart(Number(width));
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
      const value = fieldOf(field, args, keywords);
      const text = conversion === 'r' ? reprOf(machine, value) : formatValue(machine, value, spec);
      if (text === undefined) isKnown = false;
      machine.budget.text(text?.length ?? 0);
      return text ?? '';
    },
  );
  machine.budget.text(result.length);
  return isKnown ? result : new Unknown(why);
}

function fieldOf(field: string, args: Value[], keywords: Keywords): Value {
  const [first = '', ...rest] = field.split(/(?=[.[])/);
  const value = /^\d+$/.test(first) ? args[Number(first)] : keywords.get(first);
  if (value === undefined) {
    return /^\d+$/.test(first) ? raise('IndexError', 'index out of range') : raise('KeyError', first);
  }
  return rest.length === 0 ? value : new Unknown(why);
}

/** `separator.join(parts)`. */
export function joinTexts(machine: Machine, separator: string, parts: Value): Value {
  const texts = each(machine.iterate(parts), (part) => {
    if (plain(part) instanceof Unknown) return undefined;
    return asText(part) ?? raise('TypeError', 'expected str');
  });
  return joinParts(machine, texts, separator) ?? new Unknown(why);
}
