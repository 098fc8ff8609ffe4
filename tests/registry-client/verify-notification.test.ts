import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import { readSigningKeys, signatureHeaders } from '../../lib/notifications/signature.ts';
import type * as Notifications from 'registry-client';
import { verifyNotification } from 'registry-client';
import { hasBrowser, launchBrowser, note, openPage } from 'testing/browser';

function newKey() {
  const { d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [key] = readSigningKeys(`whsk_${Buffer.from(d, 'base64url').toString('base64')}`);
  if (!key) throw new Error('There is no key.');
  return key;
}

const key = newKey();
const other = newKey();
const message = { id: 'msg_1_0001', body: '{"state":"success","text":"größer ✓"}' };
const payload = JSON.parse(message.body);
const minuteMs = 60_000;

afterEach(() => {
  jest.restoreAllMocks();
});

/** The headers as the service signs them, this long ago. */
function signed(agoMs = 0, keys = [key], body = message.body) {
  return signatureHeaders(keys, { ...message, body }, Date.now() - agoMs);
}

const verify = (
  headers: Record<string, string | undefined>,
  body: string | Uint8Array = message.body,
  keys: string | string[] = key.publicKey,
) => verifyNotification(headers, body, keys);

describe('verifyNotification', () => {
  test("accepts the service's signature, and returns the ID, the time and the payload", async () => {
    const headers = signed();

    expect(await verify(headers)).toEqual({
      id: message.id,
      timestamp: new Date(Number(headers['webhook-timestamp']) * 1000),
      payload,
    });
  });

  test.each<[string, (headers: Record<string, string>) => Parameters<typeof verifyNotification>[0]]>([
    ['Headers', (headers) => new Headers(headers)],
    ['the headers of node:http', (headers) => ({ ...headers, 'set-cookie': ['a', 'b'], accept: undefined })],
    [
      'names in capitals',
      (headers) =>
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
    ],
  ])('takes %s', async (_, headersOf) => {
    expect(await verifyNotification(headersOf(signed()), message.body, key.publicKey)).toMatchObject({
      payload,
    });
  });

  test('takes the body as bytes', async () => {
    expect(await verify(signed(), new TextEncoder().encode(message.body))).toMatchObject({ payload });
  });

  test('takes one of two signatures, and one of two keys', async () => {
    expect(await verify(signed(0, [other, key]))).toMatchObject({ payload });
    expect(await verify(signed(), message.body, [other.publicKey, key.publicKey])).toMatchObject({ payload });
  });

  test('takes an attempt of almost five minutes ago, or from a clock that is almost as far ahead', async () => {
    expect(await verify(signed(4.9 * minuteMs))).toMatchObject({ payload });
    expect(await verify(signed(-4.9 * minuteMs))).toMatchObject({ payload });
  });

  test.each([
    ['too_old', 5.1 * minuteMs],
    ['too_old', 24 * 60 * minuteMs],
    ['too_new', -5.1 * minuteMs],
  ])('rejects a replay as %s', async (reason, agoMs) => {
    await expect(verify(signed(agoMs))).rejects.toMatchObject({ name: 'InvalidNotification', reason });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['another key', () => verify(signed(), message.body, other.publicKey)],
    ['another body', () => verify(signed(), `${message.body} `)],
    ['a body that was parsed and written again', () => verify(signed(0, [key], '{ "a": 1 }'), '{"a":1}')],
    ['another id', () => verify({ ...signed(), 'webhook-id': 'msg_2' })],
    [
      'a fresher time',
      () => verify({ ...signed(minuteMs), 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }),
    ],
    [
      'a signature of another scheme',
      () =>
        verify({
          ...signed(),
          'webhook-signature': String(signed()['webhook-signature']).replace('v1a', 'v1'),
        }),
    ],
    [
      'half a signature',
      () => verify({ ...signed(), 'webhook-signature': String(signed()['webhook-signature']).slice(0, 40) }),
    ],
  ])('rejects %s as a wrong signature', async (_, work) => {
    await expect(work()).rejects.toMatchObject({ name: 'InvalidNotification', reason: 'wrong_signature' });
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'rejects a notification without %s',
    async (name) => {
      await expect(verify({ ...signed(), [name]: undefined })).rejects.toMatchObject({
        reason: 'missing_header',
      });
      await expect(verify({ ...signed(), [name]: '' })).rejects.toMatchObject({ reason: 'missing_header' });
    },
  );

  const parsed: unknown = JSON.parse(message.body);

  test.each<[string, unknown]>([
    ['a parsed object', parsed],
    ['a number', 5],
    ['a list of numbers', [...Buffer.from(message.body)]],
    ['null', null],
    ['undefined', undefined],
  ])('says of a body that is %s that the raw one is needed', async (_, body) => {
    await expect(verifyNotification(signed(), body as string, key.publicKey)).rejects.toMatchObject({
      name: 'InvalidNotification',
      reason: 'not_raw',
      message: expect.stringContaining('Pass the raw body'),
    });
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['a list of names and values', Object.entries(signed()).flat()],
  ])('says of headers that are %s that one is missing', async (_, headers) => {
    await expect(verifyNotification(headers as Headers, message.body, key.publicKey)).rejects.toMatchObject({
      name: 'InvalidNotification',
      reason: 'missing_header',
    });
  });

  test('rejects an ID with a dot, since the signed text could be split elsewhere', async () => {
    const headers = signatureHeaders([key], { ...message, id: 'msg_1.7' });

    await expect(verify(headers)).rejects.toMatchObject({ reason: 'missing_header' });
  });

  test('rejects an hour-old notification whose body was cut into an id and a fresh time', async () => {
    const fresh = Math.floor(Date.now() / 1000);
    const old = signed(60 * minuteMs, [key], `{"payload":"x.${fresh}.{}"}`);
    const headers = {
      ...old,
      'webhook-id': `${old['webhook-id']}.${old['webhook-timestamp']}.{"payload":"x`,
      'webhook-timestamp': String(fresh),
    };

    await expect(verify(headers, '{}"}')).rejects.toMatchObject({ reason: 'missing_header' });
  });

  test('looks at eight signatures at most', async () => {
    const valid = String(signed()['webhook-signature']);
    const among = (others: number) => ({
      ...signed(),
      'webhook-signature': `${`v1a,${'A'.repeat(86)}== `.repeat(others)}${valid}`,
    });

    expect(await verify(among(7))).toMatchObject({ payload });
    await expect(verify(among(8))).rejects.toMatchObject({ reason: 'wrong_signature' });
  });

  test.each(['soon', '-1', '1e9', '0x10', ' 1'])('rejects the time %j', async (time) => {
    await expect(verify({ ...signed(), 'webhook-timestamp': time })).rejects.toMatchObject({
      reason: 'missing_header',
    });
  });

  test('rejects a signed body that is not valid JSON', async () => {
    await expect(verify(signed(0, [key], 'hello'), 'hello')).rejects.toMatchObject({ reason: 'not_json' });
  });

  test.each(['', 'whpk_', 'whpk_AAAA', `whsk_${'A'.repeat(43)}=`])(
    'says that %j is no public key',
    async (text) => {
      await expect(verify(signed(), message.body, text)).rejects.toThrow(TypeError);
    },
  );
});

test('accepts the result of request.arrayBuffer(), and types the payload', async () => {
  const bytes = new TextEncoder().encode(message.body);
  const { payload } = await verifyNotification(signed(), bytes.buffer, key.publicKey);
  const state: 'created' | 'processing' | 'queueing' | 'success' | 'failed' = payload.state;

  expect(payload).toEqual(JSON.parse(message.body));
  expect(state).toBe(JSON.parse(message.body).state);
});

test.each([
  ['an empty list', []],
  // Of a variable that is not set, in a program without types.
  ['undefined', JSON.parse('{}').key],
])('says that there are no keys if the key is %s', async (_, keys) => {
  await expect(verifyNotification(signed(), message.body, keys)).rejects.toMatchObject({
    name: 'InvalidNotification',
    reason: 'no_keys',
  });
});

(hasBrowser ? describe : describe.skip)(`in a browser${note}`, () => {
  const server = createServer(async (request, response) => {
    const isScript = request.url === '/client.js';
    if (request.url === '/a.zip') return response.end('other bytes');
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(
      isScript ? await bundled() : '<!doctype html><link rel="icon" href="data:,"><title>Receiver</title>',
    );
  });

  async function bundled(): Promise<string> {
    const { outputFiles } = await build({
      entryPoints: ['registry-client'],
      conditions: ['in-tree'],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    });
    return String(outputFiles[0]?.text);
  }

  beforeAll(() => new Promise<void>((resolve) => server.listen(0, resolve)));
  afterAll(() => {
    server.close();
  });

  test("verifyNotification accepts the service's signatures only, and a download has the code of its error", async () => {
    const browser = await launchBrowser();
    try {
      const { page, problems } = await openPage(browser, 800);
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const cases = [
        [signed(), message.body, key.publicKey],
        [signed(), message.body, other.publicKey],
        [signed(6 * minuteMs), message.body, key.publicKey],
      ] as const;
      const results = await page.evaluate(async (all) => {
        const script = '/client.js';
        const { verifyNotification }: typeof Notifications = await import(script);
        const reasonOf = (error: { reason?: string }) => error.reason;
        return Promise.all(
          all.map(([...given]) => verifyNotification(...given).then(({ payload }) => payload, reasonOf)),
        );
      }, cases);

      const code = await page.evaluate(
        async (downloadsUrl) => {
          const script = '/client.js';
          const { createPublicIndex }: typeof Notifications = await import(script);
          const version = { downloadUrl: `${downloadsUrl}/a.zip`, sha256: '0'.repeat(64) };
          const download = createPublicIndex({ downloadsUrl }).downloadBlob(version);
          return download.then(String, (error: { code?: string }) => error.code);
        },
        page.url().slice(0, -1),
      );

      expect(code).toBe('wrong_digest');
      expect(results).toEqual([payload, 'wrong_signature', 'too_old']);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
