import { describe, expect, test } from '@jest/globals';
import { invoke } from '../support/invoke.ts';
import { misbehave, proxies, simulation } from '../support/proxies.ts';

const handler = proxies['multiframe-video'];
const join = (body: object, headers = {}) => invoke(handler, 'multiframe-video', { body, headers });

const keyFrame = { key_image: 'https://example.com/key.png' };

const full = {
  image_settings: [{ ...keyFrame, duration: 2, prompt: 'Up' }, { ...keyFrame, duration: 7 }, keyFrame],
  model: 'vidq2-turbo',
  start_image: 'data:image/png;base64,iVBORw0KGgo=',
  callback_url: 'https://example.com/hook',
  payload: 'pass it through',
  resolution: '540p',
};

describe('POST /proxy/video-provider/multiframe', () => {
  describe('200', () => {
    test('answers the task that the provider started, with its echoes', async () => {
      const { status, body } = await join(full);

      const { callback_url, ...echoes } = full;
      expect(status).toBe(200);
      expect(body).toEqual({
        ...echoes,
        task_id: simulation.received[0]?.taskId,
        state: 'created',
        credits: 20,
        created_at: expect.any(String),
      });
    });

    test('forwards every field to the provider', async () => {
      await join(full);

      expect(simulation.received).toMatchObject([{ provider: 'video', path: '/multiframe' }]);
      expect(simulation.received[0]?.body).toEqual(full);
    });

    test('forwards no unknown or unset field', async () => {
      const image_settings = [{ ...keyFrame, prompt: '', seed: 1 }, keyFrame];
      await join({ ...full, image_settings, callback_url: '', payload: '', resolution: '', seed: 7 });

      const { model, start_image } = full;
      expect(simulation.received[0]?.body).toEqual({
        model,
        start_image,
        image_settings: [keyFrame, keyFrame],
      });
    });

    test('leaves out unset fields inside an echo', async () => {
      misbehave({ kind: 'empty_echoes' });
      const { body } = await join(full);

      expect(body.image_settings).toEqual([{ key_image: 'https://images.example/1.png' }]);
      expect(body).not.toHaveProperty('start_image');
    });
  });
});
