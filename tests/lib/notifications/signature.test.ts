import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { stopDate } from '@node-registry/testing/clock';
import {
  loadAndPublishSigningKeys,
  readSigningKeys,
  signatureHeaders,
} from '../../../lib/notifications/signature.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { signingKeysKey } from '../../../lib/store/keys.ts';
import { beforeNext } from '../../support/intercept.ts';
import { countRequests, storedItem } from '../../support/registry.ts';
import { serve } from '../../support/serve.ts';
import { setVariables } from '../../support/variables.ts';

function newKey(): string {
  const { d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return `whsk_${Buffer.from(d, 'base64url').toString('base64')}`;
}

const message = { id: 'msg_1_0001', body: '{"state":"success","text":"größer ✓"}' };

describe('a signing key', () => {
  test('may be made by the stage itself: the SHA-256 of 64 letters and digits', () => {
    const password = `${'aB3'.repeat(21)}z`;
    const [key] = readSigningKeys(password);
    const seed = createHash('sha256').update(password).digest('base64');
    const [same] = readSigningKeys(`whsk_${seed}`);

    expect(key?.publicKey).toBe(same?.publicKey);
    expect(readSigningKeys(`${password} whsk_${seed}`)).toHaveLength(2);
  });

  test('has the public key that RFC 8032 gives for its second test vector, also with it appended', () => {
    const seed = Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex');
    const known = Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex');
    for (const bytes of [seed, Buffer.concat([seed, known])])
      expect(readSigningKeys(`whsk_${bytes.toString('base64')}`)).toMatchObject([
        { publicKey: `whpk_${known.toString('base64')}` },
      ]);
  });
});

/** The checks that receivers copy, as programs that exit with 0 for a valid signature. */
const example = (ending: string) => readFile(`docs/examples/verify.${ending}`, 'utf8');
const jsMain =
  'process.exit(isSigned(JSON.parse(process.env.HEADERS), Buffer.from(process.env.BODY), process.env.PUBLIC_KEY) ? 0 : 1);';
const pythonMain =
  'import json, os, sys\nsys.exit(0 if is_signed(json.loads(os.environ["HEADERS"]), os.environ["BODY"].encode(), os.environ["PUBLIC_KEY"]) else 1)';
const checks: [string, string, string[]][] = [
  ['Node', process.execPath, ['--input-type=module', '-e', (await example('mjs')) + jsMain]],
  ['Python', 'python3', ['-c', (await example('py')) + pythonMain]],
  ['openssl', 'bash', ['-c', `set -e; printf %s "$BODY" > body.json; ${await example('sh')}`]],
];
const hasCryptography = spawnSync('python3', ['-c', 'import cryptography']).status === 0;

describe.each(checks.filter(([name]) => name !== 'Python' || hasCryptography))(
  'the check with %s in docs/examples',
  (_, program, args) => {
    test('accepts our signature, and no other key, body, id or time', async () => {
      const [key, other] = readSigningKeys(`${newKey()} ${newKey()}`);
      if (!key || !other) throw new Error('There are two keys.');
      const { publicKey } = key;
      const signed = signatureHeaders([key], message);
      const statusOf = (headers: Record<string, string>, PUBLIC_KEY = publicKey, BODY = message.body) => {
        const { 'webhook-id': ID, 'webhook-timestamp': TIMESTAMP, 'webhook-signature': SIGNATURE } = headers;
        const values = { PUBLIC_KEY, BODY, ID, TIMESTAMP, SIGNATURE, HEADERS: JSON.stringify(headers) };
        return spawnSync(program, args, { cwd: folder, env: { PATH: process.env.PATH, ...values } }).status;
      };
      const later = String(Number(signed['webhook-timestamp']) + 1);

      expect(statusOf(signed)).toBe(0);
      expect(statusOf(signed, other.publicKey)).toBe(1);
      expect(statusOf(signed, publicKey, `${message.body} `)).toBe(1);
      expect(statusOf({ ...signed, 'webhook-id': 'msg_2' })).toBe(1);
      expect(statusOf({ ...signed, 'webhook-timestamp': later })).toBe(1);
      if (program !== 'bash') {
        expect(statusOf(signatureHeaders([other, key], message))).toBe(0);
        expect(statusOf(signatureHeaders([key], message, Date.now() - 301_000))).toBe(1);
      }
    });
  },
);

test.each([
  ...['', 'whsk_', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '-----BEGIN PRIVATE KEY-----'],
  ...['a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(63)}-`],
  ...[31, 33].map((length) => `whsk_${Buffer.alloc(length).toString('base64')}`),
  `whsk_${Buffer.alloc(32).toString('hex')}!`,
  Array(3).fill(newKey()).join(' '),
])(
  'a signing key of another form stops the delivery with a sentence that does not quote it (%#)',
  (secret) => {
    const read = () => readSigningKeys(secret);

    expect(read).toThrow(
      /^(?:A signing key must be whsk_ .* or 64 letters|The signing key must be one key or two)/,
    );
    for (const part of secret.split(' ').filter((text) => text.length > 5)) expect(read).not.toThrow(part);
  },
);

/** The store of secrets, with a key that can be replaced. */
let stored = newKey();
const store = await serve((_, response) => response.end(JSON.stringify({ Parameter: { Value: stored } })));
setVariables({ AWS_ENDPOINT_URL_SSM: store.url, NOTIFICATION_SIGNING_KEY: 'ssm:/key' });

const began = Date.now();
const setClock = (ms: number) => stopDate(began + ms);

test('signs with a replaced key after one minute, not before, and publishes it although that fails at first', async () => {
  const shown = async () =>
    (await loadAndPublishSigningKeys({ deadline: Date.now() + 5000 })).map((key) => key.publicKey);
  const shownBy = (secret: string) => readSigningKeys(secret).map((key) => key.publicKey);
  setClock(60_000);
  const first = stored;
  expect(await shown()).toEqual(shownBy(first));
  stored = newKey();

  setClock(119_999);
  expect(await shown()).toEqual(shownBy(first));
  setClock(120_000);
  const lost = beforeNext(dynamodb, /^UpdateItemCommand$/, () => Promise.reject(new Error('not stored')));
  expect(await shown()).toEqual(shownBy(stored));
  expect(lost.happened()).toBe(true);
  const { requests } = await countRequests(async () => [await shown(), await shown()]);
  expect(requests).toEqual(['UpdateItemCommand']);
  const second = stored;
  stored = newKey();
  setClock(179_999);
  expect(await shown()).toEqual(shownBy(second));
  stored = second;
  expect(await storedItem(signingKeysKey)).toMatchObject({ public_keys: shownBy(stored).join(' ') });
});
