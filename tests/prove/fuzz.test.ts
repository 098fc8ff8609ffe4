import { afterAll, expect, test } from '@jest/globals';
import { openArena } from '../../tools/prove/arena.ts';
import { huntInput } from '../../tools/prove/fuzz.ts';
import { SeededRandom } from '../../tools/prove/seeded-random.ts';
import { signingKey } from '../support/tokens.ts';

const arena = await openArena(signingKey);
afterAll(arena.close);

test('no request, whatever is in it, is answered with a 5xx, or other than the document says', async () => {
  const { violations, counts } = await huntInput({ arena, random: new SeededRandom(1), length: 'short' });

  console.info(counts);
  expect(violations).toEqual([]);
  expect(counts.requests).toBeGreaterThanOrEqual(1200);
  expect(counts['answered 200']).toBeGreaterThan(100);
  expect(counts['answered 400 invalid_request']).toBeGreaterThan(300);
}, 60_000);
