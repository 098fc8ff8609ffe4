import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ApiError } from '../../../lib/errors.ts';
import { afterwards, beforeSending } from '../../../lib/attempts/request.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { timed } from '../../support/timed.ts';

const soon = () => ({ deadline: Date.now() + 10_000 });

afterEach(() => {
  jest.useRealTimers();
});

describe('what fails before sending', () => {
  const message = 'A field of the request is too large to be recorded.';

  test.each([
    [new ApiError('conflict'), { code: 'unavailable' }],
    [new ApiError('record_too_large'), { code: 'invalid_request', message }],
    [new Error('no key'), { code: 'internal_error' }],
  ])('says that nothing was bought: %s', async (cause, expected) => {
    const failing = beforeSending(() => Promise.reject(cause));

    await expect(failing).rejects.toMatchObject({ ...expected, cause, payment: 'rejected' });
  });
});

describe('the writes that follow a request', () => {
  test('never change its answer, and log their failure', async () => {
    await afterwards(soon(), 'fail', {
      spending: Promise.reject(new Error('the store failed')),
      idempotency: undefined,
    });

    expect(lines()).toMatchObject([
      { level: 'warn', event: 'spending', step: 'fail', causes: ['Error: the store failed'] },
    ]);
  });

  test.each([
    [10_399, true],
    [10_401, false],
  ])('are waited for a little past the deadline, %d ms: %s', async (ms, isInTime) => {
    jest.useFakeTimers();
    let isKept = false;
    const keep = new Promise<void>((resolve) => setTimeout(resolve, ms)).then(() => {
      isKept = true;
    });
    await timed(afterwards(soon(), 'succeed', { idempotency: keep }));

    expect(isKept).toBe(isInTime);
    expect(loggedLines.join().includes('the store took too long')).toBe(!isInTime);
  });
});
