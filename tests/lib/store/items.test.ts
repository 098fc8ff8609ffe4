import { describe, expect, test } from '@jest/globals';
import {
  conditionExpression,
  fromAttributes,
  IfAbsent,
  Plus,
  present,
  toAttributes,
  updateExpression,
  withChanges,
} from '../../../lib/store/items.ts';

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

test('reads the bytes of a reply that the SDK did not decode', () => {
  expect(fromAttributes(JSON.parse('{ "bytes": { "B": "AP8=" } }'))).toEqual({
    bytes: Buffer.from([0, 255]),
  });
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
  expect(() => fromAttributes({ names: { SS: ['a'] } })).toThrow('has an unknown type');
});

describe('conditionExpression', () => {
  test('names attributes and each step of a path by placeholder', () => {
    expect(
      conditionExpression([
        [['members', 'a.b', 'role'], '=', 'owner'],
        ['status', '<>', 'gone'],
      ]),
    ).toEqual({
      ConditionExpression: '#c0_0.#c0_1.#c0_2 = :c0 AND #c1_0 <> :c1',
      ExpressionAttributeNames: { '#c0_0': 'members', '#c0_1': 'a.b', '#c0_2': 'role', '#c1_0': 'status' },
      ExpressionAttributeValues: { ':c0': { S: 'owner' }, ':c1': { S: 'gone' } },
    });
  });

  test('contains no values when nothing is compared, because DynamoDB rejects an empty object', () => {
    expect(
      conditionExpression([
        [['members', 'olga'], 'exists'],
        [['members', 'mats'], 'absent'],
      ]),
    ).toStrictEqual({
      ConditionExpression: 'attribute_exists(#c0_0.#c0_1) AND attribute_not_exists(#c1_0.#c1_1)',
      ExpressionAttributeNames: { '#c0_0': 'members', '#c0_1': 'olga', '#c1_0': 'members', '#c1_1': 'mats' },
    });
  });

  test('joins alternatives with OR', () => {
    expect(
      conditionExpression({
        anyOf: [
          [['a', 'absent']],
          [
            ['b', '=', 1],
            ['c', '<=', 2],
          ],
        ],
      }),
    ).toEqual({
      ConditionExpression: '(attribute_not_exists(#c0_0)) OR (#c1_0 = :c1 AND #c2_0 <= :c2)',
      ExpressionAttributeNames: { '#c0_0': 'a', '#c1_0': 'b', '#c2_0': 'c' },
      ExpressionAttributeValues: { ':c1': { N: '1' }, ':c2': { N: '2' } },
    });
  });

  test('accepts a missing counter under any maximum', () => {
    expect(conditionExpression([['tasks', 'at most', 4]])).toMatchObject({
      ConditionExpression: '(attribute_not_exists(#c0_0) OR #c0_0 <= :c0)',
      ExpressionAttributeValues: { ':c0': { N: '4' } },
    });
  });
});

describe('updateExpression', () => {
  test('keeps undefined fields, clears null fields and replaces the others', () => {
    expect(updateExpression({ a: 1, b: null, c: undefined, d: 'x', e: null }, [['pk', 'exists']])).toEqual({
      UpdateExpression: 'ADD #revision :one SET #f0 = :f0, #f3 = :f3 REMOVE #f1, #f4',
      ConditionExpression: 'attribute_exists(#c0_0)',
      ExpressionAttributeNames: {
        ...{ '#revision': 'revision', '#f0': 'a', '#f1': 'b', '#f3': 'd', '#f4': 'e' },
        '#c0_0': 'pk',
      },
      ExpressionAttributeValues: { ':one': { N: '1' }, ':f0': { N: '1' }, ':f3': { S: 'x' } },
    });
  });

  test('adds to counters', () => {
    expect(updateExpression({ a: new Plus(-2), b: 1 }, [['pk', 'exists']])).toMatchObject({
      UpdateExpression: 'ADD #revision :one, #f0 :f0 SET #f1 = :f1',
      ExpressionAttributeValues: { ':one': { N: '1' }, ':f0': { N: '-2' }, ':f1': { N: '1' } },
    });
  });

  test('sets what an attribute has only while it has no value', () => {
    expect(updateExpression({ a: new IfAbsent('x') }, present)).toEqual({
      UpdateExpression: 'ADD #revision :one SET #f0 = if_not_exists(#f0, :f0)',
      ConditionExpression: 'attribute_exists(#c0_0)',
      ExpressionAttributeNames: { '#revision': 'revision', '#f0': 'a', '#c0_0': 'pk' },
      ExpressionAttributeValues: { ':one': { N: '1' }, ':f0': { S: 'x' } },
    });
  });

  test('counts only the revision when nothing changes', () => {
    expect(updateExpression({}, [['pk', 'exists']]).UpdateExpression).toBe('ADD #revision :one');
  });
});

test('withChanges keeps undefined fields, clears null fields and replaces the others', () => {
  expect(withChanges({ a: 1, b: 2, c: 3 }, { a: undefined, b: null, c: 4, d: 5 })).toStrictEqual({
    a: 1,
    c: 4,
    d: 5,
  });
});
