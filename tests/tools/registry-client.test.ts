import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { seed } from '../../tools/local/seed.ts';
import { createRegistryClient } from '../../tools/registry-client/client.ts';
import { startHttpApi } from '../support/http-api.ts';
import { acceptedTasks, misbehave } from '../support/proxies.ts';
import { bearer } from '../support/tokens.ts';

const api = await startHttpApi();
const accessToken = bearer(demo.owner).replace('Bearer ', '');
const client = createRegistryClient({ baseUrl: api.url, accessToken, patience: { attempts: 3 } });

const video = { model: 'vidq2-turbo', prompt: 'A paper boat' } as const;
const pairs = { node_versions: [{ node_id: demo.nodeId, version: demo.version }] };
const path = { publisherId: demo.publisherId, nodeId: demo.nodeId };
const inFlight = {
  status: 409,
  headers: { 'retry-after': '0' },
  body: { error: 'idempotency_in_flight' },
} as const;

beforeAll(seed);

beforeEach(() => api.reset());

afterAll(() => api.stop());

function keysSent(): (string | string[] | undefined)[] {
  return api.received.map(({ headers }) => headers['idempotency-key']);
}

describe('the typed client', () => {
  test('knows the types of requests and answers of every operation', async () => {
    const found = await client.POST('/bulk/nodes/versions', { body: pairs });
    const updated = await client.PUT('/publishers/{publisherId}/nodes/{nodeId}', {
      params: { path, header: { 'If-Match': '*' } },
      body: { tags: ['typed'], category: null },
    });
    const started = await client.POST('/proxy/video-provider/text2video', { body: video });
    // @ts-expect-error: duration is a number
    const refused = await client.POST('/proxy/video-provider/text2video', { body: { duration: 'long' } });

    expect(found.data?.node_versions[0]?.node_version?.version).toBe(demo.version);
    expect(updated.data?.tags).toEqual(['typed']);
    expect(started.data?.state).toBe('created');
    expect(refused.error?.details?.[0]?.path).toBe('body.duration');
  });

  test('its types are those of the document', () => {
    const output = execFileSync(
      'npm',
      ['run', 'types', '--silent', '-w', 'registry-client', '--', '--check'],
      {
        encoding: 'utf8',
        stdio: 'pipe',
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    );

    expect(output).not.toContain('out-of-date');
  });

  test('only operations that honour a key or only read are sent by POST', () => {
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
    const honoursKey = (operation: object) => JSON.stringify(operation).includes('/Idempotency-Key');
    const keyless = Object.keys(paths).filter((route) => paths[route].post && !honoursKey(paths[route].post));

    expect(keyless).toEqual(['/bulk/nodes/versions']);
  });
});

describe('what is tried again', () => {
  test('a paid request whose answer was lost is repeated with one key, and paid for once', async () => {
    api.disturb('lose the answer');
    const { data, response } = await client.POST('/proxy/video-provider/text2video', { body: video });

    expect(data?.task_id).toEqual(expect.any(String));
    expect(response.headers.get('idempotent-replayed')).toBe('true');
    expect(acceptedTasks()).toBe(1);
    expect(keysSent()).toHaveLength(2);
    expect(new Set(keysSent()).size).toBe(1);
  });

  test('a key of the caller is kept through all attempts', async () => {
    api.disturb('hang up', inFlight);
    const header = { 'Idempotency-Key': 'order-4711' };
    const { response } = await client.POST('/proxy/video-provider/text2video', {
      params: { header },
      body: video,
    });

    expect(response.status).toBe(200);
    expect(keysSent()).toEqual(['order-4711', 'order-4711', 'order-4711']);
  });

  test('two calls never share a key', async () => {
    await client.POST('/proxy/video-provider/text2video', { body: video });
    await client.POST('/proxy/video-provider/text2video', { body: video });

    expect(new Set(keysSent()).size).toBe(2);
    expect(acceptedTasks()).toBe(2);
  });

  test.each([
    ['409 idempotency_in_flight', inFlight],
    ['429', { status: 429, body: { error: 'provider_busy' } }],
    ['503', { status: 503, body: { error: 'unavailable' } }],
    ['503 of the gateway', { status: 503 }],
    ['a lost connection', 'hang up' as const],
  ])('%s', async (_, disturbance) => {
    api.disturb(disturbance);
    const { response } = await client.POST('/bulk/nodes/versions', { body: pairs });

    expect(response.status).toBe(200);
    expect(api.received).toHaveLength(2);
  });

  test('waits as long as Retry-After says, in seconds or until a date', async () => {
    const inTwoSeconds = new Date(Date.now() + 2000).toUTCString();
    api.disturb({ status: 503, headers: { 'retry-after': '1' } });
    api.disturb({ status: 429, headers: { 'retry-after': inTwoSeconds } });
    const started = Date.now();
    await client.POST('/bulk/nodes/versions', { body: pairs });

    expect(Date.now() - started).toBeGreaterThanOrEqual(950);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(inTwoSeconds));
    expect(api.received).toHaveLength(3);
  });
});

describe('what is final', () => {
  test.each([
    ['400', { status: 400 }],
    ['409 idempotency_consumed', { status: 409, body: { error: 'idempotency_consumed' } }],
    ['409 conflict', { status: 409, body: { error: 'conflict' } }],
    ['500', { status: 500 }],
    ['502', { status: 502, headers: { 'retry-after': '0' } }],
    ['503 provider_quota', { status: 503, body: { error: 'provider_quota' } }],
    ['504', { status: 504, headers: { 'retry-after': '0' }, body: { error: 'provider_timeout' } }],
    ['a wish to wait longer than the caller would', { status: 429, headers: { 'retry-after': '3600' } }],
  ])('%s', async (_, disturbance) => {
    api.disturb(disturbance);
    const { response } = await client.POST('/proxy/video-provider/text2video', { body: video });

    expect(response.status).toBe(disturbance.status);
    expect(api.received).toHaveLength(1);
    expect(acceptedTasks()).toBe(0);
  });

  test('the last answer, once all attempts are used', async () => {
    api.disturb(inFlight, inFlight, inFlight);
    const { response } = await client.POST('/bulk/nodes/versions', { body: pairs });
    api.disturb('hang up', 'hang up', 'hang up');
    const lost = client.POST('/bulk/nodes/versions', { body: pairs });

    expect(response.status).toBe(409);
    expect(api.received).toHaveLength(3);
    await expect(lost).rejects.toThrow();
  });

  test('a conditional update whose answer was lost, for its repetition would meet its own change', async () => {
    api.disturb('lose the answer');
    const header = { 'If-Match': '*' };
    const lost = client.PUT('/publishers/{publisherId}/nodes/{nodeId}', {
      params: { path, header },
      body: {},
    });

    await expect(lost).rejects.toThrow();
    expect(api.received).toHaveLength(1);
  });

  test('a call that its caller gave up, at once', async () => {
    api.disturb({ status: 503, headers: { 'retry-after': '30' } });
    const started = Date.now();
    const given = client.POST('/bulk/nodes/versions', { body: pairs, signal: AbortSignal.timeout(100) });

    await expect(given).rejects.toThrow();
    expect(Date.now() - started).toBeLessThan(5000);
  });
});

test('what the provider refused as busy is tried again and paid for once', async () => {
  misbehave({ kind: 'status', provider: 'video', status: 429, times: 2 });
  const { response } = await client.POST('/proxy/video-provider/text2video', { body: video });

  expect(response.status).toBe(200);
  expect(acceptedTasks()).toBe(1);
  expect(new Set(keysSent()).size).toBe(1);
});
