import { expect, test } from '@jest/globals';
import { fromAttributes, toAttributes } from '../../../lib/store/attribute-values.ts';

const item = {
  text: 'a',
  none: '',
  number: 1.5,
  zero: 0,
  yes: true,
  no: false,
  bytes: new Uint8Array([1, 2]),
  list: ['a', 1, [], {}],
  map: { list: [false], deep: { bytes: new Uint8Array() } },
};

test('stores an item by the types of its values', () => {
  expect(toAttributes(item)).toEqual({
    text: { S: 'a' },
    none: { S: '' },
    number: { N: '1.5' },
    zero: { N: '0' },
    yes: { BOOL: true },
    no: { BOOL: false },
    bytes: { B: new Uint8Array([1, 2]) },
    list: { L: [{ S: 'a' }, { N: '1' }, { L: [] }, { M: {} }] },
    map: { M: { list: { L: [{ BOOL: false }] }, deep: { M: { bytes: { B: new Uint8Array() } } } } },
  });
});

test('reads an item as it was stored', () => {
  expect(fromAttributes(toAttributes(item))).toEqual(item);
});

test('does not store an undefined value', () => {
  expect(toAttributes({ a: undefined, b: { c: undefined } })).toStrictEqual({ b: { M: {} } });
});

test.each([
  ['null', null, 'A value of type object cannot be stored.'],
  ['a function', () => 1, 'A value of type function cannot be stored.'],
  ['a bigint', 1n, 'A value of type bigint cannot be stored.'],
])('rejects storing %s', (_, value, message) => {
  expect(() => toAttributes({ value })).toThrow(message);
});

test('fails to read an attribute of a type that we never write', () => {
  expect(() => fromAttributes({ names: { SS: ['a'] } })).toThrow('of a type that nothing here writes');
});
