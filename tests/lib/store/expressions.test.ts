import { describe, expect, test } from '@jest/globals';
import { conditionExpression, Plus, updateExpression, withChanges } from '../../../lib/store/expressions.ts';

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

  test('lets a counter that is not there yet be at most anything', () => {
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
