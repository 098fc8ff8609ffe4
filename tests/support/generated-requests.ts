import { fc } from '@node-registry/testing/properties';
import type { ApiDocument, JsonSchema } from './api-document.ts';
import type { EndpointRequest } from './endpoints.ts';
import { sampleEvent } from './invoke.ts';
import { endpointNames } from './operation-names.ts';
import { bearer } from './tokens.ts';

export interface GeneratedRequest extends EndpointRequest {
  name: string;
  text: string;
}

/** Characters of every plane of Unicode; rare planes are as likely as Latin letters. */
const character = fc.oneof(
  ...[
    [0x20, 0x7f],
    [0, 0x1f],
    [0x80, 0xd7ff],
    [0xe000, 0xffff],
    [0x1_0000, 0xd_ffff],
    [0xe_0000, 0x10_ffff],
  ].map(([min = 0, max = 0]) => fc.integer({ min, max }).map((point) => String.fromCodePoint(point))),
);

/** fast-check's own `binary` text takes a second to set up. */
const anyText = (maxLength: number) => fc.string({ unit: character, maxLength });

/** Values that have broken services before. JSON.stringify writes each of them. */
const known: readonly unknown[] = [
  ...[null, true, '', ' ', 'null', [], {}, [[]], [null], [{}], { a: null }, [1, 'a', true]],
  ...[0, -1, 1.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e308, 5e-324],
  ...['\0', 'a\0b', '\u200b', '\u202e', '\ufeff', '\uffff', 'e\u0301', '👩‍👩‍👧'],
  ...['constructor', '#revision', ':one', '../../..', '<script>', '%00', '\r\nx-header: y'],
  ...['http://', 'http://[', 'javascript:alert(1)', 'https://a:b@c/', 'data:text/html,x', '2026-13-45'],
  ...['NodeStatusBanned', 'NodeVersionStatusActive', 'HostNodePolicyBanned', 'nightly', 'v2', '1.0.0+b'],
  { constructor: { prototype: { isAdmin: true } } },
  { toJSON: 'x', length: 5, next: null },
];
const oddValue = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...known) },
  { weight: 1, arbitrary: anyText(30) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** A field of a body, and values on both sides of each edge of its schema. */
interface Field {
  path: string[];
  edges: unknown[];
}

function fieldsIn(schemas: ApiDocument['schemas'], schema: JsonSchema, path: string[] = []): Field[] {
  const { $ref, properties = {}, items } = schema;
  if ($ref) return fieldsIn(schemas, schemas[$ref.split('/').at(-1) ?? ''] ?? {}, path);
  const below = { ...properties, ...(items && { 0: items }) };
  return [
    { path, edges: edgesOf(schema) },
    ...Object.entries(below).flatMap(([name, inner]) => fieldsIn(schemas, inner, [...path, name])),
  ];
}

function edgesOf({ type = [], enum: words = [], ...schema }: JsonSchema): unknown[] {
  const types = [type].flat();
  const { minimum = -1000, maximum = 1000, minItems = 0, maxItems = 4, maxLength = 40 } = schema;
  return [
    ...words,
    ...(types.includes('boolean') ? [true, false] : []),
    ...(types.some((each) => /integer|number/.test(each))
      ? [minimum - 1, minimum, minimum + 0.5, maximum, maximum + 1]
      : []),
    ...(types.includes('array') ? [minItems - 1, minItems, maxItems, maxItems + 1].flatMap(listsOf) : []),
    // Texts of megabytes: tests/contract/proxies.test.ts.
    ...(types.includes('string') && maxLength < 10_000
      ? [maxLength, maxLength + 1].map((length) => '🙂'.repeat(length))
      : []),
    ...(types.includes('object') ? [{}, { fr: { any: 1 } }] : []),
  ];
}

function listsOf(length: number): unknown[] {
  return length < 0 ? [] : ['x', {}].map((item) => Array(length).fill(item));
}

/** A body with another value at a path, whose objects and lists are made if they are missing. */
function withValue(body: unknown, [name, ...below]: string[], value: unknown): unknown {
  if (name === undefined) return value;
  const holder = Object(body ?? (name === '0' ? [] : {}));
  const inner = withValue(holder[name], below, value);
  return Array.isArray(holder) ? [inner, ...holder.slice(1)] : { ...holder, [name]: inner };
}

/** The sample with one other value, which no other error hides, or with several; or something else. */
function bodies(document: ApiDocument, name: string): fc.Arbitrary<unknown> {
  const sample = JSON.parse(String(sampleEvent(name).body));
  const fields = fieldsIn(document.schemas, document.bodyOf(name));
  const change = fc
    .constantFrom(...fields)
    .chain(({ path, edges }) =>
      fc.tuple(fc.constant(path), mostly(1, fc.constantFrom(null, ...edges), oddValue)),
    );
  const extra = fc.tuple(fc.array(anyText(10), { minLength: 1, maxLength: 1 }), oddValue);
  const changes = mostly(3, fc.tuple(mostly(9, change, extra)), fc.array(change, { maxLength: 4 }));
  return changes.map((all) => all.reduce((body, [path, value]) => withValue(body, path, value), sample));
}

/** The first one this many times as often as the second. A failure shrinks to the first one if possible. */
function mostly<A, B>(weight: number, usual: fc.Arbitrary<A>, odd: fc.Arbitrary<B>): fc.Arbitrary<A | B> {
  return fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

const nested = [2, 400, 501, 10_000].flatMap((depth) =>
  [
    ['[', ']'],
    ['{"a":', '}'],
  ].map(([open = '', close = '']) => `${open.repeat(depth)}1${close.repeat(depth)}`),
);
/** What no JSON writer would produce. */
const rawValues = [
  ...['1e400', '1e-400', '-0', '9007199254740993', '1'.repeat(400), '01', '1.', '+1', '0x10', 'NaN'],
  ...['d83d', 'de00', '0000', 'ffff', 'zzzz'].map((unit) => `"\\u${unit}"`),
  ...nested,
];
const rawKeys = ['__proto__', 'constructor', 'toString', '', '#f0', 'pk', '\\u005f_proto__', '\\ud800'];
const rawMembers = fc
  .tuple(
    fc.constantFrom(...rawKeys, 'translations'),
    fc.constantFrom('{"isAdmin": true}', 'null', '[]', '{"\\udfff": 1}', '{"__proto__": 1e400}'),
  )
  .map(([key, value]) => `"${key}": ${value}`);
const pieces = ['\ud800', '\udc00\ud800', '\0', '"', '{', '}', ',', '\\', '\u2028', '\ufeff'];
const sixMegabytes = 6 * 1024 * 1024;

type Damage = (text: string) => string;

/** Ways to damage the text of a body. */
const damages = fc.oneof<fc.Arbitrary<Damage>[]>(
  fc.nat().map((at) => (text) => text.slice(0, at % (text.length + 1))),
  fc.tuple(fc.nat(), fc.constantFrom(...pieces)).map(([at, piece]) => (text) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + piece + text.slice(place);
  }),
  fc.tuple(fc.nat(), fc.constantFrom(...rawValues)).map(([at, value]) => (text) => {
    const places = [...text.matchAll(/(?<=":\s?)(?:"(?:[^"\\]|\\.)*"|[\d.]+|true|false|null)/g)];
    const { 0: old = '', index = 0 } = places[at % places.length] ?? {};
    return text.slice(0, index) + value + text.slice(index + old.length);
  }),
  // Before the others, or after them, where it overrides a member of the same name.
  rawMembers.map((member) => (text) => text.replace('{', () => `{${member},`)),
  rawMembers.map((member) => (text) => text.replace(/\}$/, () => `,${member}}`)),
  fc.constantFrom<Damage[]>(
    (text) => `${text}${text}`,
    (text) => `\ufeff${text}`,
    (text) => `[${text}]`,
    () => '',
    (text) => text + ' '.repeat(sixMegabytes - text.length),
    (text) => text + ' '.repeat(sixMegabytes),
  ),
);

/** By default the sample's own is sent. Broken tokens: tests/lib/auth/access-tokens.test.ts. */
const callers = mostly(
  4,
  fc.constant({}),
  fc
    .constantFrom(bearer('root', { admin: true }), '', 'Bearer ', undefined)
    .map((authorization) => ({ authorization })),
);
const headerNames = ['content-type', 'if-match', 'x-request-id', 'host', '__proto__'];
const headerValues = fc.oneof(
  fc.constantFrom(undefined, '', ' ', '\0', 'application/json', '*', '"1"', 'W/"1"', 'x'.repeat(9000)),
  anyText(20),
);
const headers = fc
  .tuple(
    callers,
    mostly(4, fc.constant({}), fc.constant({ 'idempotency-key': 'generated' })),
    mostly(
      3,
      fc.constant({}),
      fc.tuple(fc.constantFrom(...headerNames), headerValues).map((one) => Object.fromEntries([one])),
    ),
  )
  .map((parts): Record<string, unknown> => Object.assign({}, ...parts));

const oddParameter = fc.oneof(
  fc.constantFrom(
    ...['', '.', '..', 'DEMO-node', 'demo_node', 'constructor', '__proto__', 'x'.repeat(2000)],
    ...['%2F', 'a/b', '\0', '\ud800', 'v1', '1.0.0+x', '1'.repeat(64), undefined],
  ),
  anyText(260),
);

/** A path's parameters, each of them from the sample, odd or missing; or none at all. */
function paths(name: string): fc.Arbitrary<Record<string, unknown> | undefined> {
  const sample = Object.entries(sampleEvent(name).pathParameters ?? { extra: 'x' });
  const each = sample.map(([key, value]) => [key, mostly(1, fc.constant(value), oddParameter)]);
  return mostly(9, fc.record(Object.fromEntries(each)), fc.constant(undefined));
}

/** Requests: most have one error, some have several, and some are valid. */
export function generatedRequests(document: ApiDocument): fc.Arbitrary<GeneratedRequest> {
  const requests = endpointNames.map((name) =>
    fc
      .record({
        text: fc
          .tuple(bodies(document, name), mostly(3, fc.constant(undefined), damages))
          .map(([body, damage]) => (damage ? damage(JSON.stringify(body)) : JSON.stringify(body))),
        encoding: mostly(14, fc.constant('none'), fc.constantFrom('base64', 'only said to be base64')),
        headers: mostly(100, headers, fc.constant(undefined)),
        path: mostly(3, fc.constant<'sample'>('sample'), paths(name)),
      })
      .map(({ text, encoding, headers, path }) => ({
        name,
        text: encoding === 'base64' ? Buffer.from(text).toString('base64') : text,
        isBase64Encoded: encoding !== 'none',
        headers,
        ...(path !== 'sample' && { path }),
      })),
  );
  return fc.oneof(...requests);
}
