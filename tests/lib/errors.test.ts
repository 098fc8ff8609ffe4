import { describe, expect, test } from '@jest/globals';
import { ApiError, type ErrorCode, errorCatalogue, providerErrors } from '../../lib/errors.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

describe.each(codes)('%s', (code) => {
  test('has a status of an error and a sentence for the caller', () => {
    const { status, message } = new ApiError(code);

    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(message).toMatch(/^[A-Z].{10,}\.$/);
  });
});

test('the errors of a provider are those that say so', () => {
  expect([...providerErrors].sort()).toEqual(codes.filter((code) => code.startsWith('provider_')).sort());
});

describe('an error', () => {
  test('has nothing but its code and sentence unless more is said', () => {
    const error = new ApiError('conflict');

    expect({ ...error }).toEqual({
      name: 'ApiError',
      code: 'conflict',
      details: [],
      headers: {},
      payment: 'unknown',
    });
    expect(error.cause).toBeUndefined();
  });

  test('takes what is said of it', () => {
    const cause = new Error('below');
    const said = { details: [{ path: 'body', message: 'bad' }], headers: { 'x-a': '1' }, cause } as const;
    const error = new ApiError('unavailable', { ...said, message: 'Later.', payment: 'none' });

    expect(error).toMatchObject({ message: 'Later.', details: said.details, cause, payment: 'none' });
    expect(error.headers).toEqual({ 'retry-after': '1', 'x-a': '1' });
  });

  test.each([
    ['unauthorized', { 'www-authenticate': 'Bearer' }],
    ['idempotency_in_flight', { 'retry-after': '2' }],
    ['unavailable', { 'retry-after': '1' }],
    ['provider_busy', {}],
  ] as const)('%s carries the headers %j', (code, headers) => {
    expect(new ApiError(code).headers).toEqual(headers);
  });
});
