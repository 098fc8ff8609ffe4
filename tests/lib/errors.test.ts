import { describe, expect, test } from '@jest/globals';
import { ApiError, errorCatalog } from '../../lib/errors.ts';

test.each(Object.entries(errorCatalog))('%s has a sentence for the caller', (_, { message }) => {
  expect(message).toMatch(/^[A-Z].{10,}\.$/);
});

describe('ApiError', () => {
  test('keeps everything that is not changed, and bought something until it says that it did not', () => {
    const error = new ApiError('unavailable', {
      message: 'Later.',
      reason: 'why',
      headers: { 'x-a': '1' },
      cause: new Error('below'),
      details: [{ path: 'body', message: 'is rude' }],
      payment: 'rejected',
      task: { taskId: '7' },
    });
    const { name, code, message, status, reason, details, headers, cause, payment, task, stack } = error;
    const same = { name, code, message, status, reason, details, headers, cause, payment, task, stack };

    expect(error.with({})).toMatchObject(same);
    expect(error.with({ payment: 'unknown' })).toMatchObject({ ...same, payment: 'unknown' });
    expect(new ApiError('unavailable').payment).toBe('unknown');
  });

  test.each([
    ['unauthorized', { 'www-authenticate': 'Bearer' }],
    ['idempotency_in_flight', { 'retry-after': '2' }],
    ['unavailable', { 'retry-after': expect.stringMatching(/^(?:[1-9]|10)$/) }],
    ['provider_busy', {}],
  ] as const)('%s carries the headers %j', (code, headers) => {
    expect(new ApiError(code).headers).toEqual(headers);
  });
});
