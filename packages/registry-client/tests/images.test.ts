import { expect, test } from '@jest/globals';
import { withoutBytes } from '../images.ts';

test('sends images in the request up to 4 MB of all together, and apart from it beyond', async () => {
  const [first, second, third] = [3_000_000, 1_000_001, 1_000_000].map((bytes) => Buffer.alloc(bytes, 'x'));
  const { body, uploads } = await withoutBytes({ start_image: first, images: [second, third] });
  const { start_image, images } = body as { start_image: string; images: string[] };

  expect(images[0]).toMatch(/^upload:[0-9a-f]{64}:1000001$/);
  expect([start_image.length, images[1]?.length]).toEqual([4_000_000, 1_333_336]);
  expect([...uploads.values()].map(({ size }) => size)).toEqual([1_000_001]);
});

test('rejects an image without bytes, which would be sent as none', async () => {
  const empty = withoutBytes({ images: [new Blob([])] });

  await expect(empty).rejects.toMatchObject({ code: 'invalid_request', mayBeDone: false });
});
