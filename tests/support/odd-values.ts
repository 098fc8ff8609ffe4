import { fc } from 'testing/properties';

/** Values that have broken services before. JSON.stringify writes each of them; damaged-texts.ts has the others. */
const known: readonly unknown[] = [
  ...[null, true, false, '', ' ', 'null', [], {}, [[]], [null], [{}], { a: null }, [1, 'a', true]],
  ...[0, -0, -1, 1, 0.1, 1.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e308, 5e-324, 1e21],
  ...['\0', 'a\0b', '\u0001\u001f', '\u200b', '\u202e', '\ufeff', '\ufffe', '\uffff', 'e\u0301', '👩‍👩‍👧'],
  ...['constructor', 'toString', 'hasOwnProperty', 'prototype', '#revision', ':one', '{{x}}', '../../..'],
  ...["' OR 1=1 --", '<script>', '%00', '%2e%2e', '\r\nx-header: y'],
  ...[
    'http://',
    'http://[',
    'https://例え.jp/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://a:b@c/',
  ],
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
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...known) },
  { weight: 1, arbitrary: anyText(30) },
  { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(anyText(6), anyText(6), { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.nat(5000).map((length) => 'x'.repeat(length)) },
);
