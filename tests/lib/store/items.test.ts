import { expect, test } from '@jest/globals';
import { fromAttributes, toAttributes } from '../../../lib/store/items.ts';

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

test('reads an item as it was stored, without values that were undefined', () => {
  expect(fromAttributes(toAttributes({ ...item, absent: undefined }))).toStrictEqual(item);
});

test('reads the bytes of a reply that the SDK did not decode', () => {
  expect(fromAttributes(JSON.parse('{ "bytes": { "B": "AP8=" } }'))).toEqual({
    bytes: Buffer.from([0, 255]),
  });
});

test.each([
  ['null', null, 'A value of type object cannot be stored.'],
  ['a function', () => 1, 'A value of type function cannot be stored.'],
  ['a bigint', 1n, 'A value of type bigint cannot be stored.'],
])('rejects storing %s', (_, value, message) => {
  expect(() => toAttributes({ value })).toThrow(message);
});

test('fails to read an attribute of a type that we never write', () => {
  expect(() => fromAttributes({ names: { SS: ['a'] } })).toThrow('has an unknown type');
});
