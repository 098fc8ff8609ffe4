import { isUnset, sentBackFields } from '@node-registry/registry-rules/schemas/fields';
import type * as z from 'zod/mini';
import { isObject } from '../json.ts';
import { innermost } from '../schemas/innermost.ts';

const maxNamed = 20;
const maxHeaderLength = 1000;
const maxPathLength = 100;

/**
 * Names the fields of a valid body that its schema doesn't know, as a list of strings (RFC 9651), such as
 * `"image_settings[1].durations"`. Undefined if all are known. `more` counts the ones that are left out.
 */
export function ignoredFields(schema: z.core.$ZodType, body: unknown): string | undefined {
  const unknown: string[] = [];
  addUnknown(schema, body, '', unknown);
  return unknown.length > 0 ? listOf(unknown) : undefined;
}

function listOf(paths: readonly string[]): string {
  const named: string[] = [];
  let [length, left] = [0, 0];
  for (const path of paths) {
    const item = asString(path);
    const isRoom = left === 0 && named.length < maxNamed && length + item.length < maxHeaderLength;
    if (isRoom) named.push(item);
    else left += 1;
    length += item.length + ', '.length;
  }
  return `${named.join(', ')}${left > 0 ? `;more=${left}` : ''}`;
}

/** Runs for every request: as a generator, it made a whole endpoint take half as long again. */
function addUnknown(schema: z.core.$ZodType, value: unknown, path: string, found: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const { schema: inner, shape, element } = innermost(schema);
  if (element && Array.isArray(value)) {
    for (const [index, item] of value.entries()) addUnknown(element, item, `${path}[${index}]`, found);
  } else if (shape && isObject(value)) {
    for (const name in value) {
      const field = value[name];
      const isKnown = Object.hasOwn(shape, name);
      if (isUnset(field) || (isKnown && typeof field !== 'object')) continue;
      const fieldPath = path === '' ? name : `${path}.${name}`;
      if (isKnown) addUnknown(shape[name] as z.core.$ZodType, field, fieldPath, found);
      else if (!sentBackFields.get(inner)?.names.includes(name)) found.push(fieldPath);
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
