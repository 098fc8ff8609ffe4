import { expect, jest, test } from '@jest/globals';
import { inTime } from '../../lib/context.ts';
import { stopTimers } from '@node-registry/testing/clock';

test('passes on a result or an error that comes before the deadline, and leaves no timer behind', async () => {
  stopTimers();
  const late = () => new Error('late');
  const until = Date.now() + 10_000;

  await expect(inTime(Promise.resolve('done'), until, late)).resolves.toBe('done');
  await expect(inTime(Promise.reject(new Error('failed')), until, late)).rejects.toThrow('failed');
  expect(jest.getTimerCount()).toBe(0);
});
