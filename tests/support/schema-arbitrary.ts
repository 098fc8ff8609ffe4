import { fc } from '@node-registry/testing/properties';

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  format?: string;
}

/** Values that have broken services before. JSON.stringify writes each of them; generated-requests.ts has the others. */
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
export const anyText = (maxLength: number) => fc.string({ unit: character, maxLength });

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
export function mostly<A, B>(
  weight: number,
  usual: fc.Arbitrary<A>,
  odd: fc.Arbitrary<B>,
): fc.Arbitrary<A | B> {
  return fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

type Schemas = Record<string, JsonSchema>;

/** Generates values of a schema of the API document; with `isOdd`, sometimes almost valid ones, at any depth. */
export function schemaValues(schemas: Schemas, isOdd: boolean) {
  const valuesOf = (schema: JsonSchema, name = 'value'): fc.Arbitrary<unknown> =>
    isOdd ? mostly(14, exactly(schema, name), oddValue) : exactly(schema, name);

  function exactly(schema: JsonSchema, name: string): fc.Arbitrary<unknown> {
    if (schema.$ref) return exactly(namedIn(schemas, schema.$ref), name);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((choice) => exactly(choice, name)));
    const types = [schema.type ?? 'string'].flat();
    return fc.oneof(...types.map((type) => typed(type, schema, name)));
  }

  function typed(type: string, schema: JsonSchema, name: string): fc.Arbitrary<unknown> {
    if (type === 'object') return objects(schema);
    if (type === 'array') return lists(schema, name);
    if (type === 'integer' || type === 'number') return numbers(schema, type);
    if (type === 'boolean') return fc.boolean();
    return type === 'null' ? fc.constant(null) : texts(schema, name);
  }

  function objects({
    properties = {},
    required = [],
    additionalProperties,
  }: JsonSchema): fc.Arbitrary<object> {
    const model: Record<string, fc.Arbitrary<unknown>> = {};
    for (const [name, schema] of Object.entries(properties)) model[name] = valuesOf(schema, name);
    if (typeof additionalProperties === 'object') model.de = valuesOf(additionalProperties, 'de');
    const whole = fc.record(model, { requiredKeys: required.filter((name) => name in model) });
    const extra = fc
      .tuple(whole, anyText(10), oddValue)
      .map(([object, key, value]) => ({ ...object, [key]: value }));
    return mostly(14, whole, mostly(2, extra, fc.record(model, { requiredKeys: [] })));
  }

  function lists({ items = {}, minItems = 0, maxItems = 4 }: JsonSchema, name: string) {
    const item = valuesOf(items, name);
    const short = fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) });
    // One item too many, all with one value, because a list may have a thousand items.
    const long = item.map((value) => Array.from({ length: maxItems + 1 }, () => value));
    return mostly(29, short, long);
  }

  return valuesOf;
}

/** For each field of an object, its name and its schema. */
export function fieldsOf(schemas: Schemas, { $ref, properties = {} }: JsonSchema): [string, JsonSchema][] {
  return $ref ? fieldsOf(schemas, namedIn(schemas, $ref)) : Object.entries(properties);
}

function namedIn(schemas: Schemas, $ref: string): JsonSchema {
  return schemas[$ref.split('/').at(-1) ?? ''] ?? {};
}

function numbers({ minimum = -1000, maximum = 1000 }: JsonSchema, type: string): fc.Arbitrary<number> {
  const whole = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000_000) });
  const edges = fc.constantFrom(minimum - 1, maximum + 1, minimum, maximum);
  const halves = fc.tuple(whole, fc.constantFrom(0, 0.5)).map(([value, more]) => value + more);
  return mostly(2, type === 'number' ? halves : whole, edges);
}

const images = ['iVBOR/w0K+Ggo=', 'https://example.com/a.png', 'data:image/png;base64,AA=='];
const versions = ['1.0.0', '1.1', 'v2', '3.0.0-rc.1', '0.0.1+b', 'nightly', '1'.repeat(70)];

function texts({ format, maxLength }: JsonSchema, name: string): fc.Arbitrary<string> {
  if (format === 'uri') return fc.constantFrom('https://example.com/a.png', 'http://localhost:1/?x=y#z', '');
  if (format === 'date-time') return fc.constant('2026-11-20T12:00:00.000Z');
  if (name === 'version') return fc.constantFrom(...versions);
  if (/image|lightmap/.test(name)) return fc.constantFrom(...images);
  if (maxLength === undefined) return anyText(40);
  const longest = fc.nat(1).map((more) => '🙂'.repeat(maxLength + more));
  return mostly(maxLength > 10_000 ? 59 : 14, anyText(40), longest);
}
