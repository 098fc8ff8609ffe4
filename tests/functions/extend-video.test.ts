import { expect, test } from '@jest/globals';
import { invoke } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';

const full = {
  video_creation_id: '867913241582301184',
  video_url: 'https://example.com/boat.mp4',
  model: 'vidq2-pro',
  callback_url: 'https://example.com/hook',
  duration: 7,
  images: ['https://example.com/end.png'],
  payload: 'pass it through',
  prompt: 'The boat lands',
  resolution: '1080p',
};

// Each field by itself, echoes and what is rejected: tests/contract.test.ts.
test('forwards every field to the provider, and no unknown one', async () => {
  await invoke(proxies['extend-video'], 'extend-video', { body: { ...full, seed: 7 } });

  expect(simulation.received).toMatchObject([{ provider: 'video', path: '/extend' }]);
  expect(simulation.received[0]?.body).toEqual(full);
});
