import { describe, expect, test } from '@jest/globals';
import { configure } from '../../../lib/config.ts';
import { limitsOf } from '../../../lib/spend/account.ts';
import { ceilingOf } from '../../../lib/spend/reservation.ts';
import { loadContracts } from '../../../tools/openapi/contracts.ts';

describe('CREDIT_CEILINGS', () => {
  test.each([
    [{ operation: 'textToVideo', model: 'vidq3-pro', seconds: 16 }, 900],
    [{ operation: 'textToVideo', model: 'vidq3-pro', seconds: 15 }, 500],
    [{ operation: 'textToVideo', model: 'vidq1' }, 100],
    [{ operation: 'textToVideo' }, 100],
    [{ operation: 'relightImage' }, 2],
    [{ operation: 'extendVideo' }, undefined],
  ])('uses for %j its most specific entry: %j', (task, ceiling) => {
    configure({
      CREDIT_CEILINGS:
        'textToVideo=100, textToVideo/vidq3-pro=500,textToVideo/vidq3-pro/16=900, relightImage=2',
    });

    expect(ceilingOf(task)).toBe(ceiling);
  });

  test.each([
    ['relightImage=3', { operation: 'relightImage' }, 3],
    ['textToVideo=10+4s16', { operation: 'textToVideo', seconds: 1 }, 14],
    ['textToVideo=10+4s16', { operation: 'textToVideo', seconds: 16 }, 74],
    ['textToVideo=10+4s16', { operation: 'textToVideo' }, 74],
    ['textToVideo=10+4s16', { operation: 'textToVideo', seconds: -3 }, 74],
    ['textToVideo=4s', { operation: 'textToVideo', seconds: 2 }, 8],
    ['textToVideo=4s', { operation: 'textToVideo' }, undefined],
    ['textToVideo=4s,textToVideo/vidq1=9s', { operation: 'textToVideo', model: 'vidq1', seconds: 2 }, 18],
    ['multiframeVideo=20+5f+3s7', { operation: 'multiframeVideo', frames: 4, seconds: 10 }, 70],
    ['multiframeVideo=20+5f+3s7', { operation: 'multiframeVideo', frames: 4 }, 124],
    ['textToVideo=50s', { operation: 'textToVideo', seconds: 2 ** 52 }, Number.MAX_SAFE_INTEGER],
  ])('%s bounds %j at %j credits', (CREDIT_CEILINGS, task, ceiling) => {
    configure({ CREDIT_CEILINGS });

    expect(ceilingOf(task)).toBe(ceiling);
  });

  test('takes every operation that costs something, and rejects names for which no task would ever be counted', async () => {
    const contracts = await loadContracts();
    for (const { name, paid } of contracts) {
      configure({ CREDIT_CEILINGS: `${name}=7` });
      const ceiling = () => ceilingOf({ operation: name });
      if (paid) expect(ceiling()).toBe(7);
      else expect(ceiling).toThrow('CREDIT_CEILINGS');
    }
  });

  test.each([
    ...['textToVideo', 'textToVideo=', 'textToVideo=-1', 'textToVideo=1.5', 'a/b/c=1', '=5'],
    ...[
      'textToVideo=1+2',
      'textToVideo=1s+2s',
      'textToVideo=5+',
      'textToVideo=s',
      'textToVideo=1f2',
      'textToVideo=1x',
    ],
    ...['texttovideo=5', 'relightImage/vidq2-pro=5', 'extendVideo/vidq2-pro/=5', 'extendVideo//5=5'],
  ])('rejects %j', (CREDIT_CEILINGS) => {
    configure({ CREDIT_CEILINGS });

    expect(() => ceilingOf({ operation: 'textToVideo' })).toThrow(/CREDIT_CEILINGS: must be a list such as/);
  });
});

test('reads a limit as a whole number, and as no limit if it is empty or 0', () => {
  configure({
    CREDITS_PER_DAY: '100',
    TASKS_PER_DAY: '',
    REQUESTS_PER_MINUTE: '0',
  });

  expect(limitsOf()).toEqual({ credits_per_day: 100, tasks_per_day: 0, requests_per_minute: 0 });
  configure({ CREDITS_PER_DAY: '-1' });
  expect(limitsOf).toThrow('CREDITS_PER_DAY');
});
