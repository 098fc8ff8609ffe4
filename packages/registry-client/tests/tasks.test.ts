import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { errorOf } from '../../../tests/support/client-errors.ts';
import { createRegistryClient } from '../client.ts';

async function waitAt(listener: RequestListener) {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const error = await errorOf(createRegistryClient({ baseUrl: url }).tasks.wait(`${url}/status/x.json`));
  server.close();
  return error;
}

describe('waiting for a task at a wrong address', () => {
  test.each([
    [403, '', /was answered 403: the address is wrong/],
    [200, '<!doctype html>', /does not show a task's status: the address is wrong/],
    [200, '{"state":"success"}', /does not show a task's status/],
  ])('fails at once if it is answered %d with "%s"', async (status, body, sentence) => {
    let asked = 0;
    const error = await waitAt((_, response) => {
      asked += 1;
      response.writeHead(status).end(body);
    });

    expect(error).toMatchObject({ code: 'no_status' });
    expect(error.message).toMatch(sentence);
    expect(asked).toBe(1);
  });
});
