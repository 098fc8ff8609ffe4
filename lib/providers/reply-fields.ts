import type * as z from 'zod/mini';
import { isObject, type JsonObject } from '../json.ts';

const taskId = /^[\x21-\x7e]{1,256}$/;

/** An id must be usable in the request that asks for its task. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && taskId.test(value);
}

/**
 * Reads the fields of a shape. Providers send "", 0, null or [] for unset fields, and sometimes change a type: such values
 * are dropped, except a 0 that was in the request.
 */
export function readFields(
  shape: Record<string, z.ZodMiniType>,
  reply: JsonObject,
  sent: JsonObject = {},
): JsonObject {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const value = schema.safeParse(withoutUnset(reply[name], sent[name])).data;
    return [name, value];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Undefined for an invalid id: something must have gone wrong in such a reply. */
export function readTaskId(value: unknown): string | undefined {
  const id = typeof value === 'number' ? String(value) : value;
  return isTaskId(id) ? id : undefined;
}

const timestamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?\d*(Z|[+-]\d\d:\d\d)$/;

/** The provider's creation time, or ours. Clients take at most six fractional digits, providers send nine. */
export function readCreatedAt(value: unknown): string {
  const [, seconds, fraction = '', zone] = timestamp.exec(String(value)) ?? [];
  const time = `${seconds}${fraction}${zone}`;
  return Number.isNaN(Date.parse(time)) ? new Date().toISOString() : time;
}

function withoutUnset(value: unknown, sent: unknown): unknown {
  if (!Array.isArray(value)) return isSet(value, sent) ? value : undefined;
  const others: readonly unknown[] = Array.isArray(sent) ? sent : [];
  const items = value
    .map((item, index) => (isObject(item) ? fieldsThatAreSet(item, others[index]) : item))
    .filter((item, index) => isSet(item, others[index]));
  return items.length > 0 ? items : undefined;
}

function fieldsThatAreSet(item: JsonObject, sent: unknown): JsonObject {
  const others = isObject(sent) ? sent : {};
  return Object.fromEntries(Object.entries(item).filter(([name, value]) => isSet(value, others[name])));
}

function isSet(value: unknown, sent: unknown): boolean {
  if (value === 0) return sent === 0;
  return value !== undefined && value !== null && value !== '';
}

/** A price in whole credits, sent as a number or as text, perhaps with a fraction; undefined if there is no price. */
export function readCredits(value: unknown): number | undefined {
  const isDecimal = typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value);
  const credits = Math.ceil(Number(isDecimal || typeof value === 'number' ? value : Number.NaN));
  return Number.isSafeInteger(credits) && credits >= 0 ? credits : undefined;
}

const maxCandidates = 10;
const maxDepth = 4;

/** No secret of ours matches: tickets are longer. */
const idShape = /^[\w.:-]{1,40}$/;
const idName = /(?:^|[_-])(?:id|uuid)$/i;

/**
 * Possible task IDs in a success without one, by path, so that a paid task can be found. Only short values are taken: the
 * rest of the reply repeats the request.
 */
export function idCandidates(content: unknown, headers: object): Record<string, string> {
  const found: [string, string][] = [];
  const visit = (value: unknown, path: string, depth: number) => {
    if (found.length >= maxCandidates || depth > maxDepth) return;
    const text = typeof value === 'number' ? String(value) : value;
    const name = path.slice(path.lastIndexOf('.') + 1).replace(/([a-z])(Id|ID)$/, '$1_id');
    if (typeof text === 'string' && idName.test(name) && idShape.test(text)) found.push([path, text]);
    else if (Array.isArray(value))
      for (const [index, item] of value.entries()) visit(item, `${path}.${index}`, depth + 1);
    else if (isObject(value))
      for (const [key, field] of Object.entries(value))
        visit(field, `${path}.${key.slice(0, 40)}`, depth + 1);
  };
  visit(headers, 'headers', 0);
  visit(content, 'body', 0);
  return Object.fromEntries(found);
}
