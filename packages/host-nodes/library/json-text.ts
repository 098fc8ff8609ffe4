import { asText, plain, plainTruth } from '../values/access.ts';
import type { Machine } from '../values/machine.ts';
import { each, floatText, joinParts } from '../values/text.ts';
import { Dict, List } from '../values/collections.ts';
import { condition, Tuple, Unknown } from '../values/plain.ts';
import { limits } from '../limits.ts';
import type { Keywords, Value } from '../values/values.ts';

/**
 * A value as JSON, with floats as Python writes them; undefined where a part is unknown, or is nothing JSON has.
 * `missing` hears which part that was.
 */
export function writeJson(
  machine: Machine,
  value: Value,
  missing: (path: string, why: string) => void = () => {},
  path = '',
): string | undefined {
  machine.budget.spend();
  const known = plain(value);
  if (known instanceof Unknown)
    return fail(missing, path, known.why + (known.path ? ` (${known.path})` : ''));
  if (known === null || typeof known === 'boolean') return String(known);
  if (typeof known === 'bigint') return known.toString();
  if (typeof known === 'number') {
    return Number.isFinite(known)
      ? floatText(known)
      : fail(missing, path, 'a number that JSON does not have');
  }
  if (typeof known === 'string') {
    if (known.length > limits.jsonCharacters) return fail(missing, path, 'it is too long to be stored');
    machine.budget.text(known.length);
    return JSON.stringify(known);
  }
  if (known instanceof List || known instanceof Tuple) return writeItems(machine, known.items, missing, path);
  if (known instanceof Dict) return writeEntries(machine, known, missing, path);
  return fail(missing, path, 'a value that JSON does not have');
}

function fail(missing: (path: string, why: string) => void, path: string, why: string): undefined {
  missing(path, why);
  return undefined;
}

function writeItems(
  machine: Machine,
  items: readonly Value[],
  missing: (path: string, why: string) => void,
  path: string,
): string | undefined {
  const parts = each(items.entries(), ([index, item]) =>
    writeJson(machine, item, missing, `${path}[${index}]`),
  );
  const inside = joinParts(machine, parts, ',');
  return inside === undefined ? undefined : `[${inside}]`;
}

function writeEntries(
  machine: Machine,
  dict: Dict,
  missing: (path: string, why: string) => void,
  path: string,
): string | undefined {
  if (dict.open !== undefined) return fail(missing, path, dict.open);
  const parts = each(dict.entries.values(), ({ key, value, conditional }) => {
    const name = jsonKey(key);
    const place = `${path}.${name ?? '?'}`.slice(0, 200);
    if (name === undefined || conditional) return fail(missing, place, condition);
    const part = writeJson(machine, value, missing, place);
    return part === undefined ? undefined : `${JSON.stringify(name)}:${part}`;
  });
  const inside = joinParts(machine, parts, ',');
  return inside === undefined ? undefined : `{${inside}}`;
}

const maxIndent = 8n;

/** What `json.dumps` gives; unknown if it is given more than an indent. */
export function dumpJson(machine: Machine, value: Value, keywords: Keywords): Value {
  const { indent = null, ensure_ascii: ascii = true, ...others } = Object.fromEntries(keywords);
  const text = writeJson(machine, value);
  const depth = plain(indent);
  const isFollowed = depth === null || (typeof depth === 'bigint' && depth >= 0n && depth <= maxIndent);
  const isAscii = plainTruth(machine, ascii);
  if (text === undefined || !isFollowed || isAscii === undefined || Object.keys(others).length > 0)
    return new Unknown('a text with an unknown part');
  const known = spread(machine, text, depth === null ? undefined : Number(depth));
  if (!isAscii) return known;
  machine.budget.text(6 * known.length);
  return known.replaceAll(
    /[^\n -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function spread(machine: Machine, text: string, indent: number | undefined): string {
  let depth = 0;
  let length = text.length;
  const line = () => {
    length += 1 + depth * (indent ?? 0);
    machine.budget.text(1 + depth * (indent ?? 0), length);
    return `\n${' '.repeat(depth * (indent ?? 0))}`;
  };
  machine.budget.text(2 * text.length);
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\[\]|\{\}|[{}[\],:]/g, (part) => {
    if (part === ':') return ': ';
    if (part === ',') return indent === undefined ? ', ' : `,${line()}`;
    if (part.length > 1 || indent === undefined) return part;
    if (part === '[' || part === '{') depth += 1;
    else depth -= 1;
    return part === '[' || part === '{' ? `${part}${line()}` : `${line()}${part}`;
  });
}

/** Python's JSON makes texts of keys that are numbers, booleans or None. */
function jsonKey(key: Value): string | undefined {
  const known = plain(key);
  if (known === null || typeof known === 'boolean' || typeof known === 'bigint') return String(known);
  return typeof known === 'number' ? floatText(known) : asText(known);
}
