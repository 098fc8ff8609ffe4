import { expect, test } from '@jest/globals';
import { inTime } from '../../lib/context.ts';

const late = () => new Error('late');
const never = new Promise<never>(() => {});

test('passes on a result or an error that comes before the deadline', async () => {
  const until = Date.now() + 10_000;

  await expect(inTime(Promise.resolve('done'), until, late)).resolves.toBe('done');
  await expect(inTime(Promise.reject(new Error('failed')), until, late)).rejects.toThrow('failed');
});

test('ends concurrent deadlines each at its own time', async () => {
  const began = Date.now();
  const waits = [0, 300, 600];
  const ends = waits.map((wait) => inTime(never, began + wait, late).catch(() => Date.now() - began));

  const took = await Promise.all(ends);
  for (const [index, wait] of waits.entries()) {
    expect(took[index]).toBeGreaterThanOrEqual(wait);
    expect(took[index]).toBeLessThan(wait + 280);
  }
});
