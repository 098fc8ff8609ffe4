import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/unknown-route.ts';
import { invoke } from '../support/invoke.ts';
import { lines } from '../support/logged-lines.ts';

describe('a method or path that no operation has', () => {
  test('answers 404 in the shape of every other error, with the id that the caller chose', async () => {
    const { status, headers, body } = await invoke(handler, 'unknown-route', {
      headers: { 'x-request-id': 'mine' },
    });

    expect(status).toBe(404);
    expect(headers).toEqual({ 'content-type': 'application/json', 'x-request-id': 'mine' });
    expect(body).toEqual({
      error: 'route_not_found',
      message: 'This operation does not exist.',
      request_id: 'mine',
    });
  });

  test('leaves one line in the log, without the path, which anybody can write', async () => {
    await invoke(handler, 'unknown-route');

    expect(lines()).toEqual([
      {
        level: 'info',
        event: 'request',
        request_id: 'sample-unknown-route',
        function_request_id: 'an-invocation',
        function: 'unknownRoute',
        route: '$default',
        cold_start: expect.any(Boolean),
        method: 'GET',
        code: 'route_not_found',
        status: 404,
        ms: expect.any(Number),
      },
    ]);
  });
});
