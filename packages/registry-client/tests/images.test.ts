import { createHash } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import { withoutBytes } from '../images.ts';

// It encodes megabytes.
jest.setTimeout(60_000);

test('sends images in the request up to 4 MB of all together, and apart from it beyond', async () => {
  const [first, second, third] = [3_000_000, 1_000_001, 1_000_000].map((bytes) => Buffer.alloc(bytes, 'x'));
  const { body, uploads } = await withoutBytes({ start_image: first, images: [second, third] });
  const { start_image, images } = body as { start_image: string; images: string[] };

  expect(images[0]).toMatch(/^upload:[0-9a-f]{64}:1000001$/);
  expect([start_image.length, images[1]?.length]).toEqual([4_000_000, 1_333_336]);
  expect([...uploads.values()].map(({ size }) => size)).toEqual([1_000_001]);
});

test.each([
  ['body.images[0]', { images: [new Blob([])] }],
  ['body.duration', { duration: Number.NaN }],
  ['body.image_settings[0].duration', { image_settings: [{ duration: Number.POSITIVE_INFINITY }] }],
  ['body.image_settings[0].key_image', { image_settings: [{ key_image: './first.png' }] }],
  ['body.images[1]', { images: ['/9j/4A==', 'File:///a.png'] }],
  ['body.video_url', { video_url: ' blob:https://example.com/1' }],
])('rejects what would buy another film than was meant: %s', async (path, body) => {
  const error = { code: 'invalid_request', mayBeDone: false, details: [{ path }] };

  await expect(withoutBytes(body)).rejects.toMatchObject(error);
});

test('names what a page without https cannot upload', async () => {
  jest.replaceProperty(globalThis, 'crypto', {} as typeof crypto);
  await expect(withoutBytes({ image: Buffer.alloc(4_000_001) })).rejects.toThrow('https');
  jest.restoreAllMocks();
});

test('leaves words alone that look like such a URL', async () => {
  const images = ['/9j/4AAQ', 'HTTPS://a.example/b~c.png', 'data:image/png;base64,aa', 'upload:1.2'];
  const body = { prompt: 'file: a.b', payload: 'blob:1', images };

  expect((await withoutBytes(body)).body).toEqual(body);
});

test('takes a Blob, a File, an ArrayBuffer, and the visible part of a larger buffer', async () => {
  const xxx = new Uint8Array(Buffer.from('xxx'));
  const images = [new Blob([xxx]), new File([xxx], 'a.png'), xxx.buffer];
  expect((await withoutBytes({ images })).body).toEqual({ images: ['eHh4', 'eHh4', 'eHh4'] });
  const whole = Buffer.alloc(4_000_012, 'x');
  const part = whole.subarray(10, 4_000_011);
  const { body } = await withoutBytes({ image: part, wm_url: new DataView(whole.buffer, 0, 3) });

  const digest = createHash('sha256').update(part).digest('hex');
  expect(body).toEqual({ image: `upload:${digest}:4000001`, wm_url: 'eHh4' });
});
