import { expect, test } from '@jest/globals';
import { configure } from '../../../lib/config.ts';
import { limitsOf } from '../../../lib/spend/account.ts';

test('reads a limit as a whole number, and as no limit if it is empty or 0', () => {
  configure({ CREDITS_PER_DAY: '100', TASKS_PER_DAY: '', REQUESTS_PER_MINUTE: '0' });

  expect(limitsOf()).toEqual({ credits_per_day: 100, tasks_per_day: 0, requests_per_minute: 0 });
  configure({ CREDITS_PER_DAY: '-1' });
  expect(limitsOf).toThrow('CREDITS_PER_DAY');
});
