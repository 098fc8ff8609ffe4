import { describe, expect, test } from '@jest/globals';
import { condition, update } from '../../../lib/store/expressions.ts';

describe('a condition', () => {
  test('names its attributes by placeholder, and the steps of a path each', () => {
    expect(condition([['members', 'a.b', 'role'], '=', 'owner'], ['status', '<>', 'gone'])).toEqual({
      ConditionExpression: '#c0_0.#c0_1.#c0_2 = :c0 AND #c1_0 <> :c1',
      ExpressionAttributeNames: { '#c0_0': 'members', '#c0_1': 'a.b', '#c0_2': 'role', '#c1_0': 'status' },
      ExpressionAttributeValues: { ':c0': { S: 'owner' }, ':c1': { S: 'gone' } },
    });
  });

  test('that compares with nothing has no values, for DynamoDB takes no empty ones', () => {
    expect(condition([['members', 'olga'], 'exists'], [['members', 'mats'], 'absent'])).toStrictEqual({
      ConditionExpression: 'attribute_exists(#c0_0.#c0_1) AND attribute_not_exists(#c1_0.#c1_1)',
      ExpressionAttributeNames: { '#c0_0': 'members', '#c0_1': 'olga', '#c1_0': 'members', '#c1_1': 'mats' },
    });
  });
});

describe('an update', () => {
  test('keeps what is undefined, clears what is null, and replaces the rest', () => {
    expect(update({ a: 1, b: null, c: undefined, d: 'x', e: null }, ['pk', 'exists'])).toEqual({
      UpdateExpression: 'ADD #revision :one SET #f0 = :f0, #f3 = :f3 REMOVE #f1, #f4',
      ConditionExpression: 'attribute_exists(#c0_0)',
      ExpressionAttributeNames: {
        ...{ '#revision': 'revision', '#f0': 'a', '#f1': 'b', '#f3': 'd', '#f4': 'e' },
        '#c0_0': 'pk',
      },
      ExpressionAttributeValues: { ':one': { N: '1' }, ':f0': { N: '1' }, ':f3': { S: 'x' } },
    });
  });

  test('of nothing only counts the revision', () => {
    expect(update({}, ['pk', 'exists']).UpdateExpression).toBe('ADD #revision :one');
  });
});
