import { describe, expect, test } from '@jest/globals';
import { invoke } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';

const handler = proxies['extend-video'];
const extend = (body: object, headers = {}) => invoke(handler, 'extend-video', { body, headers });

const source = { video_creation_id: '867913241582301184', video_url: 'https://example.com/boat.mp4' };

const full = {
  ...source,
  model: 'vidq2-pro',
  callback_url: 'https://example.com/hook',
  duration: 7,
  images: ['https://example.com/end.png'],
  payload: 'pass it through',
  prompt: 'The boat lands',
  resolution: '1080p',
};

describe('POST /proxy/video-provider/extend', () => {
  describe('200', () => {
    test('answers the task that the provider started, with its echoes', async () => {
      const { status, body } = await extend(full);

      const { callback_url, ...echoes } = full;
      expect(status).toBe(200);
      expect(body).toEqual({
        ...echoes,
        task_id: simulation.received[0]?.taskId,
        state: 'created',
        credits: 28,
        created_at: expect.any(String),
      });
    });

    test('forwards every field to the provider', async () => {
      await extend(full);

      expect(simulation.received).toMatchObject([{ provider: 'video', path: '/extend' }]);
      expect(simulation.received[0]?.body).toEqual(full);
    });

    test('forwards the default, and no unknown or unset field', async () => {
      await extend({ model: 'vidq2-turbo', prompt: '', video_url: '', video_creation_id: '', seed: 7 });

      expect(simulation.received[0]?.body).toEqual({ model: 'vidq2-turbo', duration: 5 });
    });
  });

  describe('400', () => {
    test.each(['video_url', 'video_creation_id'])(
      'rejects a request that lacks only %s, and lists other issues too',
      async (field) => {
        const { status, body } = await extend({ ...full, [field]: undefined, duration: 8 });

        const other = field === 'video_url' ? 'video_creation_id' : 'video_url';
        expect(status).toBe(400);
        expect(body.details).toEqual([
          { path: 'body.duration', message: 'must be at most 7' },
          { path: `body.${field}`, message: `is required together with ${other}` },
        ]);
        expect(simulation.received).toEqual([]);
      },
    );
  });
});
