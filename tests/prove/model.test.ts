import { afterAll, expect, test } from '@jest/globals';
import { openArena } from '../../tools/prove/arena.ts';
import { huntModel } from '../../tools/prove/model-hunt.ts';
import { SeededRandom } from '../../tools/prove/seeded-random.ts';
import { signingKey } from '../support/tokens.ts';

const arena = await openArena(signingKey);
afterAll(arena.close);

test('the registry does what its model does, whatever the order, and callers who meet lose nothing', async () => {
  const { violations, counts } = await huntModel({ arena, random: new SeededRandom(1), length: 'short' });

  console.info(counts);
  expect(violations).toEqual([]);
  expect(counts.stories).toBe(60);
  expect(counts['races: if-match']).toBe(4);
  expect(counts['commands: publish']).toBeGreaterThan(20);
}, 60_000);
