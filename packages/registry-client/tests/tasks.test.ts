import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { errorOf } from '../../../tests/support/client-errors.ts';
import { createRegistryClient } from '../client.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

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

  test('gives up after ten minutes in which nothing was there, and not before', async () => {
    const clock = Date.now;
    let [asked, passedMs] = [0, 0];
    jest.spyOn(Date, 'now').mockImplementation(() => clock() + passedMs);
    const error = await waitAt((_, response) => {
      asked += 1;
      if (asked === 2) passedMs = 600_000;
      response.writeHead(404).end();
    });

    expect(error).toMatchObject({ code: 'no_status' });
    expect(error.message).toMatch(
      /appeared at \S+ for ten minutes: the provider is slow, or the address is wrong, or older than seven days\.$/,
    );
    expect(asked).toBe(2);
  });
});
