import { expect, test } from '@jest/globals';
import { inParallel } from '../../lib/in-parallel.ts';

test('does all work, for so many items at a time and no more', async () => {
  let [running, max, done] = [0, 0, 0];
  await inParallel(Array(20).keys(), 8, async () => {
    running += 1;
    max = Math.max(max, running);
    await new Promise(setImmediate);
    running -= 1;
    done += 1;
  });

  expect([max, done]).toEqual([8, 20]);
});
