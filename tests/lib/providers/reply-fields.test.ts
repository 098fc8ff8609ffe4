import { describe, expect, test } from '@jest/globals';
import { readCreatedAt, readFields, readTaskId } from '../../../lib/providers/reply-fields.ts';
import { MultiframeVideoReply } from '../../../lib/schemas/multiframe-video.ts';
import { TextToVideoReply } from '../../../lib/schemas/text-to-video.ts';

describe('the fields of a reply', () => {
  test('are passed on where they have the type that the interface says', () => {
    const reply = { prompt: 'A boat', seed: -1, bgm: false, images: ['a', 'b'] };

    expect(readFields(TextToVideoReply.shape, reply)).toEqual(reply);
  });

  test.each([[''], [0], [null], [undefined], [[]], [['']], [[null, 0, '']]])(
    'are left out where the provider says %j, which is not set',
    (unset) => {
      const named = { prompt: unset, seed: unset, images: unset };

      expect(Object.keys(readFields(TextToVideoReply.shape, named))).toEqual([]);
    },
  );

  test('are left out where nobody knows them or their type is another', () => {
    const reply = { duration: '5', bgm: 1, prompt: {}, seed: 1.5, images: 'a', elsewhere: 'x' };

    expect(Object.keys(readFields(TextToVideoReply.shape, { ...reply, style: 'anime' }))).toEqual(['style']);
  });

  test('keep of a list the entries that are set, and of an entry the fields that are', () => {
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

describe('the id of a task', () => {
  test.each([
    ['task-1', 'task-1'],
    [7, '7'],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [{ id: 'task-1' }, undefined],
  ])('is read from %j as %j', (value, id) => {
    expect(readTaskId(value)).toBe(id);
  });
});

describe('the creation time', () => {
  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.1Z', '2026-01-02T03:04:05.1Z'],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
    ['2026-01-02T03:04:05.25-09:30', '2026-01-02T03:04:05.25-09:30'],
  ])('%j is passed on as %j', (value, time) => {
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
  ])('is ours where the provider says %j', (value) => {
    const before = Date.now();
    const time = readCreatedAt(value);

    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
  });
});
