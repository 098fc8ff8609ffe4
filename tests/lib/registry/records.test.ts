import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { shownFields } from '../../../lib/registry/records.ts';

test('shownFields answers only the fields of the schema, in its order', () => {
  const record = { pk: 'x', b: 1, a: 2 };
  const view = shownFields<{ a?: number; b?: number; toString?: unknown }>(record as never, {
    shape: { a: z.number(), b: z.number(), toString: z.unknown() },
  });

  expect(Object.entries(view)).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});
