import { afterAll, expect, test } from '@jest/globals';
import { huntAccess } from '../../tools/prove/access.ts';
import { openArena } from '../../tools/prove/arena.ts';
import { SeededRandom } from '../../tools/prove/seeded-random.ts';
import { signingKey } from '../support/tokens.ts';

const arena = await openArena(signingKey);
afterAll(arena.close);

test('everyone can do what the table says and nothing else, and what is refused changes nothing', async () => {
  const { violations, counts } = await huntAccess({ arena, random: new SeededRandom(1), length: 'short' });

  console.info(counts);
  expect(violations).toEqual([]);
  expect(counts['cases refused']).toBeGreaterThan(100);
  expect(counts['cases allowed']).toBeGreaterThan(5);
  expect(counts['field writes ignored']).toBeGreaterThan(50);
}, 60_000);
