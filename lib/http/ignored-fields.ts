import { isUnset, sentBackFields } from '@node-registry/registry-rules/schemas/fields';
import type * as z from 'zod/mini';
import { isObject } from '../json.ts';

const maxNamed = 20;
const maxHeaderLength = 1000;
const maxPathLength = 100;

/**
 * Names the fields of a valid body that its schema doesn't know, as a list of strings (RFC 9651), such as
 * `"image_settings[1].durations"`. Undefined if all are known. `more` counts the ones that are left out.
 */
export function ignoredFields(schema: z.core.$ZodType, body: unknown): string | undefined {
  const named: string[] = [];
  let [length, left] = [0, 0];
  for (const path of unknownFields(schema, body, '')) {
    const item = asString(path);
    const isRoom = left === 0 && named.length < maxNamed && length + item.length < maxHeaderLength;
    if (isRoom) named.push(item);
    else left += 1;
    length += item.length + ', '.length;
  }
  if (named.length === 0) return undefined;
  return `${named.join(', ')}${left > 0 ? `;more=${left}` : ''}`;
}

/** The parts of a schema's definition that lead to its fields. */
interface Definition {
  shape?: Record<string, z.core.$ZodType>;
  element?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  out?: z.core.$ZodType;
}

function* unknownFields(schema: z.core.$ZodType, value: unknown, path: string): Generator<string> {
  const { shape, element, innerType, ...pipe }: Definition & z.core.$ZodTypeDef = schema._zod.def;
  // One side of a pipe is a function, which has no fields.
  const inner = innerType ?? (pipe.out?._zod.def.type === 'transform' ? pipe.in : pipe.out);
  if (inner) yield* unknownFields(inner, value, path);
  else if (element && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unknownFields(element, item, `${path}[${index}]`);
  } else if (shape && isObject(value)) {
    const sentBack = sentBackFields.get(schema)?.names ?? [];
    for (const [name, field] of Object.entries(value)) {
      if (isUnset(field)) continue;
      const fieldPath = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(shape, name)) yield* unknownFields(shape[name] as z.core.$ZodType, field, fieldPath);
      else if (!sentBack.includes(name)) yield fieldPath;
    }
  }
}

/** A header has printable ASCII only, so other characters are percent-encoded. */
function asString(path: string): string {
  const printable = path
    .slice(0, maxPathLength)
    .toWellFormed()
    .replace(/[^ -~]/gu, encodeURIComponent)
    .replace(/["\\]/g, '\\$&');
  return `"${printable}"`;
}
