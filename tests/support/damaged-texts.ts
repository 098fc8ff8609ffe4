import { fc } from 'testing/properties';

const maxDepth = 10_000;
const sixMegabytes = 6 * 1024 * 1024;

const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', '', '#f0', 'pk'].map(
  (key) => `"${key}"`,
);
const key = fc.constantFrom(...keys, '"\\u005f_proto__"', '"\\ud800"');
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
  fc.tuple(key, nested(fc.nat(60))).map(([name, value]) => intoObject(`${name}: ${value}`)),
  fc
    .tuple(key, fc.constantFrom('{"isAdmin": true}', 'null', '[]', '1'))
    .map(([name, value]) => intoObject(`${name}: ${value}`)),
  fc
    .tuple(key, key, fc.constantFrom('"x"', '1e400'))
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

export function damaged(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const change = fc.oneof(
    { weight: 100, arbitrary: fc.oneof(...changes) },
    { weight: 1, arbitrary: fc.oneof(...largeChanges) },
  );
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
