import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { faultsOf } from '../../lib/validation-issues.ts';

const Anything = z.object({
  text: z.optional(z.string().check(z.minLength(1), z.maxLength(3))),
  code: z.optional(z.string().check(z.minLength(2))),
  list: z.optional(z.array(z.int()).check(z.minLength(1), z.maxLength(2))),
  number: z.optional(z.number().check(z.minimum(1), z.maximum(4))),
  flag: z.optional(z.boolean()),
  map: z.optional(z.record(z.string(), z.string())),
  object: z.optional(z.object({ inner: z.string() })),
  choice: z.optional(z.enum(['a', 'b'])),
  date: z.optional(z.date()),
  ruled: z.optional(z.string().check(z.refine((value) => value === 'yes', 'must be yes'))),
});

function faultsIn(schema: z.ZodMiniType, input: unknown) {
  const { error } = schema.safeParse(input);
  if (!error) throw new Error('There is no fault.');
  return faultsOf('body', error, input);
}

describe('a fault', () => {
  test.each([
    [{ text: 1 }, 'body.text', 'must be text'],
    [{ text: null }, 'body.text', 'must be text'],
    [{ text: '' }, 'body.text', 'must have at least 1 character'],
    [{ code: 'x' }, 'body.code', 'must have at least 2 characters'],
    [{ text: 'long' }, 'body.text', 'must have at most 3 characters'],
    [{ list: {} }, 'body.list', 'must be a list'],
    [{ list: [] }, 'body.list', 'must have at least 1 item'],
    [{ list: [1, 2, 3] }, 'body.list', 'must have at most 2 items'],
    [{ list: [1.5] }, 'body.list.0', 'must be a whole number'],
    [{ number: '1' }, 'body.number', 'must be a number'],
    [{ number: 0 }, 'body.number', 'must be at least 1'],
    [{ number: 5 }, 'body.number', 'must be at most 4'],
    [{ flag: 'true' }, 'body.flag', 'must be true or false'],
    [{ map: [] }, 'body.map', 'must be an object'],
    [{ object: 'x' }, 'body.object', 'must be an object'],
    [{ object: {} }, 'body.object.inner', 'is required'],
    [{ object: { inner: null } }, 'body.object.inner', 'must be text'],
    [{ choice: 'c' }, 'body.choice', 'must be one of a, b'],
    [{ date: 'today' }, 'body.date', 'must be of type date'],
    [{ ruled: 'no' }, 'body.ruled', 'must be yes'],
    [undefined, 'body', 'is required'],
    [null, 'body', 'must be an object'],
  ])('of %j is told as %s %s', (input, path, message) => {
    expect(faultsIn(Anything, input)).toEqual([{ path, message }]);
  });

  test('is told beside all others, each at its own place', () => {
    expect(faultsIn(Anything, { text: 'long', number: 5, object: { inner: 1 } })).toEqual([
      { path: 'body.text', message: 'must have at most 3 characters' },
      { path: 'body.number', message: 'must be at most 4' },
      { path: 'body.object.inner', message: 'must be text' },
    ]);
  });

  test('of a rule between fields keeps its words where the field that it names is absent', () => {
    const Pair = z
      .object({ a: z.optional(z.string()), b: z.string() })
      .check(z.refine(() => false, { path: ['a'], error: 'goes with b' }));

    expect(faultsIn(Pair, { b: 'x' })).toEqual([{ path: 'body.a', message: 'goes with b' }]);
  });

  test('of a type hides what else that value breaks, and nothing of its neighbours', () => {
    const Deep = z.object({
      a: z.object({ b: z.array(z.string()).check(z.maxLength(2)), c: z.string().check(z.maxLength(2)) }),
      ab: z.string().check(z.maxLength(2)),
    });

    expect(faultsIn(Deep, { a: { b: 'long', c: 'long' }, ab: 'long' })).toEqual([
      { path: 'body.a.b', message: 'must be a list' },
      { path: 'body.a.c', message: 'must have at most 2 characters' },
      { path: 'body.ab', message: 'must have at most 2 characters' },
    ]);
  });
});
