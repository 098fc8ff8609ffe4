import { describe, expect, test } from '@jest/globals';
import { issueDetails, parseJsonBody } from '../../../lib/http/read-request.ts';
import * as z from 'zod/mini';

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

  const gzip = [0x1f, 0x8b, 8, 0];
  const utf16 = (text: string) => [...Buffer.from(text, 'utf16le')];
  const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();

  test.each([
    ['compressed (gzip)', { body: base64(gzip), isBase64Encoded: true }],
    ['compressed (gzip)', { body: Buffer.from(gzip).toString() }],
    ['compressed (br)', { headers: { 'content-encoding': 'br' } }],
    ['in UTF-16', { body: swapped('\ufeff{}').toString('base64'), isBase64Encoded: true }],
    ['in UTF-16', { body: base64(utf16('\ufeff{}')), isBase64Encoded: true }],
    ['in UTF-16', { body: Buffer.from(utf16('\ufeff{}')).toString() }],
    ['in UTF-16', { body: swapped('{}').toString() }],
    ['in UTF-16', { headers: { 'content-type': 'application/json; charset=utf16' } }],
  ])('names that a body is %s (%#)', (kind, sent) => {
    const message = expect.stringContaining(kind);
    expect(() => parseJsonBody({ body: '{}', headers: {}, ...sent })).toThrow(
      expect.objectContaining({ code: 'unsupported_media_type', message }),
    );
  });

  test('ignores an identity coding', () => {
    expect(parseJsonBody({ body: '{}', headers: { 'content-encoding': 'identity' } })).toEqual({});
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

  const filled = (bytes: number, start: string, character: string) => {
    const size = Buffer.byteLength(character);
    const room = bytes - 2 - Buffer.byteLength(start);
    return `"${start}${character.repeat(room / size)}"${' '.repeat(room % size)}`;
  };

  test.each([
    ['characters of one byte', '', 'x'],
    ['characters of two bytes', '', 'é'],
    ['characters of four bytes, pairs of surrogates', '', '🖼'],
    ['such pairs, one character later', 'x', '🖼'],
    ['one such pair across 16 KB, where a counted chunk ends', `${'x'.repeat(16 * 1024 - 2)}🖼`, 'x'],
  ])('accepts 6 MB of %s, and not one byte more', (_, start, character) => {
    const body = filled(maxBytes, start, character);
    expect(parse({ body })).toHaveLength(body.trimEnd().length - 2);
    expect(() => parse({ body: filled(maxBytes + 1, start, character) })).toThrow(
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

const Anything = z.object({
  text: z.optional(z.string().check(z.minLength(1), z.maxLength(3))),
  code: z.optional(z.string().check(z.minLength(2))),
  list: z.optional(z.array(z.int()).check(z.minLength(1), z.maxLength(2))),
  number: z.optional(z.number().check(z.minimum(1), z.maximum(4))),
  flag: z.optional(z.boolean()),
  map: z.optional(z.record(z.string(), z.string())),
  object: z.optional(z.object({ inner: z.string() })),
  choice: z.optional(z.enum(['a', 'b'])),
  date: z.optional(z.date()),
  ruled: z.optional(z.string().check(z.refine((value) => value === 'yes', 'must be yes'))),
});

function issuesIn(schema: z.ZodMiniType, input: unknown) {
  return issueDetails([{ root: 'body', error: schema.safeParse(input).error, input }]);
}

describe('issueDetails', () => {
  test.each([
    [{ text: 1 }, 'body.text', 'must be text'],
    [{ text: '' }, 'body.text', 'must have at least 1 character'],
    [{ code: 'x' }, 'body.code', 'must have at least 2 characters'],
    [{ text: 'long' }, 'body.text', 'must have at most 3 characters'],
    [{ list: [] }, 'body.list', 'must have at least 1 item'],
    [{ list: [1, 2, 3] }, 'body.list', 'must have at most 2 items'],
    [{ number: 0 }, 'body.number', 'must be at least 1'],
    [{ map: [] }, 'body.map', 'must be an object'],
    [{ object: 'x' }, 'body.object', 'must be an object'],
    [{ object: {} }, 'body.object.inner', 'is required'],
    [{ object: { inner: null } }, 'body.object.inner', 'must be text'],
    [{ date: 'today' }, 'body.date', 'must be of type date'],
    [{ ruled: 'no' }, 'body.ruled', 'must be yes'],
    [undefined, 'body', 'is required'],
    [null, 'body', 'must be an object'],
  ])('describes the issue of %j as %s %s', (input, path, message) => {
    expect(issuesIn(Anything, input)).toEqual([{ path, message }]);
  });

  test('reports a field as required if its parents are missing too', () => {
    const Ruled = z.object({}).check(z.refine(() => false, { path: ['a', 'b'], error: 'goes with c' }));
    const error = z.object({ a: z.object({ b: z.string() }) }).safeParse({ a: {} }).error;

    expect(issuesIn(Ruled, {})).toEqual([{ path: 'body.a.b', message: 'goes with c' }]);
    expect(issueDetails([{ root: 'body', error, input: null }])).toEqual([
      { path: 'body.a.b', message: 'is required' },
    ]);
  });

  test('leaves a path of 200 characters whole', () => {
    const [detail] = issuesIn(z.record(z.string(), z.string()), { ['x'.repeat(195)]: 1 });

    expect(detail?.path).toBe(`body.${'x'.repeat(195)}`);
  });

  test('keeps the sentence of a rule between fields when the field that it names is absent', () => {
    const Pair = z
      .object({ a: z.optional(z.string()), b: z.string() })
      .check(z.refine(() => false, { path: ['a'], error: 'goes with b' }));

    expect(issuesIn(Pair, { b: 'x' })).toEqual([{ path: 'body.a', message: 'goes with b' }]);
  });

  test('hides the other issues of a value with the wrong type, but not those of its neighbors', () => {
    const Deep = z.object({
      a: z.object({ b: z.array(z.string()).check(z.maxLength(2)), c: z.string().check(z.maxLength(2)) }),
      ab: z.string().check(z.maxLength(2)),
    });

    expect(issuesIn(Deep, { a: { b: 'long', c: 'long' }, ab: 'long' })).toEqual([
      { path: 'body.a.b', message: 'must be a list' },
      { path: 'body.a.c', message: 'must have at most 2 characters' },
      { path: 'body.ab', message: 'must have at most 2 characters' },
    ]);
  });

  test('lists at most 100 details, and counts the rest in the last one', () => {
    const input = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`field${index}`, index]));
    const details = issuesIn(z.record(z.string(), z.string()), input);

    expect(details).toHaveLength(100);
    expect(details[98]).toEqual({ path: 'body.field98', message: 'must be text' });
    expect(details[99]).toEqual({ path: 'body', message: 'has 151 more issues' });
    expect(issuesIn(z.array(z.string()), Array(100).fill(1)).at(-1)?.path).toBe('body.99');
  });

  test('cuts paths and messages to 200 characters', () => {
    const [detail] = issuesIn(z.record(z.string(), z.enum(['x'.repeat(300)])), {
      [`x${'🙂'.repeat(300)}`]: 'no',
    });

    expect(detail?.path.length).toBe(200);
    expect(detail?.path.isWellFormed()).toBe(true);
    expect(detail?.message).toHaveLength(200);
    expect(detail?.message.endsWith('…')).toBe(true);
  });
});
