import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { seed } from '../../tools/local/seed.ts';
import { errorOf } from '@node-registry/testing/client-errors';
import { startHttpApi } from '../support/http-api.ts';
import { acceptedTasks } from '../support/proxies.ts';
import { bearer } from '../support/tokens.ts';
import { createRegistryClient } from '@node-registry/registry-client';

const api = await startHttpApi();
const accessToken = bearer(demo.owner).replace('Bearer ', '');
const client = createRegistryClient({ baseUrl: api.url, accessToken, attempts: 3 });

const video = { model: 'vidq2-turbo', prompt: 'A paper boat' } as const;
const image = 'https://example.com/image.png';
const pair = { node_id: demo.nodeId, version: demo.version };
const soon = { 'retry-after': '0' };
const inFlight = { status: 409, headers: soon, body: { error: 'idempotency_in_flight' } } as const;

beforeAll(seed);

function keysSent(): (string | string[] | undefined)[] {
  return api.received.map(({ headers }) => headers['idempotency-key']);
}

const routesSent = () => api.received.map(({ route }) => route);

describe('named methods of the client', () => {
  test('are all in its README', () => {
    const readme = readFileSync('packages/registry-client/README.md', 'utf8');
    const names = Object.entries<object>(client).flatMap(([group, methods]) =>
      typeof methods === 'function' ? [group] : Object.keys(methods).map((method) => `${group}.${method}`),
    );

    expect(names.filter((name) => !readme.includes(name))).toEqual([]);
  });

  test('return the body of the answer, and show its headers on request', async () => {
    let etag: string | null = null;
    const onResponse = ({ headers }: Response) => {
      etag = headers.get('etag');
    };
    const update = (body: object, more: object) => client.nodes.update('demo', demo.nodeId, body, more);
    const node = await update({ tags: ['typed'] }, { onResponse });

    expect(node.tags).toEqual(['typed']);
    expect((await update({}, { ifMatch: String(etag) })).tags).toEqual(['typed']);
    const failed = { code: 'precondition_failed', status: 412 };
    expect(await errorOf(update({}, { ifMatch: '"0"' }))).toMatchObject(failed);
  });

  test('show the headers of the final answer if it is an error, and of no earlier one', async () => {
    const busy = { status: 503, headers: { 'retry-after': '0' }, body: { error: 'unavailable' } };
    const limits = { status: 409, headers: { ratelimit: '"tasks";r=0' }, body: { error: 'version_exists' } };
    const heard: (string | null)[] = [];
    const onResponse = ({ status, headers }: Response) => {
      heard.push(`${status} ${headers.get('ratelimit')}`);
    };
    const page = { status: 200, body: Object('a page') };
    api.disturb(busy, limits, 'hang up', 'hang up', 'hang up', page);
    for (let call = 1; call <= 3; call += 1) await errorOf(client.videos.fromText(video, { onResponse }));

    expect(heard).toEqual(['409 "tasks";r=0', '200 null']);
  });

  test.each([
    ['50% (a/b)', '50%2525%20(a%252Fb)'],
    ['why? #1', 'why%253F%20%25231'],
    ['Größe | 節點', 'Gr%C3%B6%C3%9Fe%20%7C%20%E7%AF%80%E9%BB%9E'],
  ])(
    'hostNodes.update encodes the name %j so that every gateway delivers it unchanged',
    async (name, sent) => {
      await client.hostNodes.update(demo.nodeId, demo.version, name, {});

      expect(routesSent()).toEqual([`PUT /nodes/${demo.nodeId}/versions/${demo.version}/host-nodes/${sent}`]);
    },
  );

  test.each(['.', '..'])('hostNodes.update rejects the name %j, which no URL can end with', async (name) => {
    const { code, details } = await errorOf(client.hostNodes.update(demo.nodeId, demo.version, name, {}));

    expect([code, details?.[0]?.path]).toEqual(['invalid_request', 'path']);
    expect(routesSent()).toEqual([]);
  });

  test('versions.bulk reads more than 1,000 pairs in several requests and keeps their order', async () => {
    const pairs = Array.from({ length: 2001 }, (_, index) => ({ node_id: `n${index}`, version: '1.0.0' }));
    const entries = await client.versions.bulk(pairs);

    expect(api.received.map(({ body }) => JSON.parse(body).node_versions.length)).toEqual([1000, 1000, 1]);
    expect(entries.map(({ identifier }) => identifier)).toEqual(pairs);
    expect(await client.versions.bulk([])).toEqual([]);
  });
});

describe('retries of the client', () => {
  test('uses the caller’s key for all attempts', async () => {
    api.disturb('hang up', inFlight);
    await client.videos.fromText(video, { idempotencyKey: 'order-4711' });

    expect(keysSent()).toEqual(['order-4711', 'order-4711', 'order-4711']);
  });

  test.each([
    ['409 idempotency_in_flight', inFlight, 2],
    ['409 conflict', { status: 409, body: { error: 'conflict' } }, 2],
    ['429 with Retry-After', { status: 429, headers: soon, body: { error: 'provider_busy' } }, 2],
    ['429 of the gateway', { status: 429, body: { message: 'Too Many Requests' } }, 2],
    ['502 provider_unreachable', { status: 502, body: { error: 'provider_unreachable' } }, 2],
    ['503 with Retry-After', { status: 503, headers: soon, body: { error: 'unavailable' } }, 2],
    ['503 of the gateway', { status: 503, body: { message: 'Service Unavailable' } }, 2],
    ['a lost connection', 'hang up' as const, 2],
    ['400', { status: 400, body: { error: 'invalid_request' } }, 1],
    ['409 of something in between', { status: 409, body: { error: 'conflict' }, isForeign: true }, 1],
    ['a redirect', { status: 307, headers: { location: '/elsewhere' } }, 1],
    ['409 of an older service', { status: 409, headers: soon, body: { error: 'idempotency_consumed' } }, 1],
    ['422 idempotency_consumed', { status: 422, body: { error: 'idempotency_consumed' } }, 1],
    ['422 idempotency_mismatch', { status: 422, body: { error: 'idempotency_mismatch' } }, 1],
    ['429 without Retry-After', { status: 429, body: { error: 'provider_busy' } }, 1],
    ['500', { status: 500, headers: soon, body: { error: 'internal_error' } }, 1],
    ['502 provider_failed', { status: 502, headers: soon, body: { error: 'provider_failed' } }, 1],
    [
      '502 provider_invalid_reply',
      { status: 502, headers: soon, body: { error: 'provider_invalid_reply' } },
      1,
    ],
    ['502 of something in between', { status: 502, headers: soon }, 1],
    ['503 provider_quota', { status: 503, body: { error: 'provider_quota' } }, 1],
    ['504', { status: 504, headers: soon, body: { error: 'provider_timeout' } }, 1],
    ['504 of something in between', { status: 504, headers: soon }, 1],
  ])('sends a request again only where that is safe: after %s', async (_, disturbance, times) => {
    api.disturb(disturbance);
    const error = await errorOf(client.videos.fromText(video)).catch(() => undefined);

    expect([api.received.length, acceptedTasks()]).toEqual([times, times - 1]);
    expect(error?.status).toBe(times > 1 ? undefined : Object(disturbance).status);
  });

  test('repeats a call of every operation whose answer was lost, and then has it', async () => {
    const { publisherId, nodeId, version, personalAccessToken: personal_access_token } = demo;
    const registered = { personal_access_token, node: {}, node_version: { version: '1.0.0' } };
    const extended = { model: 'vidq2-pro', video_creation_id: '1', video_url: image } as const;
    const image_settings = [{ key_image: image }, { key_image: image }];
    const calls = [
      () => client.nodes.update(publisherId, nodeId, { tags: ['typed'], category: null }),
      () => client.hostNodes.update(nodeId, version, 'Blend', { category: 'image' }),
      () => client.versions.bulk([pair]),
      () => client.versions.register(publisherId, 'typed-node', registered),
      () => client.images.relight({ image }),
      () => client.videos.fromText(video),
      () => client.videos.extend(extended),
      () => client.videos.multiframe({ model: 'vidq2-pro', start_image: image, image_settings }),
    ];
    for (const call of calls) {
      api.disturb('lose the answer');
      expect(await call()).toBeDefined();
    }

    expect(api.received).toHaveLength(2 * calls.length);
    expect(acceptedTasks()).toBe(4);
    // The API takes fields of one for another.
    expect(routesSent().slice(8)).toEqual(
      [
        ...['image-provider/v1/ai/image-relight', 'video-provider/text2video'],
        ...['video-provider/extend', 'video-provider/multiframe'],
      ].flatMap((path) => Array(2).fill(`POST /proxy/${path}`)),
    );
  });

  test.each([
    ['unreachable', 'lose the answer' as const],
    ['unavailable', { status: 503, body: { message: 'Service Unavailable' } }],
  ])(
    'does not repeat a conditional update that may be done, because it would conflict with its own change: %s',
    async (code, disturbance) => {
      api.disturb(disturbance);
      const lost = client.nodes.update(demo.publisherId, demo.nodeId, {}, { ifMatch: '*' });

      expect(await errorOf(lost)).toMatchObject({ code });
      expect(api.received).toHaveLength(1);
    },
  );
});

describe('an access token that is rejected', () => {
  const rejected = { status: 401, body: { error: 'unauthorized' } };

  test('is asked for once more, and the request repeated with the same key', async () => {
    const tokens = ['expired', accessToken];
    const renewing = createRegistryClient({ baseUrl: api.url, accessToken: () => tokens.shift() ?? '' });
    await renewing.videos.fromText(video);

    expect(api.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer expired',
      `Bearer ${accessToken}`,
    ]);
    expect(new Set(keysSent()).size).toBe(1);
  });

  test.each<[string, string | (() => string), object, number]>([
    ['twice', () => 'expired', rejected, 2],
    ['as a text', 'expired', rejected, 1],
    ['by something in between', () => 'expired', { ...rejected, isForeign: true }, 1],
  ])('fails if it is rejected %s', async (_, token, disturbance, sent) => {
    api.disturb(...Array<typeof rejected>(sent).fill(disturbance as typeof rejected));
    const call = createRegistryClient({ baseUrl: api.url, accessToken: token }).videos.fromText(video);

    expect(await errorOf(call)).toMatchObject({ status: 401 });
    expect(api.received).toHaveLength(sent);
  });
});

describe('publish of the client', () => {
  const identifier = { node_id: 'published', version: '1.0.0' };
  /** A part of a larger buffer. */
  const archive = Buffer.from('..archive..').subarray(2, 9);
  const input = {
    publisherId: demo.publisherId,
    nodeId: 'published',
    version: { version: '1.0.0' },
    personalAccessToken: demo.personalAccessToken,
    archive,
  };
  const found = (node_version?: object) => ({
    status: 200,
    body: { node_versions: [{ identifier, status: node_version ? 'success' : 'not_found', node_version }] },
  });
  const pending = (status_reason_code: string) =>
    found({ status: 'NodeVersionStatusPending', status_reason_code, status_reason: 'Why.' });
  const registered = { status: 201, body: { node_version: {}, signedUrl: 'http://localhost:1/upload' } };
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const downloadUrl = 'http://localhost:1/a.zip';
  const active = found({ status: 'NodeVersionStatusActive', downloadUrl, sha256 });
  const uploaded = { upload: async () => 200 };

  test.each([
    ['archive_rejected', 'archive_rejected'],
    ['token_revoked', 'version_closed'],
    ['publisher_banned', 'version_closed'],
  ])('fails when the version stays pending because of %s', async (reason, code) => {
    api.disturb(registered, pending('awaiting_upload'), pending(reason), pending(reason));

    expect(await errorOf(client.publish(input, uploaded))).toMatchObject({ code, message: 'Why.' });
    expect(api.received).toHaveLength(4);
  });

  test('ignores a read that is older than the upload', async () => {
    api.disturb(registered, pending('archive_rejected'), active);

    expect(await client.publish(input, uploaded)).toMatchObject({ wasPublished: false });
  });

  test.each([
    ['Banned', 'The operator of the registry has banned this version: Bad. Publish a new version.'],
    ['Deleted', 'This version is withdrawn. Publish a new version.'],
    ['Flagged', 'This version is closed. Publish a new version.'],
  ])('fails for a version that is closed: NodeVersionStatus%s', async (status, message) => {
    const status_reason = status === 'Banned' ? 'Bad.' : undefined;
    api.disturb(registered, found({ status: `NodeVersionStatus${status}`, status_reason }));

    expect(await errorOf(client.publish(input, uploaded))).toMatchObject({ code: 'version_closed', message });
  });

  test('says that a version is published only to those who may publish it', async () => {
    api.disturb({ status: 403, body: { error: 'forbidden', message: 'No.' } }, active);

    expect(await errorOf(client.publish(input, uploaded))).toMatchObject({ code: 'forbidden' });
    expect(api.received).toHaveLength(1);
  });

  test('gives its own way to upload a signal that ends with the time limit or with the caller', async () => {
    const hears = (signal?: AbortSignal) =>
      new Promise<number>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const upload = (_: string, __: unknown, signal?: AbortSignal) => hears(signal);
    api.disturb(registered);
    const late = await errorOf(client.publish(input, { upload, uploadTimeoutMs: 50 }));
    expect(late).toMatchObject({ code: 'upload_failed' });

    api.disturb(registered);
    const given = client.publish(input, { upload, signal: AbortSignal.timeout(300) });
    await expect(given).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
