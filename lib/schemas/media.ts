import * as z from 'zod/mini';
import { isWebAddress } from '../web-address.ts';

/** An optional text. Clients send "" for one they do not have, which is the same as not sending it. */
export function optionalText<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.optional(
    z.pipe(
      z.transform((value) => (value === '' ? undefined : value)),
      z.optional(schema),
    ),
  );
}

/** At most so many characters, counted as a person counts them: an emoji is one, not two. */
export function text(maxCharacters: number) {
  return z
    .string()
    .check(
      z.refine(
        (value) => value.length <= maxCharacters || hasAtMost(value, maxCharacters),
        `must have at most ${maxCharacters} characters`,
      ),
    )
    .with(z.meta({ maxLength: maxCharacters }));
}

export const webAddress = z
  .string()
  .check(z.refine(isWebAddress, 'must be an absolute http or https URL'))
  .with(z.meta({ format: 'uri' }));

const dataUriPrefix = /^data:image\/[\w.+-]+;base64,/;
const notBase64 = /[^\w+/=\s-]/;

/** An image by URL, as data URI or as bare base64. It is never fetched or decoded here. */
export const imageSource = z
  .string()
  .check(
    z.refine(
      (value) => (/^https?:/i.test(value) ? isWebAddress(value) : isBase64(value)),
      'must be an http or https URL, a data URI or base64 data of an image',
    ),
  )
  .with(z.meta({ minLength: 1 }));

/** Rules between fields run even where a field has a fault of its own, so that all faults are told at once. */
export const whateverElseIsWrong = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

/**
 * Looks for what must not be there: matching megabytes of what may be would take the matcher's whole stack. It
 * begins behind the pieces that decode to their full length, which Node finds out ten times faster.
 */
function isBase64(value: string): boolean {
  const data = value.slice(dataUriPrefix.exec(value)?.[0].length ?? 0);
  let start = 0;
  while (data.length - start >= pieceLength && decodesWhole(data.slice(start, start + pieceLength))) {
    start += pieceLength;
  }
  return data !== '' && !notBase64.test(data.slice(start));
}

const pieceLength = 16 * 1024;
const scratch = Buffer.allocUnsafe(2 * pieceLength);

/** Node's decoder leaves out what is not base64, but sees only the low byte of what is not ASCII. */
function decodesWhole(piece: string): boolean {
  return scratch.write(piece) === pieceLength && scratch.write(piece, 'base64') === (pieceLength / 4) * 3;
}

function hasAtMost(value: string, maxCharacters: number): boolean {
  let count = 0;
  for (const _ of value) {
    count += 1;
    if (count > maxCharacters) return false;
  }
  return true;
}
