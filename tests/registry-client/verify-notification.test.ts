import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readSigningKeys, signatureHeaders } from '../../lib/notifications/signature.ts';
import { verifyNotification } from '@node-registry/registry-client';

function newKey() {
  const [key] = readSigningKeys(randomBytes(32).toString('hex'));
  if (!key) throw new Error('There is no key.');
  return key;
}

const key = newKey();
const other = newKey();
const message = { id: 'msg_1_0001', body: '{"state":"success","text":"größer ✓"}' };
const payload = JSON.parse(message.body);
const minuteMs = 60_000;
const now = () => String(Math.floor(Date.now() / 1000));

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

  test('takes the body as bytes, also the result of request.arrayBuffer(), and types the payload', async () => {
    const bytes = new TextEncoder().encode(message.body);
    expect(await verify(signed(), bytes)).toMatchObject({ payload });
    const { payload: typed } = await verifyNotification(signed(), bytes.buffer, key.publicKey);
    const state: 'created' | 'processing' | 'queueing' | 'success' | 'failed' = typed.state;
    expect(state).toBe(payload.state);
  });

  test('takes one of two signatures, and one of two keys', async () => {
    expect(await verify(signed(0, [other, key]))).toMatchObject({ payload });
    expect(await verify(signed(), message.body, [other.publicKey, key.publicKey])).toMatchObject({ payload });
  });

  test('takes an attempt of almost five minutes ago, or from a clock that is almost as far ahead', async () => {
    expect(await verify(signed(4.9 * minuteMs))).toMatchObject({ payload });
    expect(await verify(signed(-4.9 * minuteMs))).toMatchObject({ payload });
  });

  const raw = (body: unknown) => () => verifyNotification(signed(), body as string, key.publicKey);
  const headed = (headers: unknown) => () =>
    verifyNotification(headers as Headers, message.body, key.publicKey);
  const changed = (name: string, value?: string) => headed({ ...signed(), [name]: value });
  const missing = (what: string, work: () => Promise<unknown>): [string, string, () => Promise<unknown>] => [
    ...(['missing_header', what, work] as const),
  ];
  const signature = String(signed()['webhook-signature']);
  const parsed: unknown = JSON.parse(message.body);

  test.each<[string, string, () => Promise<unknown>]>([
    ['too_old', 'a replay', () => verify(signed(5.1 * minuteMs))],
    ['too_old', 'a replay after a day', () => verify(signed(24 * 60 * minuteMs))],
    ['too_new', 'a time ahead', () => verify(signed(-5.1 * minuteMs))],
    ['wrong_signature', 'another key', () => verify(signed(), message.body, other.publicKey)],
    ['wrong_signature', 'another body', () => verify(signed(), `${message.body} `)],
    ['wrong_signature', 'a body written again', () => verify(signed(0, [key], '{ "a": 1 }'), '{"a":1}')],
    ['wrong_signature', 'another id', changed('webhook-id', 'msg_2')],
    ['wrong_signature', 'a fresher time', () => verify({ ...signed(minuteMs), 'webhook-timestamp': now() })],
    ['wrong_signature', 'another scheme', changed('webhook-signature', signature.replace('v1a', 'v1'))],
    ['wrong_signature', 'half a signature', changed('webhook-signature', signature.slice(0, 40))],
    ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((name) =>
      [undefined, ''].map((value) => missing(`${name}: ${value}`, changed(name, value))),
    ),
    ...['soon', '-1', '1e9', '0x10', ' 1'].map((time) =>
      missing(`the time ${time}`, changed('webhook-timestamp', time)),
    ),
    ['missing_header', 'headers that are null', headed(null)],
    ['missing_header', 'headers that are a list', headed(Object.entries(signed()).flat())],
    [
      'missing_header',
      'an ID with a dot, since the signed text could be split elsewhere',
      headed(signatureHeaders([key], { ...message, id: 'msg_1.7' })),
    ],
    ['not_raw', 'a parsed object', raw(parsed)],
    ['not_raw', 'null', raw(null)],
    ['not_json', 'a signed text', () => verify(signed(0, [key], 'hello'), 'hello')],
    ['no_keys', 'an empty list of keys', () => verify(signed(), message.body, [])],
    // Of a variable that is not set, in a program without types.
    ['no_keys', 'an undefined key', () => verifyNotification(signed(), message.body, Object({}).key)],
  ])('rejects with %s: %s', async (reason, _, work) => {
    await expect(work()).rejects.toMatchObject({ name: 'InvalidNotification', reason });
  });

  test('rejects an hour-old notification whose body was cut into an id and a fresh time', async () => {
    const fresh = now();
    const old = signed(60 * minuteMs, [key], `{"payload":"x.${fresh}.{}"}`);
    const id = `${old['webhook-id']}.${old['webhook-timestamp']}.{"payload":"x`;
    const headers = { ...old, 'webhook-id': id, 'webhook-timestamp': fresh };

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

  test.each(['', 'whpk_', 'whpk_AAAA', `whsk_${'A'.repeat(43)}=`])(
    'says that %j is no public key',
    async (text) => {
      await expect(verify(signed(), message.body, text)).rejects.toThrow(TypeError);
    },
  );
});
