import { describe, expect, test } from '@jest/globals';
import { parseJsonBody } from '../../../lib/http/json-body.ts';

/** The maximum in bytes; one more byte is a 413. */
const maxBytes = 6 * 1024 * 1024;

interface Sent {
  body?: string;
  isBase64Encoded?: boolean;
  contentType?: string;
}

function parse({ body = '{"a":1}', isBase64Encoded = false, contentType }: Sent): unknown {
  return parseJsonBody({ body, isBase64Encoded, headers: { 'content-type': contentType } });
}

const base64 = (bytes: string | readonly number[]) => Buffer.from(bytes as string).toString('base64');

describe('parseJsonBody', () => {
  const accepted =
    '|application/json|Application/JSON|application/json;charset=utf-8|application/json ; charset=utf-8|';
  const others = 'application/problem+json|application/vnd.example.v1-beta+json';

  test.each([undefined, ...`${accepted}${others}`.split('|')])(
    'accepts the content type %j',
    (contentType) => {
      expect(parse(contentType === undefined ? {} : { contentType })).toEqual({ a: 1 });
    },
  );

  const foreign = 'text/plain|application/jsonp|application/json x|application/+json|application/a b+json';

  test.each(`${foreign}|application/json5|x-application/json|text/json|application/xml;json`.split('|'))(
    'rejects the content type %j',
    (contentType) => {
      expect(() => parse({ contentType })).toThrow(
        expect.objectContaining({ code: 'unsupported_media_type' }),
      );
    },
  );

  test('names that a body is compressed', () => {
    const message = expect.stringContaining('compressed (br)');
    expect(() => parseJsonBody({ body: '{}', headers: { 'content-encoding': 'br' } })).toThrow(
      expect.objectContaining({ code: 'unsupported_media_type', message }),
    );
  });

  test('ignores an identity coding', () => {
    expect(parseJsonBody({ body: '{}', headers: { 'content-encoding': 'Identity' } })).toEqual({});
  });

  test.each([
    ['text outside ASCII', '{"a":"é🙂"}', { a: 'é🙂' }],
    ['an escaped surrogate pair', '{"a":"\\ud83d\\ude42"}', { a: '🙂' }],
    ['escapes next to null and numbers', '{"\\u0061":[null,1,true,"\\u0062"]}', { a: [null, 1, true, 'b'] }],
    ['an escaped replacement character', '{"a":"\\ufffd"}', { a: '\ufffd' }],
    ['text after a byte order mark', '\ufeff{"a":1}', { a: 1 }],
    ['a byte order mark within', '{"a":"b\ufeff"}', { a: 'b\ufeff' }],
    ['the text __proto__ as a value', '{"a":"__proto__"}', { a: '__proto__' }],
  ])('reads %s, plain and as base64', (_, body, value) => {
    expect(parse({ body })).toEqual(value);
    expect(parse({ body: base64(body), isBase64Encoded: true })).toEqual(value);
  });

  test.each([
    [undefined, ''],
    ['14', ''],
    ['17', '\ufeff'],
  ])('reads U+FFFD as text if the body is as long as was sent: %j, after %j', (length, mark) => {
    const body = `${mark}{"a":"caf\ufffd"}`;
    expect(parseJsonBody({ body, headers: { 'content-length': length } })).toEqual({ a: 'caf\ufffd' });
  });

  const notUnicode = 'contains text that is not valid Unicode';
  const replaced = { body: '{"a":"caf\ufffd"}', headers: { 'content-length': '12' } };

  test.each([
    ['none', {}, 'is missing; send a JSON object'],
    ['an empty one', { body: '' }, 'is missing; send a JSON object'],
    ['half a JSON value', { body: '{' }, 'is not valid JSON'],
    ['half a surrogate pair', { body: '{"a":"\ud800"}' }, notUnicode],
    ['half a pair, escaped', { body: '{"a":["\\ud800"]}' }, notUnicode],
    ['half a pair, escaped in base64', { body: base64('["\\ud800"]'), isBase64Encoded: true }, notUnicode],
    ['half a pair, escaped in a key', { body: '{"\\udc00":1}' }, notUnicode],
    ['bytes that the gateway replaced because they are not UTF-8', replaced, notUnicode],
    ['bytes that are not UTF-8', { body: base64([0x22, 0xff, 0x22]), isBase64Encoded: true }, notUnicode],
  ])('rejects a body that is %s, and says why', (_, sent, message) => {
    const event = { headers: {}, ...sent };

    expect(() => parseJsonBody(event)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `The request body ${message}.`,
        details: [{ path: 'body', message }],
      }),
    );
  });

  const filled = (bytes: number, character: string) => {
    const size = Buffer.byteLength(character);
    const room = bytes - 2;
    return `"${character.repeat(room / size)}"${' '.repeat(room % size)}`;
  };

  test.each([
    ['one byte', 'x'],
    ['two bytes', 'é'],
    ['four bytes, pairs of surrogates', '🖼'],
  ])('accepts 6 MB of characters of %s, and not one byte more', (_, character) => {
    const body = filled(maxBytes, character);
    expect(parse({ body })).toHaveLength(body.trimEnd().length - 2);
    expect(() => parse({ body: filled(maxBytes + 1, character) })).toThrow(
      expect.objectContaining({ code: 'request_too_large' }),
    );
  });

  test('counts base64 as it was sent, which is what Lambda takes', () => {
    const body = base64(`"${'x'.repeat(5 * 1024 * 1024)}"`);

    expect(() => parse({ body, isBase64Encoded: true })).toThrow(
      expect.objectContaining({ code: 'request_too_large' }),
    );
  });

  test('rejects half a surrogate pair deep inside a nested body', () => {
    const nested = (inner: string) => '['.repeat(500) + inner + ']'.repeat(500);

    expect(() => parse({ body: nested('"\\ud800"') })).toThrow(/Unicode/);
    expect(() => parse({ body: nested('"\\u0061"') })).not.toThrow();
  });
});
