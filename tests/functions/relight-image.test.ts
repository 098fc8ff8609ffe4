import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { invoke, sampleBody } from '../support/invoke.ts';
import { proxies, simulation } from '../support/proxies.ts';

const handler = proxies['relight-image'];
const relight = (changes = {}, headers = {}) =>
  invoke(handler, 'relight-image', { body: { ...sampleBody('relight-image'), ...changes }, headers });

// Each field by itself, defaults and what is rejected: tests/contract.test.ts.
describe('POST /proxy/image-provider/v1/ai/image-relight: 200', () => {
  test('answers the task that the provider started', async () => {
    const { status, body } = await relight();

    expect(status).toBe(200);
    expect(body).toEqual({
      data: { generated: [], task_id: simulation.received[0]?.taskId, status: 'CREATED' },
    });
  });

  test('sends our key in its own header and none of the request headers', async () => {
    await relight({}, { cookie: 'session=1', 'x-forwarded-for': '1.2.3.4', 'x-api-key': 'of-the-caller' });

    expect(simulation.received[0]?.headers).toEqual({
      'content-type': 'application/json',
      'content-length': expect.any(String),
      accept: 'application/json',
      'accept-encoding': 'identity',
      host: expect.stringMatching(/^localhost:\d+$/),
      connection: 'keep-alive',
      'x-api-key': process.env.IMAGE_PROVIDER_KEY,
    });
  });

  test('never fetches an address that the request names', async () => {
    let visits = 0;
    const server = createServer((_, response) => {
      visits += 1;
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
    const { status } = await relight({ image: address, transfer_light_from_lightmap: address });
    server.close();

    expect([status, visits]).toEqual([200, 0]);
    expect(simulation.received[0]?.body).toMatchObject({ image: address });
  });
});
