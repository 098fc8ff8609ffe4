import { describe, expect, test } from '@jest/globals';
import { parse } from 'py-ast';
import { countTokens, isWrittenAsFloat, parseSource } from '../source.ts';
import { decodeText, textFilesIn } from '../text-files.ts';

/* The parser is young and has one maintainer: a gap that a new release closes fails a test, too. */

describe('the parser', () => {
  test.each([
    ...['\uFEFFx = 1', 'x = 1\f\ny = 2', 'match a, b:\n    case 1, 2:\n        pass', 'del a.b, c[0],'],
    ...['if a:\n    del b, # c,', 'for x, y in a, b,:\n    pass'],
  ])('rejects %j, which our reading of a file takes', (code) => {
    expect(() => parse(code)).toThrow();
    expect(parseSource(code).body).not.toHaveLength(0);
  });

  test('rejects nesting by the hundred with an error that can be caught', () => {
    const code = `x = ${'('.repeat(5_000)}${')'.repeat(5_000)}`;

    expect(() => parse(code)).toThrow(RangeError);
    expect(() => parseSource(code)).toThrow('its code nests too deeply');
  });
});

test.each([
  ['1.0', true],
  ['1', false],
  ['1e3', true],
  ['2.', true],
  ['1_000', false],
  ['0x1e3', false],
  ['"漢字" + 1.0', true],
])('tells whether the number %s was written as a float: %s', (code, isFloat) => {
  const { body, lines } = parseSource(code);
  const [statement] = body;
  const value = statement?.nodeType === 'Expr' ? statement.value : undefined;
  const number = value?.nodeType === 'BinOp' ? value.right : value;

  expect(number?.nodeType === 'Constant' && isWrittenAsFloat(number, lines)).toBe(isFloat);
});

test('counts about as many steps as a file has tokens', () => {
  expect(countTokens('x = [1, 2.5, "a b"]  # end')).toBe(14);
});

/** Bytes as text, one character for each. */
const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['UTF-8 without a declaration', 'a.py', '"\xc3\xa9"', 'é'],
  ['Latin-1 by its first line', 'a.py', '# -*- coding: latin-1 -*-\n"\xe9"', 'é'],
  ['Latin-1 by its second line', 'a.py', '#!/usr/bin/python\n# coding=iso_8859_1\n"\xe9"', 'é'],
  ['Windows-1252', 'a.py', '# vim: set fileencoding=cp1252 :\n"\x80"', '€'],
  ['a declaration after code does not count', 'a.py', 'x = 1\n# coding: latin-1\n"\xc3\xa9"', 'é'],
  ["a declaration is Python's only", 'a.txt', '# coding: latin-1\n\xc3\xa9', 'é'],
  ['bytes that are not UTF-8', 'a.py', 'x = "\xe9"', undefined],
  ['an encoding that does not exist', 'a.py', '# coding: none-such\n', undefined],
])('the encoding of a text file equals the one that Python reads: %s', (_title, path, content, letter) => {
  const text = letter && content.replace(/[\x80-\xff]+/, letter);

  expect(decodeText(path, bytes(content))).toBe(text);
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
