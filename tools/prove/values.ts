import type { SeededRandom } from './seeded-random.ts';

/** Values that have broken services before. JSON.stringify writes each of them; see fuzz-texts.ts for the others. */
const oddValues: readonly unknown[] = [
  ...[null, true, false, '', ' ', 'null', [], {}, [[]], [null], [{}], { a: null }, [1, 'a', true]],
  ...[0, -0, -1, 1, 0.1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e308, 5e-324, 1e21],
  ...[
    '\0',
    'a\0b',
    '\u0001\u001f',
    '\u200b',
    '\u202e',
    '\ufeff',
    '\ufffe',
    '\uffff',
    'é',
    'e\u0301',
    '🙂',
    '👩‍👩‍👧',
  ],
  ...['constructor', 'toString', 'hasOwnProperty', 'prototype', '#revision', ':one', '{{x}}', '../../..'],
  ...[
    "' OR 1=1 --",
    '<script>',
    '%00',
    '%2e%2e',
    '\r\nx-header: y',
    'http://',
    'http://[',
    'https://例え.jp/',
  ],
  ...[
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'data:image/png;base64,',
    'https://a:b@c/',
  ],
  ...[
    '2026-13-45',
    'NodeStatusBanned',
    'NodeVersionStatusActive',
    'HostNodePolicyBanned',
    'HostNodePolicyActive',
  ],
  { constructor: { prototype: { isAdmin: true } } },
  { toJSON: 'x', length: 5, next: null },
];

/** The planes of Unicode in which there are characters, and one each where there are none. */
const codePoints: readonly [first: number, count: number][] = [
  [0x20, 0x60],
  [0, 0x20],
  [0x80, 0xd780],
  [0xe000, 0x2000],
  [0x1_0000, 0x1_0000],
  [0x2_0000, 0x2_0000],
  [0x4_0000, 0xa_0000],
  [0xe_0000, 0x1_0000],
  [0xf_0000, 0x2_0000],
];

export function randomText(random: SeededRandom, longest: number): string {
  let text = '';
  for (let left = random.below(longest + 1); left > 0; left -= 1) {
    const [first, count] = random.pick(codePoints);
    text += String.fromCodePoint(first + random.below(count));
  }
  return text;
}

export function randomValue(random: SeededRandom, name = 'field', depth = 0): unknown {
  const kind = random.below(depth < 3 ? 8 : 5);
  if (kind <= 2) return random.pick(oddValues);
  if (kind === 3) return randomText(random, 30);
  if (kind === 4)
    return random.isOnceIn(2) ? random.below(1_000_000) - 500_000 : random.below(1_000_000) / 997;
  const inner = () => randomValue(random, name, depth + 1);
  if (kind === 5) return Array.from({ length: random.below(4) }, inner);
  if (kind === 6) return { [name]: inner(), [randomText(random, 6)]: inner() };
  return random.pick(['x'.repeat(random.below(5000)), [name, name], { id: name, status: inner() }]);
}
