import { describe, expect, test } from '@jest/globals';
import { cleanText, readErrorReply } from '../../../lib/providers/reply.ts';

const read = (body: Record<string, unknown>) => readErrorReply(body, 'the-key');

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
])('the text of an error reply becomes, from %j, %j', (body, text) => {
  expect(read(body).text).toBe(text);
});

describe('the details of an error reply', () => {
  const details = [{ path: 'body.image', message: 'too small' }];

  test.each<[Record<string, unknown>, object[]]>([
    [{ invalid_params: undefined }, []],
    [{ invalid_params: 'image' }, []],
    [{ invalid_params: [] }, []],
    [{ invalid_params: [null, 'image', { name: 'image', reason: 'too small' }] }, details],
    [{ invalid_params: [{ name: '', field: 'image', reason: 'too small' }] }, details],
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

test('an error reply says by its code or reason that the account is out of credits', () => {
  const [code, reason] = ['CreditInsufficient', 'CreditInsufficient'];
  for (const body of [{ code: 400, reason }, { code, reason: '' }, { error: { code } }])
    expect([body, read(body).isOutOfCredits]).toEqual([body, true]);
  for (const body of [{ message: code }, { code: 400, reason: 'InvalidArgument' }])
    expect([body, read(body).isOutOfCredits]).toEqual([body, false]);
});

const key = 'the-key';

const words = 'a word '.repeat(50);

test.each([
  ['The prompt is too long', 'The prompt is too long'],
  [' on\r\n\r\nthree\tlines ', 'on three lines'],
  ['with\u0000control\u007fcharacters', 'with control characters'],
  ['turned \u202eround\u200b\u2028here', 'turned round here'],
  ['<p>no<br/>markup</p>', 'no markup'],
  ['with an empty <> in it', 'with an empty in it'],
  ['1 < 2 < 3', '1 < 2 < 3'],
  [`key ${key}, and ${key} again`, 'key …, and … again'],
  [`image ${'iVBOR/w+_-0='.repeat(20)}, which is bad`, 'image …, which is bad'],
  [`64 in a row: ${'a'.repeat(64)}`, '64 in a row: …'],
  [`63 in a row: ${'a'.repeat(63)}`, `63 in a row: ${'a'.repeat(63)}`],
  // At most 300 characters, of the first 30,000 without the key.
  [`${words.slice(0, 299)}x`, `${words.slice(0, 299)}x`],
  [`${words.slice(0, 299)}xy`, `${words.slice(0, 299)}…`],
  [`${words.slice(0, 298)}🙂🙂`, `${words.slice(0, 298)}\ufffd…`],
  ['half \ud83d a pair', 'half \ufffd a pair'],
  [`begin${' '.repeat(29_994)}e${'nd'.repeat(9)}`, 'begin e'],
  [`begin${' '.repeat(29_990)}${key}`, 'begin …'],
  ...[undefined, null, 7, { a: 1 }, ['a']].map((value) => [value, '']),
])('shows a provider’s text as one short, clean line (%#)', (text, shown) => {
  expect(cleanText(text, key)).toBe(shown);
});
