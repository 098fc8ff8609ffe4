import { describe, expect, test } from '@jest/globals';
import { Timestamp } from 'registry-rules/schemas/fields';

describe('a time in an answer', () => {
  test.each([
    ['2026-11-21T10:52:09Z'],
    ['2026-11-21T10:52:09.1Z'],
    ['2026-11-21T10:52:09.123456+01:30'],
    ['2026-11-21T10:52:09-11:00'],
  ])('accepts %s', (time) => {
    expect(Timestamp.safeParse(time).success).toBe(true);
  });

  test.each(
    [
      'x2026-11-21T10:52:09Z 2026-11-21T10:52:09Zx 2026-11-21T10:52:09 2026-11-21T10:52:09.Z',
      '2026-11-21T10:52:09.xZ 2026-11-21T10:52:09+1:00 2026-11-21T10:52:09+01:0 2026-11-21T10:52:09+xx:00',
      '2026-11-21T10:52:09+01:xx 2026-11-21T10:52:09x01:00 202-11-21T10:52:09Z xxxx-11-21T10:52:09Z',
      '2026-xx-21T10:52:09Z 2026-11-xxT10:52:09Z 2026-11-21Txx:52:09Z 2026-11-21T10:xx:09Z',
      '2026-11-21T10:52:xxZ',
    ].flatMap((times) => times.split(' ')),
  )('rejects %s', (time) => {
    expect(Timestamp.safeParse(time).success).toBe(false);
  });
});
