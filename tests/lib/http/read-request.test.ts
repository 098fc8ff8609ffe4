import { describe, expect, test } from '@jest/globals';
import { issueDetails } from '../../../lib/http/read-request.ts';
import * as z from 'zod/mini';

const Anything = z.object({
  text: z.optional(z.string().check(z.minLength(1))),
  code: z.optional(z.string().check(z.minLength(2))),
  map: z.optional(z.record(z.string(), z.string())),
  object: z.optional(z.object({ inner: z.string() })),
  date: z.optional(z.date()),
  ruled: z.optional(z.string().check(z.refine((value) => value === 'yes', 'must be yes'))),
});

function issuesIn(schema: z.ZodMiniType, input: unknown) {
  return issueDetails([{ root: 'body', error: schema.safeParse(input).error, input }]);
}

// The sentences of most rules: tests/contract.
describe('issueDetails', () => {
  test.each([
    [{ text: '' }, 'body.text', 'must have at least 1 character'],
    [{ code: 'x' }, 'body.code', 'must have at least 2 characters'],
    [{ map: [] }, 'body.map', 'must be an object'],
    [{ object: {} }, 'body.object.inner', 'is required'],
    [{ object: { inner: null } }, 'body.object.inner', 'must be text'],
    [{ date: 'today' }, 'body.date', 'must be of type date'],
    [{ ruled: 'no' }, 'body.ruled', 'must be yes'],
    [undefined, 'body', 'is required'],
    [null, 'body', 'must be an object'],
  ])('describes the issue of %j as %s %s', (input, path, message) => {
    expect(issuesIn(Anything, input)).toEqual([{ path, message }]);
  });

  test('reports a field as required if its parents are missing too', () => {
    const Ruled = z.object({}).check(z.refine(() => false, { path: ['a', 'b'], error: 'goes with c' }));
    const error = z.object({ a: z.object({ b: z.string() }) }).safeParse({ a: {} }).error;

    expect(issuesIn(Ruled, {})).toEqual([{ path: 'body.a.b', message: 'goes with c' }]);
    expect(issueDetails([{ root: 'body', error, input: null }])).toEqual([
      { path: 'body.a.b', message: 'is required' },
    ]);
  });

  test('leaves a path of 200 characters whole', () => {
    const [detail] = issuesIn(z.record(z.string(), z.string()), { ['x'.repeat(195)]: 1 });

    expect(detail?.path).toBe(`body.${'x'.repeat(195)}`);
  });

  test('hides the other issues of a value with the wrong type, but not those of its neighbors', () => {
    const Deep = z.object({
      a: z.object({ b: z.array(z.string()).check(z.maxLength(2)), c: z.string().check(z.maxLength(2)) }),
      ab: z.string().check(z.maxLength(2)),
    });

    expect(issuesIn(Deep, { a: { b: 'long', c: 'long' }, ab: 'long' })).toEqual([
      { path: 'body.a.b', message: 'must be a list' },
      { path: 'body.a.c', message: 'must have at most 2 characters' },
      { path: 'body.ab', message: 'must have at most 2 characters' },
    ]);
  });

  test('lists at most 100 details, and counts the rest in the last one', () => {
    const input = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`field${index}`, index]));
    const details = issuesIn(z.record(z.string(), z.string()), input);

    expect(details).toHaveLength(100);
    expect(details[98]).toEqual({ path: 'body.field98', message: 'must be text' });
    expect(details[99]).toEqual({ path: 'body', message: 'has 151 more issues' });
    expect(issuesIn(z.array(z.string()), Array(100).fill(1)).at(-1)?.path).toBe('body.99');
  });

  test('cuts paths and messages to 200 characters', () => {
    const [detail] = issuesIn(z.record(z.string(), z.enum(['x'.repeat(300)])), {
      [`x${'🙂'.repeat(300)}`]: 'no',
    });

    expect(detail?.path.length).toBe(200);
    expect(detail?.path.isWellFormed()).toBe(true);
    expect(detail?.message).toHaveLength(200);
    expect(detail?.message.endsWith('…')).toBe(true);
  });
});
