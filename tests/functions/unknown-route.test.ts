import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/unknown-route.ts';
import { invoke } from '../support/invoke.ts';
import { lines } from '../support/logged-lines.ts';

describe('a method or path that no operation has', () => {
  test('answers 404 in the shape of every other error, with the id that the caller chose', async () => {
    const headers = { 'x-request-id': 'mine' };
    const { status, body, ...answer } = await invoke(handler, 'unknown-route', { headers });

    const message = 'This operation does not exist.';
    expect([status, body]).toEqual([404, { error: 'route_not_found', message, request_id: 'mine' }]);
    expect(answer.headers).toEqual({ 'content-type': 'application/json', ...headers });
  });

  test('leaves one line in the log, without the path, which anybody can write', async () => {
    await invoke(handler, 'unknown-route');

    expect(lines()).toEqual([
      {
        level: 'info',
        event: 'request',
        request_id: 'sample-unknown-route',
        route: '$default',
        function_request_id: 'an-invocation',
        function: 'unknownRoute',
        method: 'GET',
        cold_start: expect.any(Boolean),
        code: 'route_not_found',
        status: 404,
        ms: expect.any(Number),
      },
    ]);
  });
});
