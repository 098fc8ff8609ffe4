import { asText, orderOf, plain, plainTruth } from '../values/access.ts';
import { Dict, type Keywords, List, type Machine, type Value } from '../values/values.ts';
import { each, floatText, joinParts } from '../values/text.ts';
import { condition, Tuple, Unknown } from '../values/plain.ts';
import { limits } from '../limits.ts';

/** Gets an unknown part's path and reason; returns a replacement, an empty text to drop it, or undefined. */
type Missing = (path: string, why: string) => string | undefined;

/**
 * A value as JSON, with floats as Python writes them. Undefined if a part is unknown, or doesn't exist in
 * JSON, and has no replacement. A string that contains `foreign` exists only on this machine, so it is
 * unknown.
 */
export function writeJson(
  machine: Machine,
  value: Value,
  missing: Missing = () => undefined,
  foreign?: string,
): string | undefined {
  const write = (part: Value, path: string): string | undefined => {
    machine.budget.spend();
    const known = plain(part);
    if (known instanceof Unknown) return missing(path, known.why + (known.path ? ` (${known.path})` : ''));
    if (known === null || typeof known === 'boolean') return String(known);
    if (typeof known === 'bigint') return known.toString();
    if (typeof known === 'number')
      return Number.isFinite(known) ? floatText(known) : missing(path, 'a number that JSON does not have');
    if (typeof known === 'string') return writeText(known, path);
    const order = orderOf(known);
    if (order !== undefined && missing(`${path}[]`, order) === undefined) return undefined;
    if (known instanceof Dict) return writeEntries(known, path);
    if (!(known instanceof List || known instanceof Tuple))
      return missing(path, 'a value that JSON does not have');
    const parts = each(known.items.entries(), ([index, item]) => write(item, `${path}[${index}]`));
    return bracketed('[', parts, ']');
  };
  const writeText = (text: string, path: string): string | undefined => {
    if (text.length > limits.jsonCharacters) return missing(path, 'it is too long to be stored');
    machine.budget.text(text.length);
    const isForeign = foreign !== undefined && text.includes(foreign);
    return isForeign ? missing(path, 'it has a path of the host') : JSON.stringify(text);
  };
  const writeEntries = (dict: Dict, path: string): string | undefined => {
    if (dict.open !== undefined && missing(path, dict.open) === undefined) return undefined;
    const parts = each(dict.entries.values(), ({ key, value: held, conditional }) => {
      const name = jsonKey(key);
      const place = `${path}.${name ?? '?'}`.slice(0, 200);
      if (name === undefined || conditional) return missing(place, condition) === undefined ? undefined : '';
      const part = write(held, place);
      return part ? `${JSON.stringify(name)}:${part}` : part;
    });
    return bracketed('{', parts, '}');
  };
  const bracketed = (open: string, parts: Iterable<string | undefined>, close: string) => {
    const inside = joinParts(machine, present(parts), ',');
    return inside === undefined ? undefined : open + inside + close;
  };
  return write(value, '');
}

function* present(parts: Iterable<string | undefined>): Generator<string | undefined> {
  for (const part of parts) if (part !== '') yield part;
}

const maxIndent = 8n;

/** The result of `json.dumps`; unknown with options other than an indent. */
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

/** Python's JSON turns keys that are numbers, booleans or None into strings. */
function jsonKey(key: Value): string | undefined {
  const known = plain(key);
  if (known === null || typeof known === 'boolean' || typeof known === 'bigint') return String(known);
  return typeof known === 'number' ? floatText(known) : asText(known);
}
