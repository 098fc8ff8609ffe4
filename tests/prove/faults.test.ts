import { afterAll, expect, test } from '@jest/globals';
import { openArena } from '../../tools/prove/arena.ts';
import { huntFaults } from '../../tools/prove/faults.ts';
import { SeededRandom } from '../../tools/prove/seeded-random.ts';
import { signingKey } from '../support/tokens.ts';

const arena = await openArena(signingKey);
afterAll(arena.close);

test('whatever fails, nothing is written by half, lost, paid for twice, stuck or shown that is secret', async () => {
  const { violations, counts } = await huntFaults({ arena, random: new SeededRandom(1), length: 'short' });

  console.info(counts);
  expect(violations).toEqual([]);
  for (const fault of ['throttle', 'delay', 'drop before', 'drop after', 'garbage', 'die'])
    expect(counts[`faults: ${fault}`]).toBeGreaterThan(5);
  expect(counts['paid requests that started 1 tasks']).toBeGreaterThan(5);
}, 60_000);
