import { describe, expect, test } from '@jest/globals';
import { RelightRequest } from '../../../lib/contracts/relight-image.ts';
import { fc } from '@node-registry/testing/properties';

/** Only the alphabet of base64, and at least the two digits of one byte. */
const plain = /^(?=[\s=]*[\w+/-][\s=]*[\w+/-])[\w+/=\s-]+$/;
const isTaken = (image: string) => RelightRequest.safeParse({ image }).success;

/** Longer than the chunks of the check, and of a valid base64 length. */
const long = 'iVBORw0KGgo+/9aZ'.repeat(1500);

describe('base64 data of an image', () => {
  test('accepts exactly what matches a plain pattern, at any length', () => {
    const run = fc.nat({ max: 40_000 }).map((length) => long.repeat(2).slice(0, length));
    const other = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('=', '==', '-_', '\r\n', '\u2028', '\u{feff}', ' ', '\0', 'Ł', 'ı', '\ud83d', '.'),
    );
    const image = fc
      .array(fc.tuple(run, other), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.flat().join(''))
      .filter((text) => !text.includes(':'));

    fc.assert(fc.property(image, (text) => isTaken(text) === plain.test(text)));
  });

  test.each([
    ['  AA', true],
    ['==AA', true],
    ['A = A', true],
    ['A A', true],
    ['A\n=\nA', true],
    ['A', false],
    ['=A=', false],
    ['A ==', false],
    [' = ', false],
  ])('holds at least the two digits of one byte: %j is %s', (image, isImage) => {
    expect([isTaken(image), plain.test(image)]).toEqual([isImage, isImage]);
  });
});
