import * as z from 'zod/mini';
import { isWebAddress } from '@node-registry/registry-rules/web-address';
import { isUnset } from '@node-registry/registry-rules/schemas/fields';

export function optional<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.optional(z.pipe(unsetAsAbsent, z.optional(schema)));
}

export function withDefault<Schema extends z.ZodMiniType>(
  schema: Schema,
  standard: z.core.util.NoUndefined<z.output<Schema>>,
) {
  return z.pipe(unsetAsAbsent, z._default(schema, standard));
}

/** The document marks the preceding schema as nullable. */
export const unsetAsAbsent = z.transform((value) => (isUnset(value) ? undefined : value));

/** Limits the characters, which zod counts as a person does: an emoji is one, not two. */
export function text(maxCharacters: number) {
  return z.string().check(z.maxLength(maxCharacters));
}

export const webAddress = z
  .string()
  .check(z.trim(), z.refine(isWebAddress, 'must be an absolute https URL'))
  .with(z.meta({ format: 'uri' }));

/** The fields with an image, which a caller may have uploaded (lib/attempts/caller-images.ts). */
export const imageFields = z.registry<{ isImage: true }>();

/** An image whose format the provider defines; it may be a handle such as `asset:42`. */
export const reference = z.string().check(z.minLength(1)).register(imageFields, { isImage: true });

/** An absolute URL of any scheme. */
export const absoluteUrl = z.string().check(z.trim(), z.refine(isAbsoluteUrl, 'must be an absolute URL'));

const scheme = /^[a-z][a-z0-9+.-]{0,63}:/i;

/** The parser alone also accepts `https:/host` and `https:host`. */
function isAbsoluteUrl(value: string): boolean {
  const isComplete = /^https?:/i.test(value) ? /^https?:\/\/[^/?#\\]/i.test(value) : scheme.test(value);
  return isComplete && URL.canParse(value);
}

const notBase64 = /[^\w+/=\s-]/;
/** A data URI may escape digits that have a meaning of their own in a URL. */
const notEscapedBase64 = /[^\w+/=\s%-]/;
/** One digit is six bits, less than a byte. */
const twoDigits = /^[\s=]*[\w+/-][\s=]*[\w+/-]/;

/** "Base64 data or URL" of an image. It is never fetched or decoded here. */
export const imageSource = z
  .string()
  .check(z.trim(), z.refine(isImageSource, 'must be base64 data, an absolute URL or a data URI'))
  .register(imageFields, { isImage: true })
  .with(z.meta({ minLength: 1 }));

const maxMarkLength = 20;

function isImageSource(value: string): boolean {
  if (!scheme.test(value.slice(0, 65))) return isBase64(value, notBase64);
  if (!/^data:/i.test(value)) return isAbsoluteUrl(value);
  // The media type and its parameters may be absent, or of any kind and case.
  const comma = value.indexOf(',');
  const isEncoded = /;\s*base64$/i.test(value.slice(Math.max(0, comma - maxMarkLength), comma));
  return comma > 0 && (!isEncoded || isBase64(value.slice(comma + 1), notEscapedBase64));
}

/** Rules between fields run even if single fields fail, so that all issues are listed at once. */
export const evenIfFieldsFail = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/**
 * Searches for forbidden characters, because a pattern that matches megabytes would exhaust the stack. Pieces that
 * decode to their full length have none: of 5 MB this takes 1 % of JSON.parse, and the search alone 70 %.
 */
function isBase64(data: string, otherCharacters: RegExp): boolean {
  let start = 0;
  while (data.length - start >= pieceLength && decodesWhole(data.slice(start, start + pieceLength))) {
    start += pieceLength;
  }
  return twoDigits.test(data) && !otherCharacters.test(data.slice(start));
}

const pieceLength = 16 * 1024;
const scratch = Buffer.allocUnsafe(2 * pieceLength);

/** Node's decoder skips characters outside base64, but sees only the low byte of characters outside ASCII. */
function decodesWhole(piece: string): boolean {
  return scratch.write(piece) === pieceLength && scratch.write(piece, 'base64') === (pieceLength / 4) * 3;
}

/**
 * An object of a paid request. Drops unknown fields, but rejects one that looks like a misspelling of an
 * absent field: the task would cost the same, and not be the intended one.
 */
export function paidObject<Shape extends Record<string, z.ZodMiniType>>(shape: Shape) {
  const known = Object.keys(shape);
  const checkNames = z.transform((input, { issues }) => {
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      issues.push(...nearMisses(known, input as Record<string, unknown>));
    }
    return input;
  });
  return z.pipe(checkNames, z.object(shape));
}

/** Fields of other services, so not misspellings. */
const ofOtherServices = new Set(['image', 'mode', 'metadata', 'speed']);

/** No real client sends this many unknown fields, and a request's cost must not depend on their number. */
const maxUnknownFields = 100;

function nearMisses(known: readonly string[], input: Record<string, unknown>) {
  const absent = known.filter((name) => isUnset(input[name]));
  const issues: NearMiss[] = [];
  let unknownFields = 0;
  for (const field in input) {
    if (isUnset(input[field]) || known.includes(field) || ofOtherServices.has(field)) continue;
    unknownFields += 1;
    if (unknownFields > maxUnknownFields) break;
    const meant = absent.find((name) => isNearMiss(field, name));
    if (meant !== undefined) issues.push(nearMiss(field, meant, input));
  }
  return issues;
}

type NearMiss = ReturnType<typeof nearMiss>;

/** zod continues after an issue of this code, so that all issues of a request are listed at once. */
function nearMiss(field: string, meant: string, input: Record<string, unknown>) {
  const message = `is unknown; did you mean \`${meant}\`?`;
  return { code: 'unrecognized_keys' as const, keys: [field], path: [field], message, input };
}

/** Short words are near many others. */
const minEditedLength = 4;

/**
 * Whether a name is the other one with other case or separators, or with one edit: a character that was added, lost,
 * changed, or swapped with its neighbor. Nothing wider, because real clients have fields of their own.
 */
function isNearMiss(name: string, meant: string): boolean {
  if (Math.abs(name.length - meant.length) > maxSeparators) return false;
  return lettersOf(name) === lettersOf(meant) || (meant.length >= minEditedLength && isOneEdit(name, meant));
}

/** More separators than any name has. It bounds the work for a name of megabytes. */
const maxSeparators = 100;

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function isOneEdit(name: string, meant: string): boolean {
  if (Math.abs(name.length - meant.length) > 1) return false;
  let same = 0;
  while (same < name.length && name[same] === meant[same]) same += 1;
  const [a, b] = [name.slice(same), meant.slice(same)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || isSwapped;
}
