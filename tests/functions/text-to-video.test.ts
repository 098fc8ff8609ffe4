import { describe, expect, test } from '@jest/globals';
import { invoke } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';

const handler = proxies['text-to-video'];
const generate = (body: object, headers = {}) => invoke(handler, 'text-to-video', { body, headers });

// Each field by itself, echoes and what is rejected: tests/contract.test.ts.
describe('POST /proxy/video-provider/text2video', () => {
  describe('200', () => {
    test('sends our key with its scheme and none of the request headers', async () => {
      await generate({}, { cookie: 'session=1', 'x-request-id': 'r1' });

      expect(simulation.received[0]?.headers).toEqual({
        'content-type': 'application/json',
        'content-length': expect.any(String),
        accept: 'application/json',
        'accept-encoding': 'identity',
        host: expect.stringMatching(/^localhost:\d+$/),
        connection: 'keep-alive',
        authorization: `Token ${process.env.VIDEO_PROVIDER_KEY}`,
      });
    });

    test('leaves out the largest echoes so that the answer stays below 6 MB', async () => {
      const payload = '"'.repeat(600_000);
      const prompt = '\\'.repeat(2000);
      const { status, body, text } = await generate({ payload, prompt, images: ['A'.repeat(4_300_000)] });

      expect(status).toBe(200);
      expect(body).toMatchObject({ task_id: expect.any(String), prompt });
      expect(body.payload === payload).toBe(true);
      expect(body).not.toHaveProperty('images');
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6 * 1024 * 1024);
    });
  });
});
