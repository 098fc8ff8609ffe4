import { describe, expect, test } from '@jest/globals';
import { readErrorReply } from '../../../lib/providers/error-reply.ts';

const read = (body: Record<string, unknown>) => readErrorReply(body, 'the-key');

describe('the text of an error reply', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ message: 'Bad image' }, 'Bad image'],
    [{ code: 400, reason: 'InvalidArgument', message: 'Bad prompt', metadata: {} }, 'Bad prompt'],
    [{ code: 'E1', reason: 'InvalidArgument', message: '' }, 'InvalidArgument'],
    [{ code: 'InvalidArgument' }, 'InvalidArgument'],
    [{ error: { message: 'Bad seed', code: 400 } }, 'Bad seed'],
    [{ error: 'Bad seed' }, 'Bad seed'],
    [{ error: { reason: 'BadSeed' } }, 'BadSeed'],
    [{ problem: { title: 'Bad Request', detail: 'Bad style' } }, 'Bad style'],
    [{ error: { problem: { message: 'Bad style' } } }, 'Bad style'],
    [{ message: '', error: { message: 'Bad style' } }, 'Bad style'],
    [{ message: 'the-key is bad', error: 7 }, '… is bad'],
    [{ code: 400, message: null, error: [] }, ''],
    [{ error: { error: { error: { message: 'too deep' } } } }, ''],
    [{}, ''],
  ])('becomes, from %j, %j', (body, text) => {
    expect(read(body).text).toBe(text);
  });
});

describe('the details of an error reply', () => {
  const details = [{ path: 'body.image', message: 'too small' }];

  test.each<[Record<string, unknown>, object[]]>([
    [{ invalid_params: undefined }, []],
    [{ invalid_params: 'image' }, []],
    [{ invalid_params: [] }, []],
    [{ invalid_params: [null, 'image', { name: 'image', reason: 'too small' }] }, details],
    [{ invalid_params: [{ field: 'image', reason: 'too small' }] }, details],
    [{ invalid_params: [{ field: 'image', message: 'too small' }] }, details],
    [{ problem: { invalid_params: [{ field: 'image', reason: 'too small' }] } }, details],
    [{ error: { problem: { invalid_params: [{ name: 'image', reason: 'too small' }] } } }, details],
    [{ invalid_params: [{ name: 7, reason: 3 }] }, [{ path: 'body', message: '3' }]],
    [
      { invalid_params: [{ name: 'the-key' }] },
      [{ path: 'body.…', message: 'was rejected by the provider' }],
    ],
  ])('become, from %j, %j', (body, expected) => {
    expect(read(body).details).toEqual(expected);
  });

  test('contain at most 200 characters, like those that are our own', () => {
    const words = 'too small '.repeat(30);
    const [detail] = read({ invalid_params: [{ name: words, reason: words }] }).details;

    expect([detail?.path.length, detail?.message.length]).toEqual([200, 200]);
  });

  test('stop at twenty', () => {
    const invalid_params = Array.from({ length: 25 }, (_, index) => ({ name: `f${index}`, reason: 'bad' }));

    expect(read({ invalid_params, error: { invalid_params } }).details).toHaveLength(20);
  });
});

describe('an error reply says that the account is out of credits', () => {
  test.each<[Record<string, unknown>, boolean]>([
    [{ code: 400, reason: 'CreditInsufficient' }, true],
    [{ code: 'CreditInsufficient', reason: '' }, true],
    [{ error: { code: 'CreditInsufficient' } }, true],
    [{ message: 'CreditInsufficient' }, false],
    [{ code: 400, reason: 'InvalidArgument' }, false],
  ])('finds in %j: %j', (body, isOutOfCredits) => {
    expect(read(body).isOutOfCredits).toBe(isOutOfCredits);
  });
});
