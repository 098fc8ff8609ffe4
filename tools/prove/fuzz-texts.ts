import type { SeededRandom } from './seeded-random.ts';

type Damage = (text: string, random: SeededRandom) => string;

const deepest = 10_000;
const sixMegabytes = 6 * 1024 * 1024;

/** Ways to damage a body as it is sent, most of which no JSON writer would produce. */
const damages: readonly Damage[] = [
  (text, random) => text.slice(0, random.below(text.length + 1)),
  (text, random) =>
    splice(text, random, random.pick(['\0', '\u0000', '"', '{', '}', ',', '\\', '\u2028', '\ufeff'])),
  (text, random) => splice(text, random, random.pick(['\ud800', '\udfff', '\udc00\ud800'])),
  (text, random) => intoObject(text, `"a\\u${random.pick(['d800', 'dfff', '0000', 'zzzz', 'fffe'])}": 1`),
  (text, random) => intoValue(text, random, `"\\u${random.pick(['d83d', 'de00', '0000', 'ffff'])}"`),
  (text, random) => intoValue(text, random, nested(random, 2 + random.below(deepest))),
  (text, random) => intoValue(text, random, nested(random, deepest)),
  (text, random) => intoObject(text, `${random.pick(keys)}: ${nested(random, random.below(60))}`),
  (text, random) => intoValue(text, random, random.pick(numbers)),
  (text, random) =>
    intoObject(text, `${random.pick(keys)}: ${random.pick(['{"isAdmin": true}', 'null', '[]', '1'])}`),
  (text, random) => intoObject(text, `"translations": {${random.pick(keys)}: {${random.pick(keys)}: 1e400}}`),
  (text, random) => twice(text, random),
  (text) => `${text}${text}`,
  (text) => `\ufeff${text}`,
  (text, random) =>
    random.pick(['', ' ', 'null', '[]', '{}', '0', '"x"', 'NaN', '-', '[', '{"a"', `[${text}]`]),
];

/** These take long to make and to read, so they come seldom. */
const largeDamages: readonly Damage[] = [
  (text, random) =>
    intoValue(text, random, `"${'x'.repeat(random.pick([400_000, 1_048_577, sixMegabytes - 1000]))}"`),
  (text, random) => intoValue(text, random, `"${'é'.repeat(random.pick([200_000, 1_048_577]))}"`),
  (text, random) => intoValue(text, random, `[${'0,'.repeat(random.pick([1001, 400_000]))}0]`),
  (text, random) => intoValue(text, random, `[${'"",'.repeat(random.pick([100_000, 140_000]))}""]`),
  (text) => text + ' '.repeat(sixMegabytes),
];

const keys = [
  '"__proto__"',
  '"\\u005f_proto__"',
  '"constructor"',
  '"prototype"',
  '"toString"',
  '"valueOf"',
  '""',
  '"#f0"',
  '"pk"',
];
const numbers = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '0.1e1',
  '9007199254740993',
  '1'.repeat(400),
  '01',
  '1.',
  '.5',
  '+1',
  '0x10',
];

export function damage(text: string, random: SeededRandom): string {
  return random.pick(random.isOnceIn(100) ? largeDamages : damages)(text, random);
}

function splice(text: string, random: SeededRandom, piece: string): string {
  const at = random.below(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at);
}

/** Adds a member in front of the others, or behind them, where it wins over one of the same name. */
function intoObject(text: string, member: string): string {
  const isFirst = text.length % 2 === 0;
  if (text.length < 3) return `{${member}}`;
  return isFirst ? text.replace('{', () => `{${member},`) : text.replace(/\}$/, () => `,${member}}`);
}

/** Puts something else in the place of one of the values. */
function intoValue(text: string, random: SeededRandom, value: string): string {
  const places = [...text.matchAll(/(?<=":\s?)(?:"(?:[^"\\]|\\.)*"|[\d.]+|true|false|null)/g)];
  if (places.length === 0) return value;
  const { index, 0: old } = random.pick(places);
  return text.slice(0, index) + value + text.slice(index + old.length);
}

function twice(text: string, random: SeededRandom): string {
  const [member] = /"\w+":\s?(?:"[^"\\]*"|[\d.]+|true|false|null)/.exec(text) ?? ['"a":1'];
  return intoObject(text, random.isOnceIn(2) ? member : member.replace(/:.*/s, ': null'));
}

function nested(random: SeededRandom, depth: number): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[[', ']]'],
  ] as const);
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}
