import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { list, texts } from '../../../lib/schemas/fields.ts';

test('makes one issue of a list that is too long, even if its items are invalid', () => {
  const { error } = texts().safeParse(Array.from({ length: 200_000 }, () => 1));

  expect(error?.issues).toHaveLength(1);
  expect(error?.issues[0]).toMatchObject({ code: 'too_big', maximum: 1000 });
});

test.each([
  [3, true],
  [4, false],
])('checks the limit of 3 with %d items: %s', (length, isTaken) => {
  expect(list(z.int(), 3).safeParse(Array.from({ length }, () => 1)).success).toBe(isTaken);
});
