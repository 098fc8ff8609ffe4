import { afterAll, expect, test } from '@jest/globals';
import { openArena } from '../../tools/prove/arena.ts';
import { huntNearby } from '../../tools/prove/nearby.ts';
import { SeededRandom } from '../../tools/prove/seeded-random.ts';
import { signingKey } from '../support/tokens.ts';

const arena = await openArena(signingKey);
afterAll(arena.close);

test('methods and paths beside the routes are answered, and never with a 5xx', async () => {
  const { violations, counts } = await huntNearby({ arena, random: new SeededRandom(1), length: 'short' });

  console.info(counts);
  expect(violations).toEqual([]);
  expect(counts.requests).toBeGreaterThan(200);
}, 60_000);
