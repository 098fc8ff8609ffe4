import type * as z from 'zod/mini';
import { isObject, type JsonObject } from '../json-object.ts';
import { isTaskId } from '../task-id.ts';

/**
 * Reads the fields of a shape from a provider's reply. Providers send "", 0, null or [] for what is not set, add
 * fields of their own, and sometimes change a type: what does not fit is left out.
 */
export function readFields(shape: Record<string, z.ZodMiniType>, reply: JsonObject): JsonObject {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const value = schema.safeParse(withoutUnset(reply[name])).data;
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

function withoutUnset(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => (isObject(item) ? fieldsThatAreSet(item) : item)).filter(isSet);
    return items.length > 0 ? items : undefined;
  }
  return isSet(value) ? value : undefined;
}

function fieldsThatAreSet(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => isSet(value)));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== 0;
}
