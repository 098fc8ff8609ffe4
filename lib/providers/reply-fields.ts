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
