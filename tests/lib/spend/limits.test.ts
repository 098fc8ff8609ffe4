import { describe, expect, jest, test } from '@jest/globals';
import { loadContracts } from '../../../tools/openapi/contracts.ts';

/** The module with other settings, as a deployment has them. */
async function limitsWith(
  settings: Record<string, string>,
): Promise<typeof import('../../../lib/spend/limits.ts')> {
  jest.resetModules();
  const before = { ...process.env };
  Object.assign(process.env, settings);
  try {
    return await import('../../../lib/spend/limits.ts');
  } finally {
    process.env = before;
  }
}

describe('CREDIT_CEILINGS', () => {
  test.each([
    [{ operation: 'textToVideo', model: 'vidq3-pro', seconds: 16 }, 900],
    [{ operation: 'textToVideo', model: 'vidq3-pro', seconds: 15 }, 500],
    [{ operation: 'textToVideo', model: 'vidq1' }, 100],
    [{ operation: 'textToVideo' }, 100],
    [{ operation: 'relightImage' }, 2],
    [{ operation: 'extendVideo' }, undefined],
  ])('has for %j the entry that says most about it: %j', async (task, ceiling) => {
    const { ceilingOf } = await limitsWith({
      CREDIT_CEILINGS:
        'textToVideo=100, textToVideo/vidq3-pro=500,textToVideo/vidq3-pro/16=900, relightImage=2',
    });

    expect(ceilingOf(task)).toBe(ceiling);
  });

  test('takes every operation that costs something, and rejects names for which no task would ever be counted', async () => {
    const contracts = await loadContracts();
    for (const { name, paid } of contracts) {
      const limits = limitsWith({ CREDIT_CEILINGS: `${name}=7` }).then(({ ceilingOf }) =>
        ceilingOf({ operation: name }),
      );
      if (paid) expect(await limits).toBe(7);
      else await expect(limits).rejects.toThrow('CREDIT_CEILINGS');
    }
  });

  test.each([
    ...['textToVideo', 'textToVideo=', 'textToVideo=-1', 'textToVideo=1.5', 'a/b/c=1', '=5'],
    ...['texttovideo=5', 'relightImage/vidq2-pro=5', 'extendVideo/vidq2-pro/=5', 'extendVideo//5=5'],
  ])('stops the function at start where it is %j', async (CREDIT_CEILINGS) => {
    await expect(limitsWith({ CREDIT_CEILINGS })).rejects.toThrow(/CREDIT_CEILINGS: must be a list such as/);
  });
});

test('a limit is a whole number, and none where it is empty or 0', async () => {
  const { defaultLimits } = await limitsWith({
    CREDITS_PER_DAY: '100',
    TASKS_PER_DAY: '',
    REQUESTS_PER_MINUTE: '0',
  });

  expect(defaultLimits).toEqual({ credits_per_day: 100, tasks_per_day: 0, requests_per_minute: 0 });
  await expect(limitsWith({ CREDITS_PER_DAY: '-1' })).rejects.toThrow('CREDITS_PER_DAY');
});
