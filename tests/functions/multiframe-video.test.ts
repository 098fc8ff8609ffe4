import { expect, test } from '@jest/globals';
import { invoke } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';

const join = (body: object) => invoke(proxies['multiframe-video'], 'multiframe-video', { body });

const keyFrame = { key_image: 'https://example.com/key.png' };

const full = {
  image_settings: [{ ...keyFrame, duration: 2, prompt: 'Up' }, { ...keyFrame, duration: 7 }, keyFrame],
  model: 'vidq2-turbo',
  start_image: 'data:image/png;base64,iVBORw0KGgo=',
  callback_url: 'https://example.com/hook',
  payload: 'pass it through',
  resolution: '540p',
};

// Each field by itself, echoes and what is rejected: tests/contract.test.ts.
test('forwards every field to the provider, and no unknown or unset one, also of a frame', async () => {
  const image_settings = [
    { ...full.image_settings[0], seed: 1 },
    full.image_settings[1],
    { ...keyFrame, prompt: '' },
  ];
  await join({ ...full, image_settings, seed: 7 });

  expect(simulation.received).toMatchObject([{ provider: 'video', path: '/multiframe' }]);
  expect(simulation.received[0]?.body).toEqual(full);
});
