import { describe, expect, test } from '@jest/globals';
import { decodeText, textFilesIn } from '../text-files.ts';

/** Bytes as text, one character for each. */
const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the encoding of a text file', () => {
  test.each([
    ['UTF-8 without a declaration', 'a.py', 'x = "\xc3\xa9"', 'x = "é"'],
    [
      'Latin-1 by its first line',
      'a.py',
      '# -*- coding: latin-1 -*-\nx = "L\xe9"',
      '# -*- coding: latin-1 -*-\nx = "Lé"',
    ],
    [
      'Latin-1 by its second line',
      'a.py',
      '#!/usr/bin/python\n# coding=iso_8859_1\n"\xe9"',
      '#!/usr/bin/python\n# coding=iso_8859_1\n"é"',
    ],
    [
      'Windows-1252',
      'a.py',
      '# vim: set fileencoding=cp1252 :\n"\x80"',
      '# vim: set fileencoding=cp1252 :\n"€"',
    ],
    [
      'a declaration after code is none',
      'a.py',
      'x = 1\n# coding: latin-1\n"\xc3\xa9"',
      'x = 1\n# coding: latin-1\n"é"',
    ],
    ["a declaration is Python's only", 'a.txt', '# coding: latin-1\n\xc3\xa9', '# coding: latin-1\né'],
    ['bytes that are not UTF-8', 'a.py', 'x = "\xe9"', undefined],
    ['an encoding that does not exist', 'a.py', '# coding: none-such\n', undefined],
  ])('equals the one that Python reads: %s', (_title, path, content, text) => {
    expect(decodeText(path, bytes(content))).toBe(text);
  });
});

describe('the text files of a pack', () => {
  const chosen = (...files: [path: string, bytes: number][]) => [
    ...textFilesIn(files.map(([path, bytes]) => ({ path, bytes }))),
  ];

  test('reads files up to a size, and what still fits into a sum of exactly 20 MB', () => {
    const million = Array.from({ length: 20 }, (_, index): [string, number] => [`${index}.json`, 1_000_000]);

    expect(chosen(['a.py', 1_000_000], ['b.py', 1_000_001], ['c.png', 1])).toEqual(['a.py']);
    expect(chosen(...million, ['one more.json', 1])).toHaveLength(20);
    const rest = chosen(
      ...million.slice(1),
      ['a.json', 1],
      ['too much.json', 1_000_000],
      ['fits.json', 999_999],
    );
    expect(rest.slice(19)).toEqual(['a.json', 'fits.json']);
  });

  test('puts the Python files first, wherever they lie in the archive', () => {
    const json = Array.from({ length: 38 }, (_, index): [string, number] => [
      `data/${index}.json`,
      1_000_000,
    ]);

    expect(chosen(...json, ['nodes.py', 432])[0]).toBe('nodes.py');
    expect(chosen(...json, ['nodes.py', 432])).toHaveLength(20);
  });
});
