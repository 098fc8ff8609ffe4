import * as z from 'zod/mini';
import { isWebAddress } from '../web-address.ts';

/** Clients send null, "" or [] for a field that they do not set, which is the same as not sending it. */
export function isUnset(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

export function optional<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.optional(z.pipe(unsetAsAbsent, z.optional(schema)));
}

export function withDefault<Schema extends z.ZodMiniType>(
  schema: Schema,
  standard: z.core.util.NoUndefined<z.output<Schema>>,
) {
  return z.pipe(unsetAsAbsent, z._default(schema, standard));
}

const unsetAsAbsent = z.transform((value) => (isUnset(value) ? undefined : value));

/** At most so many characters, which zod counts as a person does: an emoji is one, not two. */
export function text(maxCharacters: number) {
  return z.string().check(z.maxLength(maxCharacters));
}

export const webAddress = z
  .string()
  .check(z.trim(), z.refine(isWebAddress, 'must be an absolute http or https URL'))
  .with(z.meta({ format: 'uri' }));

const dataUriPrefix = /^data:image\/[\w.+-]+;base64,/;
const notBase64 = /[^\w+/=\s-]/;
/** One digit is six bits, which is not a byte yet. */
const twoDigits = /^[\s=]*[\w+/-][\s=]*[\w+/-]/;

/** An image by URL, as data URI or as bare base64. It is never fetched or decoded here. */
export const imageSource = z
  .string()
  .check(
    z.trim(),
    z.refine(
      (value) => (/^https?:/i.test(value) ? isWebAddress(value) : isBase64(value)),
      'must be an http or https URL, a data URI or base64 data of an image',
    ),
  )
  .with(z.meta({ minLength: 1 }));

/** Rules between fields run even if single fields fail, so that all issues are listed at once. */
export const evenIfFieldsFail = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/**
 * Looks for characters that must not be there: a pattern that matches megabytes would exhaust the stack. It starts
 * after the pieces that decode to their full length, which Node checks ten times faster.
 */
function isBase64(value: string): boolean {
  const data = value.slice(dataUriPrefix.exec(value)?.[0].length ?? 0);
  let start = 0;
  while (data.length - start >= pieceLength && decodesWhole(data.slice(start, start + pieceLength))) {
    start += pieceLength;
  }
  return twoDigits.test(data) && !notBase64.test(data.slice(start));
}

const pieceLength = 16 * 1024;
const scratch = Buffer.allocUnsafe(2 * pieceLength);

/** Node's decoder skips what is not base64, but sees only the low byte of what is not ASCII. */
function decodesWhole(piece: string): boolean {
  return scratch.write(piece) === pieceLength && scratch.write(piece, 'base64') === (pieceLength / 4) * 3;
}
