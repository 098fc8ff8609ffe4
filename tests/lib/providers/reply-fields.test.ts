import { describe, expect, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import {
  readCreatedAt,
  readCredits,
  readFields,
  readRetryAfter,
  readTaskId,
} from '../../../lib/providers/reply.ts';
import { MultiframeVideoReply } from '../../../lib/contracts/multiframe-video.ts';

test('keeps of a list what is set, and the set fields of an entry', () => {
  const image_settings = [
    { key_image: 'a', duration: 0, prompt: '' },
    null,
    { key_image: null, duration: 2.5, prompt: 'Sail on' },
  ];

  expect(readFields(MultiframeVideoReply.shape, { image_settings })).toStrictEqual({
    image_settings: [{ key_image: 'a' }, { duration: 2.5, prompt: 'Sail on' }],
  });
});

test('reads a task id of 1 to 1,024 printable characters, or a whole number', () => {
  for (const id of ['task-1', 7, 'a'.repeat(1024), '5f3c/a b', 'tâche'])
    expect(readTaskId(id)).toBe(String(id));
  const texts = ['a'.repeat(1025), '', ' ', 'task\n1', 'task\u0000', 'task\ud800'];
  for (const other of [...texts, null, undefined, true, { id: 'task-1' }])
    expect([other, readTaskId(other)]).toEqual([other, undefined]);
});

test.each([
  [0, 0],
  [12, 12],
  [12.000_001, 13],
  ['12', 12],
  ['12.25', 13],
  [' 7\n', 7],
  ...['8e0', '.8E+1', '+8.', '80e-1'].map((value) => [value, 8]),
  [2 ** 31, 2 ** 31],
  [2 ** 53 - 1, 2 ** 53 - 1],
  ...[2 ** 53, -1, -0.0001, '', 'e3', '0x8', '1,5', '.', '12 credits', null, undefined, true, [12]].map(
    (value) => [value, undefined],
  ),
])('reads the credits from %j as %j', (value, credits) => {
  expect(readCredits(value)).toBe(credits);
});

describe('the creation time of a provider reply', () => {
  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.1Z', '2026-01-02T03:04:05.1Z'],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
    ['2026-01-02T03:04:05.25-09:30', '2026-01-02T03:04:05.25-09:30'],
  ])('reads the creation time from %j as %j', (value, time) => {
    expect(readCreatedAt(value)).toBe(time);
  });

  test('is the current one if the provider says none', () => {
    stopDate();
    const said =
      '2026-01-02|2026-01-02T03:04:05|2026-13-45T03:04:05Z|at 2026-01-02T03:04:05Z|2026-01-02T03:04:05Z or so';
    for (const value of [undefined, '', 1767323045, ...said.split('|')])
      expect([value, readCreatedAt(value)]).toEqual([value, new Date().toISOString()]);
  });
});

describe('the Retry-After of a provider', () => {
  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Thu Jan  1 00:00:00 1970', 0],
  ])('reads %j', (header, milliseconds) => {
    expect(readRetryAfter(header)).toBe(milliseconds);
  });

  test.each([
    undefined,
    ...'|-1|1.5|soon|1e9|99999999999|Xyz, 99 Foo|on Thu, 01 Jan 1970 00:00:00 GMT'.split('|'),
  ])('ignores %j', (header) => {
    expect(readRetryAfter(header)).toBeUndefined();
  });

  test('reads a date as the time until then', () => {
    stopDate(Date.UTC(2026, 0, 1));

    expect(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT')).toBe(60_000);
  });
});
