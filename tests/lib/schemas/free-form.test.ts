import { expect, test } from '@jest/globals';
import { freeFormIssue } from '../../../lib/schemas/free-form.ts';

const values = 'must hold at most 100000 values';
const depth = 'must be nested at most 500 deep';
const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);
const lists = (sizes: readonly number[]) => sizes.map((size) => Array(size).fill(1));

test.each<[string, unknown]>([
  ['nothing', null],
  ['a text', 'x'],
  ['values of every kind', { a: [true, null, 'x', 1], b: {} }],
  ['500 levels', nested(500)],
  // The list itself, four lists and what is in them.
  ['100,000 values', lists([99_995 - 6, 2, 2, 2])],
])('accepts free-form JSON: %s', (_, value) => {
  expect(freeFormIssue(value)).toBeUndefined();
});

test.each<[string, unknown, string]>([
  ['501 levels', nested(501), depth],
  ['100,001 values', lists([99_996 - 6, 2, 2, 2]), values],
  ['a list of 100,001 values', Array(100_001).fill(1), values],
  ['a list of so many inside of another', [Array(100_001).fill('x')], values],
])('rejects free-form JSON: %s', (_, value, issue) => {
  expect(freeFormIssue(value)).toBe(issue);
});
