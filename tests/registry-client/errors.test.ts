import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { errorOf } from '@node-registry/testing/client-errors';
import { startHttpApi } from '../support/http-api.ts';
import { serve } from '../support/serve.ts';
import {
  type ClientOptions,
  createRegistryClient,
  RegistryError,
  userMessageOf,
} from '@node-registry/registry-client';

const api = await startHttpApi();
const clientWith = (options: Partial<ClientOptions>) =>
  createRegistryClient({ baseUrl: api.url, ...options });
const client = clientWith({});
const pair = { node_id: 'any', version: '1.0.0' };
const busy = { status: 503, headers: { 'retry-after': '0' }, body: { error: 'unavailable' } };

describe('an option of the client', () => {
  test('falls back to its default if it is undefined', async () => {
    const names = ['accessToken', 'timeoutMs', 'attempts', 'patienceMs', 'onRetry', 'fetch', 'headers'];
    const nothing = Object.fromEntries([...names, 'downloadsUrl'].map((name) => [name, undefined]));
    api.disturb(busy);
    const given = { ...nothing, signal: undefined, requestId: undefined, onResponse: undefined };
    const [entry] = await clientWith(nothing).versions.bulk([pair], given);

    expect(entry?.status).toBe('not_found');
    expect(api.received).toHaveLength(2);
  });

  test.each([
    ['timeoutMs', [0, -1, Number.NaN, 2 ** 31, '100', null]],
    ['attempts', [0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3']],
    ['patienceMs', [-1, Number.NaN, 2 ** 31, '100']],
  ])('rejects an invalid value: %s', async (name, values) => {
    // Undefined or null means the default.
    for (const value of values.filter((each) => each !== null)) {
      const options = { [name]: value } as object;
      expect(() => clientWith(options)).toThrow(`The option ${name} must be a`);
      expect((await errorOf(client.versions.bulk([pair], options))).code).toBe('invalid_request');
    }
    expect(api.received).toEqual([]);
  });

  test.each([undefined, '', 'no address', 'http://a b', 'ftp://localhost', 'http://user:secret@localhost:1'])(
    'requires a baseUrl without a password, not %j',
    (baseUrl) => {
      // A password is not shown.
      const missing = 'The option baseUrl is missing.';
      const invalid =
        'The client has nowhere to send calls: baseUrl is not an http or https address without a password.';
      const error = { code: 'invalid_request', message: baseUrl ? invalid : missing };

      expect(() => createRegistryClient({ baseUrl } as ClientOptions)).toThrow(
        expect.objectContaining(error),
      );
    },
  );

  test('replaces fetch and adds headers, for all calls and for one, but not over its own headers', async () => {
    const asked: string[] = [];
    const headers = { 'X-Team': 'a', 'Content-Type': 'text/plain' };
    const client = clientWith({
      accessToken: 'token',
      headers,
      fetch: (url, init) => fetch(url, asked.push(url) ? init : undefined),
    });
    await client.versions.bulk([pair], { headers: { 'x-trace': '1', 'x-team': 'b' } });
    await client.versions.bulk([pair], { fetch });

    const own = { 'content-type': 'application/json', authorization: 'Bearer token' };
    expect(asked).toHaveLength(1);
    expect(api.received[0]?.headers).toMatchObject({ 'x-team': 'b', 'x-trace': '1', ...own });
    expect(api.received[1]?.headers).toMatchObject({ 'x-team': 'a' });
  });

  test('sends no token if it is empty, and takes an address with a slash at its end', async () => {
    await clientWith({ baseUrl: `${api.url}/`, accessToken: () => '' }).versions.bulk([pair]);

    expect(api.received.map(({ route, headers }) => [route, headers.authorization])).toEqual([
      ['POST /bulk/nodes/versions', undefined],
    ]);
  });

  test('works without AbortSignal.any, which Node 20.0 lacks', async () => {
    const { any } = AbortSignal;
    Reflect.deleteProperty(AbortSignal, 'any');
    try {
      const signal = new AbortController().signal;
      expect(await client.versions.bulk([pair], { signal })).toHaveLength(1);
    } finally {
      AbortSignal.any = any;
    }
  });
});

test('ends the function that gives an access token with the signal of the call, and throws its error', async () => {
  const mine = new Error('Sign in first.');
  const given = (accessToken: () => Promise<never>) =>
    clientWith({ accessToken }).versions.bulk([pair], { signal: AbortSignal.timeout(20) });

  await expect(given(() => new Promise(() => {}))).rejects.toMatchObject({ name: 'TimeoutError' });
  await expect(given(() => Promise.reject(mine))).rejects.toBe(mine);
});

describe('an error of the client', () => {
  test('names the wrong fields in its message, at most five, and its request', async () => {
    // As a caller without types may send it.
    const pairs = Array.from({ length: 7 }, () => 1 as unknown as typeof pair);
    const error = await errorOf(client.versions.bulk(pairs, { requestId: 'lake-1' }));
    const named = error.details.slice(0, 5).map(({ path, message }) => `${path} ${message}`);

    expect(error.message).toBe(`The request is not valid: ${named.join('; ')}; and 2 more.`);
    expect(error).toMatchObject({ sentence: 'The request is not valid.', status: 400, requestId: 'lake-1' });
    expect(error.details).toHaveLength(7);
  });

  test('leaves nothing open after a read, and tells the person nothing about payment', async () => {
    const lost = () => Promise.reject(new TypeError('fetch failed'));
    const reader = clientWith({ fetch: lost, downloadsUrl: 'http://localhost', attempts: 1 });
    const reads = [reader.versions.bulk([pair]), reader.nodes.search('a'), reader.account('getUser', {})];
    const userMessage = 'There is no connection. Check yours and try again.';

    for (const error of await Promise.all(reads.map(errorOf)))
      expect(error).toMatchObject({ code: 'unreachable', mayBeDone: false, userMessage });
  });

  test('omits the secret status URL from its JSON', async () => {
    const details = [{ path: 'a', message: 'b' }];
    const headers = { 'retry-after': '7', link: '<https://a.example.com/x>; rel="status"' };
    const body = { error: 'provider_timeout', message: 'Late.', request_id: 'r-1', details };
    api.disturb({ status: 504, headers, body });
    const error = await errorOf(client.versions.bulk([pair]));

    expect(error.statusUrl).toBe('https://a.example.com/x');
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'RegistryError',
      code: 'provider_timeout',
      message: 'Late: a b.',
      status: 504,
      details,
      requestId: 'r-1',
      retryAfter: 7,
    });
  });

  test.each([
    ['budget_exhausted', false, 'Your credits are used up. Try again later.'],
    ['toString', false, 'Something went wrong. Try again later.'],
    [
      'provider_failed',
      true,
      'It is not known yet whether this worked. Continue here: it is never paid twice.',
    ],
    ['still_running', true, 'This takes longer than usual. It goes on: come back later.'],
  ])('has a sentence for the person at the screen: %s', (code, mayBeDone, sentence) => {
    const error = new RegistryError(code, 'For the log.', { mayBeDone });

    expect(error.userMessage).toBe(sentence);
    expect(userMessageOf(error, { budget_exhausted: 'Alles verbraucht.' })).toBe(
      code === 'budget_exhausted' ? 'Alles verbraucht.' : sentence,
    );
  });
});

test('an image is uploaded if it is needed, and then the client sends the same request with the same key', async () => {
  const large = Buffer.alloc(4_000_001, 'x');
  const digest = createHash('sha256').update(large).digest('hex');
  const upload_url = `https://bucket.example.com/images/${digest}?signed`;
  const sent: { url: string; init: RequestInit }[] = [];
  const told: unknown[] = [];
  const detail = { path: 'body.image', message: 'a' };
  const details = [upload_url, 'nowhere'].map((url) => ({ ...detail, upload_url: url }));
  const needed = { error: 'upload_needed', message: 'Upload it.', details };
  const answers = [
    new Response(JSON.stringify(needed), { status: 409, headers: { 'x-request-id': 'r' } }),
    new Response(),
    new Response('{"data":{"task_id":"1"}}'),
  ];
  const client = clientWith({
    accessToken: 'token',
    headers: { 'x-team': 'a' },
    fetch: async (url, init) => answers[sent.push({ url, init }) - 1] ?? Response.error(),
  });
  const { signal } = new AbortController();
  await client.images.relight({ image: large }, { signal, onUpload: (progress) => told.push(progress) });

  const [first, put, second] = sent;
  expect(JSON.parse(String(first?.init.body))).toEqual({ image: `upload:${digest}:${large.length}` });
  const init = { method: 'PUT', body: expect.any(Blob), signal: expect.any(AbortSignal) };
  expect(put).toEqual({ url: upload_url, init });
  expect({ ...second?.init, signal: 0 }).toEqual({ ...first?.init, signal: 0 });
  expect(told).toEqual([0, large.length].map((bytes) => ({ sent: bytes, total: large.length })));
});

const video = { model: 'vidq2-turbo', prompt: 'A paper boat' } as const;
const version = { personal_access_token: '', node: {}, node_version: { version: '1.0.0' } };
const halfCharacter = '\ud83d';

describe('a call that cannot be sent', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['headers.idempotency-key', () => client.videos.fromText(video, { idempotencyKey: 'a–b' })],
    ['headers.x-request-id', () => client.versions.bulk([pair], { requestId: 'a\nb' })],
    ['headers.if-match', () => client.nodes.update('demo', 'any', {}, { ifMatch: '"ü–"' })],
    ['headers.authorization', () => clientWith({ accessToken: 'secret\ntoken' }).versions.bulk([pair])],
    ['path', () => client.nodes.update(halfCharacter, 'any', {})],
    ['path', () => client.hostNodes.update('any', '1.0.0', `a${halfCharacter}/b`, {})],
    ['path', () => client.account('validatePublisher', { query: { username: halfCharacter } })],
    // As from a caller without types.
    ['body', () => client.videos.fromText({ ...video, seed: 1n as unknown as number })],
  ])('fails at once for an impossible value in %s, without showing it', async (path, call) => {
    const error = await errorOf(call());

    const message = expect.stringMatching(/^The request cannot be sent: .+/);
    expect(error).toMatchObject({ code: 'invalid_request', message, details: [{ path }] });
    expect(JSON.stringify([error.message, error.details, String(error.cause)])).not.toContain('secret');
    expect(api.received).toEqual([]);
  });
});

describe('an answer that the service would not give', () => {
  const location = 'https://elsewhere.example.com/';

  test.each<[string, number, string | { error?: string; message?: string }]>([
    ['invalid_reply', 401, { message: 'Unauthorized' }],
    ['invalid_reply', 403, { message: 'Forbidden' }],
    ['route_not_found', 404, { message: 'Not Found' }],
    ['method_not_allowed', 405, { message: 'Method Not Allowed' }],
    ['request_too_large', 413, { message: 'Request Entity Too Large' }],
    ['too_many_requests', 429, { message: 'Too Many Requests' }],
    ['internal_error', 500, { message: 'Internal Server Error' }],
    ['unavailable', 503, { message: 'Service Unavailable' }],
    // Without the header of the service.
    ['invalid_reply', 409, { error: 'conflict', message: 'From a proxy' }],
    ['invalid_reply', 403, 'Blocked by the company'],
    ...[301, 302, 307, 308].map((status) => ['redirected', status, {}] as [string, number, object]),
  ])('becomes the error %s: %i %j', async (code, status, body) => {
    const headers = { 'apigw-requestid': 'gw-1', ...(code === 'redirected' && { location }) };
    api.disturb({ status, headers, body, isForeign: true });
    const error = await errorOf(client.versions.bulk([pair], { attempts: 1 }));
    const said = code === 'redirected' ? location : (Object(body).message ?? 'A proxy or a sign-in page may');

    expect(error).toMatchObject({ code, status, message: expect.stringContaining(said), details: [] });
    expect(error.requestId).toBe(code === 'redirected' ? undefined : 'gw-1');
  });

  const bodies = [
    ...[{}, [], 'a page', { node_versions: {} }, { node_versions: [null] }],
    ...[{ node_version: {} }, { data: 'x' }, { task_id: 1 }, { node_version: {}, signedUrl: 'ftp://host/' }],
  ];

  test.each<[string, () => Promise<unknown>, unknown[]?]>([
    ['versions.bulk', () => client.versions.bulk([pair])],
    ['versions.register', () => client.versions.register('demo', 'any', version)],
    ['images.relight', () => client.images.relight({ image: 'https://example.com/a.png' })],
    ['videos.fromText', () => client.videos.fromText(video)],
    ['videos.extend', () => client.videos.extend({ model: 'vidq2-pro' })],
    ['nodes.update', () => client.nodes.update('demo', 'any', {}), [[], 'a page']],
  ])('reports an invalid reply if %s finds no field that it always has', async (_, call, all = bodies) => {
    for (const body of all) {
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
      const pull = (body: ReadableStreamDefaultController) => {
        megabytes += 1;
        body.enqueue(new Uint8Array(1_000_000));
      };
      const endless = async () => new Response(new ReadableStream({ pull }), { status });
      const error = await errorOf(clientWith({ fetch: endless }).versions.bulk([pair]));

      expect(error).toMatchObject({ code: 'invalid_reply', status });
      expect(error.message).toBe(`The registry answered ${status} with more than 8 MB.`);
      expect(megabytes).toBeLessThan(12);
    },
  );

  test.each([
    ['http://127.0.0.1:2', 'it refuses connections (ECONNREFUSED)'],
    ['http://no-such-host.invalid', 'its host name '],
    ['http://localhost:1', 'its port is blocked'],
  ])('tells why %s cannot be reached', async (baseUrl, reason) => {
    const error = await errorOf(clientWith({ baseUrl, attempts: 1 }).versions.bulk([pair]));

    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(reason) });
  });
});

test.each([
  ['no_status', 200, '<!doctype html>', 'What is at the status URL is not the status of a task.'],
  ['no_status', 200, '{"state":"success"}', 'What is at the status URL is not the status of a task.'],
  ['no_status', 404, '', 'Nothing has appeared at the status URL within 0 ms: '],
  ['no_status', 403, '<Error></Error>', 'Nothing has appeared at the status URL within 0 ms: '],
  ['still_running', 403, 'A proxy', 'The task has not ended within 0 ms.'],
])(
  'waiting for a task ends with %s if its URL answers %d with "%s"',
  async (code, status, body, sentence) => {
    const server = await serve((_, response) => response.writeHead(status).end(body));
    const error = await errorOf(client.tasks.wait(`${server.url}/status/x.json`, { waitMs: 0 }));

    expect(error).toMatchObject({ code, message: expect.stringContaining(sentence) });
    expect(error.message).not.toContain('http');
  },
);

test.each(['undefined', 'x.json', 'ftp://a/x.json'])(
  'waiting at no web address ends at once: %s',
  async (url) => {
    expect(await errorOf(client.tasks.wait(url))).toMatchObject({ code: 'invalid_request' });
  },
);
