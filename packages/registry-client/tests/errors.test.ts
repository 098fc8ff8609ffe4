import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRegistryClient } from '../client.ts';
import { errorOf } from '../../../tests/support/client-errors.ts';
import { startHttpApi } from '../../../tests/support/http-api.ts';

const api = await startHttpApi();
const client = createRegistryClient({ baseUrl: api.url });
const clientWith = (options: { accessToken?: string; baseUrl?: string; attempts?: number }) =>
  createRegistryClient({ baseUrl: api.url, ...options });

const video = { model: 'vidq2-turbo', prompt: 'A paper boat' } as const;
const pair = { node_id: 'any', version: '1.0.0' };
const version = { personal_access_token: '', node: {}, node_version: { version: '1.0.0' } };
const halfCharacter = '\ud83d';

beforeEach(() => api.reset());
afterAll(() => api.stop());

describe('a call that cannot be sent', () => {
  test.each([
    [
      'an Idempotency-Key',
      'headers.idempotency-key',
      () => client.videos.fromText(video, { idempotencyKey: 'a–b' }),
    ],
    ['a request id', 'headers.x-request-id', () => client.versions.bulk([pair], { requestId: 'a\nb' })],
    ['an If-Match', 'headers.if-match', () => client.nodes.update('demo', 'any', {}, { ifMatch: '"ü–"' })],
    [
      'an access token',
      'headers.authorization',
      () => clientWith({ accessToken: 'secret\ntoken' }).versions.bulk([pair]),
    ],
  ])('fails at once for %s that no header can have, without showing it', async (_, path, call) => {
    const error = await errorOf(call());

    expect(error).toMatchObject({ code: 'invalid_request', status: undefined, details: [{ path }] });
    expect(JSON.stringify([error.message, error.details, String(error.cause)])).not.toContain('secret');
    expect(api.received).toEqual([]);
  });

  test.each(['no address', 'http://a b', 'ftp://localhost', 'http://user:secret@localhost:1'])(
    'fails at once for the base URL %j',
    async (baseUrl) => {
      const error = await errorOf(Promise.try(() => clientWith({ baseUrl })));

      expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: 'baseUrl' }] });
      expect(error.message).not.toContain('secret');
    },
  );

  test.each([
    ['a publisher id', () => client.nodes.update(halfCharacter, 'any', {})],
    ['a node id', () => client.versions.register('demo', halfCharacter, version)],
    ['the name of a host node', () => client.hostNodes.update('any', '1.0.0', `a${halfCharacter}/b`, {})],
  ])('fails for half a character in %s', async (_, call) => {
    expect(await errorOf(call())).toMatchObject({ code: 'invalid_request', details: [{ path: 'path' }] });
    expect(api.received).toEqual([]);
  });

  test('fails for a body that JSON cannot hold', async () => {
    // As from a caller without types.
    const body = { ...video, seed: 1n as unknown as number };

    expect(await errorOf(client.videos.fromText(body))).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'body' }],
    });
    expect(api.received).toEqual([]);
  });
});

describe('an answer that the service would not give', () => {
  test.each([301, 302, 307, 308])('does not follow a redirect with %i', async (status) => {
    const location = `${api.url}/elsewhere`;
    api.disturb({ status, headers: { location } });
    const error = await errorOf(client.versions.bulk([pair]));

    expect(error).toMatchObject({ code: 'redirected', status });
    expect(error.message).toContain(location);
    expect(api.received).toHaveLength(1);
  });

  test.each([
    ['versions.bulk', () => client.versions.bulk([pair])],
    ['versions.register', () => client.versions.register('demo', 'any', version)],
    ['images.relight', () => client.images.relight({ image: 'https://example.com/a.png' })],
    ['videos.fromText', () => client.videos.fromText(video)],
    ['videos.extend', () => client.videos.extend({ model: 'vidq2-pro' })],
  ])('reports an invalid reply if %s finds no field that it always has', async (_, call) => {
    for (const body of [{}, [], { node_versions: {} }, { node_version: {} }, { data: 'x' }, { task_id: 1 }]) {
      api.reset();
      api.disturb({ status: 200, body });

      expect(await errorOf(call())).toMatchObject({ code: 'invalid_reply', status: 200 });
      expect(api.received).toHaveLength(1);
    }
  });

  test.each([200, 500])(
    'reports an invalid reply of more than 8 MB with status %i, and stops reading it',
    async (status) => {
      let megabytes = 0;
      const server = createServer((_, response) => {
        response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        // One answer of 200 MB, which is 200 KB on the wire.
        const body = Readable.from(
          (function* () {
            for (; megabytes < 200; megabytes += 1) yield Buffer.alloc(1_000_000, ' ');
          })(),
        );
        const zip = createGzip();
        body.pipe(zip).pipe(response);
        response.once('close', () => body.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const baseUrl = `http://localhost:${(server.address() as AddressInfo).port}`;
      const error = await errorOf(clientWith({ baseUrl }).versions.bulk([pair])).finally(() => {
        server.close();
        server.closeAllConnections();
      });

      expect(error).toMatchObject({ code: 'invalid_reply', status });
      expect(error.message).toBe(`The registry answered ${status} with more than 8 MB.`);
      expect(megabytes).toBeLessThan(200);
    },
  );

  test.each([
    ['http://127.0.0.1:2', 'it refuses connections (ECONNREFUSED)'],
    ['http://no-such-host.invalid', 'its host name '],
  ])('tells why %s cannot be reached', async (baseUrl, reason) => {
    const error = await errorOf(clientWith({ baseUrl, attempts: 1 }).versions.bulk([pair]));

    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(reason) });
  });

  test('reports an invalid reply with a list as node', async () => {
    api.disturb({ status: 200, body: [] });

    expect(await errorOf(client.nodes.update('demo', 'any', {}))).toMatchObject({ code: 'invalid_reply' });
  });

  test('reports an invalid reply with an entry of versions.bulk that is not an object', async () => {
    api.disturb({ status: 200, body: { node_versions: [null] } });

    expect(await errorOf(client.versions.bulk([pair]))).toMatchObject({ code: 'invalid_reply' });
  });
});
