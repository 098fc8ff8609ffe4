import { describe, expect, test } from '@jest/globals';
import { boundedObject } from '../../lib/providers/video-provider.ts';
import { boundedList } from '../../lib/registry/look-up.ts';

/** Lambda's bound on an answer, which counts the body as a JSON string. */
const lambdaBytes = 6 * 1024 * 1024;
const million = (character: string, times = 1) => character.repeat(times * 1_000_000);
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text));

interface Entry {
  id: number;
  text?: string;
}

/** Each name, a character and the millions of it of which two don't fit. */
const characters: [name: string, character: string, times: number][] = [
  ['of one byte', 'x', 4],
  ['of three bytes', '字', 1.05],
  ['that are escaped, and so take four', '"', 1],
];

const withoutText = ({ id }: Entry): Entry => ({ id });

describe('a bounded list', () => {
  test.each(characters)(
    'keeps the first entries whole and shortens the ones that do not fit, in characters %s',
    (_, character, times) => {
      const text = million(character, times);
      const entries = [
        { id: 1, text },
        { id: 2, text },
        { id: 3, text: 'a' },
      ];
      const list = boundedList('nodes', entries, withoutText);

      const expected = { nodes: [{ id: 1, text }, { id: 2 }, { id: 3, text: 'a' }] };
      expect(list.text === JSON.stringify(expected)).toBe(true);
      expect(bytesOf(list.text)).toBeLessThan(lambdaBytes);
    },
  );

  test('keeps room for the short forms of later entries before it writes a long one', () => {
    const short = million('x', 2);
    const entries = [
      { id: 1, text: million('x', 5) },
      { id: 2, text: million('x', 3) },
    ];
    const list = boundedList('nodes', entries, ({ id }) => (id === 1 ? { id } : { id, short }));

    expect(JSON.parse(list.text).nodes.map(({ id, text }: Entry) => [id, text?.length])).toEqual([
      [1, undefined],
      [2, 3_000_000],
    ]);
    expect(bytesOf(list.text)).toBeLessThan(lambdaBytes);
  });
});

describe('a bounded object', () => {
  test('leaves 32 kB of the bound for the headers of the answer', () => {
    const isKept = (bytes: number) => boundedObject({}, { echo: 'x'.repeat(bytes) }).text !== '{}';

    expect(isKept(lambdaBytes - 33 * 1024)).toBe(true);
    expect(isKept(lambdaBytes - 31 * 1024)).toBe(false);
  });
});
