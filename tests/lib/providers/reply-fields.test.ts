import { describe, expect, test } from '@jest/globals';
import { stopDate } from 'testing/clock';
import {
  idCandidates,
  readCreatedAt,
  readCredits,
  readFields,
  readRetryAfter,
  readTaskId,
} from '../../../lib/providers/reply.ts';
import { MultiframeVideoReply } from '../../../lib/contracts/multiframe-video.ts';
import { TextToVideoReply } from '../../../lib/contracts/text-to-video.ts';

describe('the fields of a provider reply', () => {
  test('keeps fields of the type of the interface', () => {
    const reply = { prompt: 'A boat', seed: -1, bgm: false, images: ['a', 'b'] };

    expect(readFields(TextToVideoReply.shape, reply)).toEqual(reply);
  });

  test.each([[''], [0], [null], [undefined], [[]], [['']], [[null, 0, '']]])(
    'leaves out %j, which means unset',
    (unset) => {
      const named = { prompt: unset, seed: unset, images: unset };

      expect(Object.keys(readFields(TextToVideoReply.shape, named))).toEqual([]);
    },
  );

  test('keeps a 0 that was sent', () => {
    const image_settings = [{ duration: 0 }, { duration: 0 }];

    expect(readFields(TextToVideoReply.shape, { seed: 0, duration: 0 }, { seed: 0 })).toEqual({ seed: 0 });
    expect(
      readFields(MultiframeVideoReply.shape, { image_settings }, { image_settings: [{ duration: 0 }, {}] }),
    ).toEqual({ image_settings: [{ duration: 0 }, {}] });
  });

  test('leaves out unknown fields and fields of another type', () => {
    const reply = { duration: '5', bgm: 1, prompt: {}, seed: 1.5, images: 'a', elsewhere: 'x' };

    expect(Object.keys(readFields(TextToVideoReply.shape, { ...reply, style: 'anime' }))).toEqual(['style']);
  });

  test('keep only the set entries of a list, and the set fields of an entry', () => {
    const image_settings = [
      { key_image: 'a', duration: 0, prompt: '' },
      null,
      { key_image: null, duration: 2.5, prompt: 'Sail on' },
    ];

    expect(readFields(TextToVideoReply.shape, { images: ['', 'a', null] })).toEqual({ images: ['a'] });
    expect(readFields(MultiframeVideoReply.shape, { image_settings })).toStrictEqual({
      image_settings: [{ key_image: 'a' }, { duration: 2.5, prompt: 'Sail on' }],
    });
  });
});

describe('the task id of a provider reply', () => {
  test.each([
    ['task-1', 'task-1'],
    [7, '7'],
    ['5f3c/a b', undefined],
    ['a'.repeat(256), 'a'.repeat(256)],
    ['a'.repeat(257), undefined],
    ['a'.repeat(10_000), undefined],
    ['', undefined],
    [' ', undefined],
    ['task\n1', undefined],
    ['task\u0000', undefined],
    ['tâche', undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [{ id: 'task-1' }, undefined],
  ])('reads the task id from %j as %j', (value, id) => {
    expect(readTaskId(value)).toBe(id);
  });
});

describe('the credits of a provider reply', () => {
  test.each([
    [0, 0],
    [12, 12],
    [12.000_001, 13],
    ['12', 12],
    ['12.25', 13],
    [' 7\n', 7],
    [2 ** 53 - 1, 2 ** 53 - 1],
    [2 ** 53, undefined],
    [-1, undefined],
    ['', undefined],
    ['1e3', undefined],
    ['12 credits', undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [-0.0001, undefined],
    [2 ** 31, 2 ** 31],
    [[12], undefined],
  ])('reads the credits from %j as %j', (value, credits) => {
    expect(readCredits(value)).toBe(credits);
  });
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

  test.each([
    [undefined],
    [''],
    [1767323045],
    ['2026-01-02'],
    ['2026-01-02T03:04:05'],
    ['2026-13-45T03:04:05Z'],
    ['at 2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05Z or so'],
  ])('takes the current time if the provider says %j', (value) => {
    const before = Date.now();
    const time = readCreatedAt(value);

    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
  });
});

describe('the ID of a task', () => {
  test.each([
    ['a field id', { id: '77' }, {}, { 'body.id': '77' }],
    ['a list', { tasks: [{ taskId: 'a-1' }] }, {}, { 'body.tasks.0.taskId': 'a-1' }],
    ['a nested number', { result: { task: { uuid: 12 } } }, {}, { 'body.result.task.uuid': '12' }],
    ['the fourth level', { a: { b: { c: { id: 'x' } } } }, {}, { 'body.a.b.c.id': 'x' }],
    ['a header', {}, { 'x-task-id': 'b.2' }, { 'headers.x-task-id': 'b.2' }],
  ])('finds an id in %s', (_, content, headers, expected) => {
    expect(idCandidates(content, headers)).toEqual(expected);
  });

  test.each([
    ['a prompt', { prompt: 'a secret plan' }],
    ['a ticket of ours', { callback_id: 'x'.repeat(43) }],
    ['a name that only ends so', { valid: 'yes', paid: '1' }],
    ['a name that only begins so', { id_card: '1', identity: 'x' }],
    ['a name that is cut before it says so', { [`${'long_'.repeat(10)}id`]: '1' }],
    ['a text with blanks', { id: 'not an id' }],
    ['a value that is not text', { id: true, uuid: null }],
  ])('finds no id in %s', (_, content) => {
    expect(idCandidates(content, {})).toEqual({});
  });

  test('bounds the candidates, however many there are and however deep they lie', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`n${index}_id`, 'x']));
    const deep = { a: { b: { c: { d: { e: { id: 'x' } } } } } };

    expect(Object.keys(idCandidates(many, {}))).toHaveLength(10);
    expect(idCandidates(deep, {})).toEqual({});
    expect(idCandidates([[[[[{ id: 'x' }]]]]], {})).toEqual({});
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
