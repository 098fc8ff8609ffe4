import { expect, test } from '@jest/globals';
import { Timestamp } from '@node-registry/registry-rules/schemas/fields';

test.each([
  [
    'accepts',
    '2026-11-21T10:52:09Z 2026-11-21T10:52:09.1Z 2026-11-21T10:52:09.123456+01:30 2026-11-21T10:52:09-11:00',
  ],
  ['rejects', 'x2026-11-21T10:52:09Z 2026-11-21T10:52:09Zx 2026-11-21T10:52:09 2026-11-21T10:52:09.Z'],
  [
    'rejects',
    '2026-11-21T10:52:09.xZ 2026-11-21T10:52:09+1:00 2026-11-21T10:52:09+01:0 2026-11-21T10:52:09+xx:00',
  ],
  ['rejects', '2026-11-21T10:52:09+01:xx 2026-11-21T10:52:09x01:00 202-11-21T10:52:09Z xxxx-11-21T10:52:09Z'],
  ['rejects', '2026-xx-21T10:52:09Z 2026-11-xxT10:52:09Z 2026-11-21Txx:52:09Z 2026-11-21T10:52:xxZ'],
])('%s as a time in an answer: %s', (verb, times) => {
  for (const time of times.split(' '))
    expect([time, Timestamp.safeParse(time).success]).toEqual([time, verb === 'accepts']);
});
