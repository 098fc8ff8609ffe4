import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../lib/errors.ts';
import { storeError } from '../../../lib/store/store-errors.ts';

describe('storeError', () => {
  const withStatus = (httpStatusCode: number) =>
    Object.assign(new Error(), { $metadata: { httpStatusCode } });
  const withCode = (code: unknown) => Object.assign(new Error(), { code });
  const named = (name: string) => Object.assign(new Error(), { name });

  test.each([
    ['throttled by the table', named('ProvisionedThroughputExceededException')],
    ['throttled by the account', named('RequestLimitExceeded')],
    ['throttled', named('ThrottlingException')],
    ['limited', named('LimitExceededException')],
    ['failing inside', named('InternalServerError')],
    ['down', named('ServiceUnavailable')],
    ['late', named('TimeoutError')],
    ['answered with 500', withStatus(500)],
    ['answered with 503', withStatus(503)],
    ['about a refused connection', withCode('ECONNREFUSED')],
  ])('reads an error that is %s as unavailable', (_, error) => {
    const read = storeError(error);

    expect(read).toBeInstanceOf(ApiError);
    expect(read).toMatchObject({ code: 'unavailable', cause: error });
  });

  test.each([
    'Item size has exceeded the maximum allowed size',
    'Item size to update has exceeded the maximum allowed size',
    'The item exceeds the maximum allowed size',
    'Too large',
  ])('reads the message %j as a record that is too large', (message) => {
    const error = new Error(message);

    expect(storeError(error)).toMatchObject({ code: 'record_too_large', cause: error });
  });

  test.each([
    ['another error', new Error('another')],
    ['one of the status 499', withStatus(499)],
    ['an error whose code is not a system error', withCode('E1')],
    ['one whose code is one of Node', withCode('ERR_INVALID_ARG_TYPE')],
    ['one whose code is too short', withCode('E')],
    ['one whose code ends like that of the system', withCode('SEE')],
    ['one whose code begins like that of the system', withCode('Eof')],
    ['an error whose code is not text', withCode(['EPIPE'])],
    ['a value that is not an Error', { name: 'TimeoutError', message: 'too large' }],
    ['nothing', undefined],
  ])('leaves %s unchanged', (_, error) => {
    expect(storeError(error)).toBe(error);
  });
});
