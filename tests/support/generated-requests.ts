import { fc } from '@node-registry/testing/properties';
import type { ApiDocument, JsonSchema } from './api-document.ts';
import type { EndpointRequest } from './endpoints.ts';
import { endpointNames } from './operation-names.ts';
import { sampleEvent } from './invoke.ts';
import { bearer } from './tokens.ts';

export interface GeneratedRequest extends EndpointRequest {
  name: string;
  text: string;
}

/** Values that have broken services before. JSON.stringify writes each of them; `changes` has the others. */
const known: readonly unknown[] = [
  ...[null, true, false, '', ' ', 'null', [], {}, [[]], [null], [{}], { a: null }, [1, 'a', true]],
  ...[0, -0, -1, 1, 0.1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e308, 5e-324, 1e21],
  ...['\0', 'a\0b', '\u0001\u001f', '\u200b', '\u202e', '\ufeff', '\ufffe', '\uffff', 'e\u0301', '👩‍👩‍👧'],
  ...['constructor', 'toString', 'hasOwnProperty', 'prototype', '#revision', ':one', '{{x}}', '../../..'],
  ...["' OR 1=1 --", '<script>', '%00', '%2e%2e', '\r\nx-header: y'],
  'http://',
  'http://[',
  'https://例え.jp/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://a:b@c/',
  ...['data:text/html,x', 'data:image/png;base64,', '2026-13-45'],
  ...['NodeStatusBanned', 'NodeVersionStatusActive', 'HostNodePolicyBanned', 'HostNodePolicyActive'],
  { constructor: { prototype: { isAdmin: true } } },
  { toJSON: 'x', length: 5, next: null },
];

/** Characters of every plane of Unicode and unassigned code points; rare planes are as likely as Latin letters. */
const character = fc.oneof(
  ...[
    [0x20, 0x7f],
    [0, 0x1f],
    [0x80, 0xd7ff],
    [0xe000, 0xffff],
    [0x1_0000, 0x1_ffff],
    [0x2_0000, 0x3_ffff],
    [0x4_0000, 0xd_ffff],
    [0xe_0000, 0xe_ffff],
    [0xf_0000, 0x10_ffff],
  ].map(([min = 0, max = 0]) => fc.integer({ min, max }).map((point) => String.fromCodePoint(point))),
);

/** fast-check's own `binary` text takes a second to set up. */
const anyText = (maxLength: number) => fc.string({ unit: character, maxLength });

/** An unexpected value of a field, of any depth. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...known) },
  { weight: 1, arbitrary: anyText(30) },
  { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(anyText(6), anyText(6), { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.nat(5000).map((length) => 'x'.repeat(length)) },
);

/** The first one this many times as often as the second. A failure shrinks to the first one if possible. */
function mostly<A, B>(weight: number, usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>): fc.Arbitrary<A | B> {
  return fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

type Schemas = ApiDocument['schemas'];

interface Place {
  path: readonly (string | number)[];
  schema: JsonSchema;
}

const maxPlaceDepth = 4;

/** Each field of a body, at any depth, that the document knows. */
function placesIn(schemas: Schemas, { $ref, ...schema }: JsonSchema, path: Place['path'] = []): Place[] {
  if ($ref) return placesIn(schemas, schemas[$ref.split('/').at(-1) ?? ''] ?? {}, path);
  const own = path.length > 0 ? [{ path, schema }] : [];
  if (path.length === maxPlaceDepth) return own;
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    placesIn(schemas, field, [...path, name]),
  );
  return [...own, ...inner, ...(schema.items ? placesIn(schemas, schema.items, [...path, 0]) : [])];
}

/** Values at both sides of a field's limits. */
function nearValues({ type = 'string', enum: values, ...limits }: JsonSchema): unknown[] {
  const { minimum = -1000, maximum = 1000, maxLength = 40, maxItems = 4 } = limits;
  const long = Math.min(maxLength, 10_000);
  const texts = ['https://example.com/a.png', '1.0', '🙂'.repeat(long), '🙂'.repeat(long + 1)];
  const numbers = [minimum - 1, minimum, minimum + 0.5, maximum, maximum + 1];
  const lists = [[], Array(maxItems).fill('x'), Array(maxItems + 1).fill('x')];
  const ofType: Record<string, unknown[]> = { boolean: [true, false], array: lists, object: [{}, { a: 1 }] };
  return values ?? [type].flat().flatMap((each) => ofType[each] ?? (each === 'string' ? texts : numbers));
}

/** The body with another value at a place, in objects and lists that it lacks until then. */
function withValue(body: unknown, [first, ...rest]: Place['path'], value: unknown): unknown {
  if (first === undefined) return value;
  const holder = Object(body ?? (first === 0 ? [] : {}));
  const inner = withValue(holder[first], rest, value);
  return Array.isArray(holder) ? [inner, ...holder.slice(1)] : { ...holder, [first]: inner };
}

function bodyTexts(document: ApiDocument, name: string): fc.Arbitrary<string> {
  const sample = String(sampleEvent(name).body);
  const change = fc
    .constantFrom(...placesIn(document.schemas, document.bodyOf(name)))
    .chain(({ path, schema }) =>
      mostly(2, fc.constantFrom(...nearValues(schema)), oddValue).map((value) => ({ path, value })),
    );
  const changed = mostly(3, fc.tuple(change), fc.array(change, { minLength: 2, maxLength: 4 })).map((all) =>
    JSON.stringify(all.reduce((body, { path, value }) => withValue(body, path, value), JSON.parse(sample))),
  );
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 1, arbitrary: fc.constant(sample) },
    { weight: 8, arbitrary: changed },
    { weight: 3, arbitrary: damaged(fc.constant(sample)) },
    { weight: 1, arbitrary: damaged(changed) },
  );
}

/** By default the sample's own is sent. */
const authorizations: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { withCrossShrink: true },
  { weight: 35, arbitrary: fc.constant({}) },
  { weight: 8, arbitrary: fc.constant({ authorization: bearer('root', { admin: true }) }) },
  // Broken tokens: tests/lib/auth/access-tokens.test.ts.
  {
    weight: 5,
    arbitrary: fc
      .oneof(fc.constantFrom('', 'Bearer', 'Bearer ', undefined), anyText(40))
      .map((authorization) => ({ authorization })),
  },
);

const headerName = fc.constantFrom(
  ...['content-type', 'idempotency-key', 'if-match', 'x-request-id', 'host', 'user-agent', '__proto__'],
);
const headerValue = fc.oneof(
  fc.constantFrom(
    ...[undefined, '', ' ', '\0', 'a,b', 'application/json', 'application/json,application/json', '*'],
    ...['"1"', 'W/"1"', '"1", "2"', 'k'.repeat(255), 'k'.repeat(256), 'x'.repeat(9000)],
  ),
  anyText(20),
);
const key = fc.constant({ 'idempotency-key': 'generated' });
const others = fc.array(fc.tuple(headerName, headerValue), { minLength: 1, maxLength: 3 });
const sentHeaders = fc
  .tuple(authorizations, mostly(4, fc.constant({}), key), mostly(3, fc.constant([]), others))
  .map(
    ([caller, key, more]): Record<string, unknown> => ({ ...caller, ...key, ...Object.fromEntries(more) }),
  );
const headers = mostly(100, sentHeaders, fc.constant(undefined));

const oddParameter = fc.oneof(
  fc.constantFrom(
    ...['', '.', '..', 'DEMO-node', 'demo_node', 'demo.node', 'constructor', '__proto__', 'x'.repeat(2000)],
    ...['%2F', 'a/b', '\0', '\ud800', '1.0.0', 'v1', '1.0.0+x', '1'.repeat(64), `1.0.0-${'a.'.repeat(28)}a`],
  ),
  anyText(200),
  anyText(260),
  anyText(5),
);

/** A path's parameters, each of them from the sample, odd or missing; or none at all. */
function paths(name: string): fc.Arbitrary<Record<string, unknown> | undefined> {
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [key, value] of Object.entries(sampleEvent(name).pathParameters ?? { extra: 'x' }))
    model[key] = mostly(1, fc.constant(value), oddParameter);
  const whole = fc.record(model);
  return fc.oneof(
    { weight: 7, arbitrary: whole },
    { weight: 2, arbitrary: fc.record(model, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

const maxDepth = 10_000;
const sixMegabytes = 6 * 1024 * 1024;

const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'valuesOf', '', '#f0', 'pk'].map(
  (key) => `"${key}"`,
);
const keyText = fc.constantFrom(...keys, '"\\u005f_proto__"', '"\\ud800"');
const number = fc.constantFrom(
  ...['1e400', '-1e400', '1e-400', '-0', '0.1e1', '9007199254740993', '1'.repeat(400), '01', '1.', '.5'],
  ...['+1', '0x10'],
);
const brackets = fc.constantFrom<[string, string][]>(['[', ']'], ['{"a":', '}'], ['[[', ']]']);
const nested = (depth: fc.Arbitrary<number>) =>
  fc.tuple(brackets, depth).map(([[open, close], count]) => `${open.repeat(count)}1${close.repeat(count)}`);
const surrogate = fc.constantFrom('\ud800', '\udfff', '\udc00\ud800');
const sign = fc.constantFrom('\0', '\u0000', '"', '{', '}', ',', '\\', '\u2028', '\ufeff');

/** Ways to damage the text of a body. No JSON writer would produce most of them. */
const changes: readonly fc.Arbitrary<(text: string) => string>[] = [
  fc.nat().map((at) => (text) => text.slice(0, at % (text.length + 1))),
  fc.tuple(fc.nat(), fc.oneof(sign, surrogate)).map(([at, piece]) => splice(at, piece)),
  fc.constantFrom('d800', 'dfff', '0000', 'zzzz', 'fffe').map((unit) => intoObject(`"a\\u${unit}": 1`)),
  intoValue(fc.constantFrom('d83d', 'de00', '0000', 'ffff').map((unit) => `"\\u${unit}"`)),
  intoValue(nested(fc.integer({ min: 2, max: maxDepth }))),
  intoValue(nested(fc.constant(maxDepth))),
  intoValue(number),
  fc.tuple(keyText, nested(fc.nat(60))).map(([name, value]) => intoObject(`${name}: ${value}`)),
  fc
    .tuple(keyText, fc.constantFrom('{"isAdmin": true}', 'null', '[]', '1'))
    .map(([name, value]) => intoObject(`${name}: ${value}`)),
  fc
    .tuple(keyText, keyText, fc.constantFrom('"x"', '1e400'))
    .map(([a, b, value]) => intoObject(`"translations": {${a}: {${b}: ${value}}}`)),
  fc.boolean().map((isNull) => twice(isNull)),
  fc.constant((text) => `${text}${text}`),
  fc.constant((text) => `\ufeff${text}`),
  fc.constant((text) => `[${text}]`),
  fc
    .constantFrom('', ' ', 'null', '[]', '{}', '0', '"x"', 'NaN', '-', '[', '{"a"')
    .map((other) => () => other),
];

/** These are slow to make and to read, so they are rare. */
const largeChanges: readonly fc.Arbitrary<(text: string) => string>[] = [
  intoValue(fc.constantFrom(400_000, 1_048_577, sixMegabytes - 1000).map((size) => `"${'x'.repeat(size)}"`)),
  intoValue(fc.constantFrom(200_000, 1_048_577).map((size) => `"${'é'.repeat(size)}"`)),
  intoValue(fc.constantFrom(1001, 400_000).map((size) => `[${'0,'.repeat(size)}0]`)),
  intoValue(fc.constantFrom(100_000, 140_000).map((size) => `[${'"",'.repeat(size)}""]`)),
  fc.constant((text) => text + ' '.repeat(sixMegabytes)),
];

function damaged(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const change = mostly(100, fc.oneof(...changes), fc.oneof(...largeChanges));
  return fc.tuple(texts, change).map(([text, apply]) => apply(text));
}

function splice(at: number, piece: string) {
  return (text: string) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + piece + text.slice(place);
  };
}

/** Adds a member before the others, or after them, where it overrides a member of the same name. */
function intoObject(member: string) {
  return (text: string) => {
    const isFirst = text.length % 2 === 0;
    if (text.length < 3) return `{${member}}`;
    return isFirst ? text.replace('{', () => `{${member},`) : text.replace(/\}$/, () => `,${member}}`);
  };
}

/** Replaces one of the values. */
function intoValue(values: fc.Arbitrary<string>): fc.Arbitrary<(text: string) => string> {
  return fc.tuple(fc.nat(), values).map(([at, value]) => (text) => {
    const places = [...text.matchAll(/(?<=":\s?)(?:"(?:[^"\\]|\\.)*"|[\d.]+|true|false|null)/g)];
    const place = places[at % places.length];
    return place ? text.slice(0, place.index) + value + text.slice(place.index + place[0].length) : value;
  });
}

function twice(isNull: boolean) {
  return (text: string) => {
    const [member] = /"\w+":\s?(?:"[^"\\]*"|[\d.]+|true|false|null)/.exec(text) ?? ['"a":1'];
    return intoObject(isNull ? member.replace(/:.*/s, ': null') : member)(text);
  };
}

/** Requests: most have one error, some have several, and some are valid. */
export function generatedRequests(document: ApiDocument): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof(
    ...endpointNames.map((name) =>
      fc
        .record({
          text: bodyTexts(document, name),
          encoding: mostly(14, fc.constant('none'), fc.constantFrom('base64', 'only said to be base64')),
          headers,
          path: mostly(3, fc.constant<'sample'>('sample'), paths(name)),
        })
        .map(({ text, encoding, headers, path }) => ({
          name,
          text: encoding === 'base64' ? Buffer.from(text).toString('base64') : text,
          isBase64Encoded: encoding !== 'none',
          headers,
          ...(path !== 'sample' && { path }),
        })),
    ),
  );
}
