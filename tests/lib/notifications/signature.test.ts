import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { stopDate } from '@node-registry/testing/clock';
import {
  loadSigningKeys,
  publishSigningKeys,
  readSigningKeys,
  signatureHeaders,
} from '../../../lib/notifications/signature.ts';
import { signingKeysKey } from '../../../lib/store/keys.ts';
import { storedItem } from '../../support/registry.ts';
import { serve } from '../../support/serve.ts';
import { setVariables } from '../../support/variables.ts';

const newKey = () => randomBytes(32).toString('hex');
const message = { id: 'msg_1_0001', body: '{"state":"success","text":"größer ✓"}' };

test('a secret of 64 letters and digits is always the same key, so receivers keep its public half', () => {
  expect(readSigningKeys(`${'aB3'.repeat(21)}z\n`)).toMatchObject([
    { publicKey: 'whpk_yBTy+C5HF/pQGS14mqSELgoJYw8zxP7CAy61eL2vJtE=' },
  ]);
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
        const options = { cwd: folder, env: { PATH: process.env.PATH, ...values } };
        const { status, stderr } = spawnSync(program, args, options);
        if (program !== 'bash') expect(String(stderr)).toBe('');
        return status;
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
        expect(statusOf({ ...signed, 'webhook-timestamp': 'abc' })).toBe(1);
        const after = `v1a,A v1a,ü ${signed['webhook-signature']}`;
        expect(statusOf({ ...signed, 'webhook-signature': after })).toBe(0);
        for (const name of Object.keys(signed)) {
          const { [name]: _, ...others } = signed;
          expect(statusOf(others)).toBe(1);
        }
      }
    });
  },
);

test.each([
  ...['', '-----BEGIN PRIVATE KEY-----', 'a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(63)}-`],
  Array(3).fill(newKey()).join(' '),
])('a signing key of another form stops the delivery, and is not quoted (%#)', (secret) => {
  const message = 'The signing key must be 64 letters and digits, or two such texts.';
  expect(() => readSigningKeys(secret)).toThrow(new Error(message));
});

/** The store of secrets, with a key that can be replaced. */
let stored = newKey();
const store = await serve((_, response) => response.end(JSON.stringify({ Parameter: { Value: stored } })));
setVariables({ AWS_ENDPOINT_URL_SSM: store.url, NOTIFICATION_SIGNING_KEY: 'ssm:/key' });

const began = Date.now();
const setClock = (ms: number) => stopDate(began + ms);

test('signs with a replaced key after one minute, not before, and publishes it', async () => {
  const context = { deadline: began + 600_000 };
  const shown = async () => (await loadSigningKeys(context)).map((key) => key.publicKey);
  const shownBy = (secret: string) => readSigningKeys(secret).map((key) => key.publicKey);
  setClock(60_000);
  const first = stored;
  expect(await shown()).toEqual(shownBy(first));
  stored = `${newKey()} ${first}`;

  setClock(119_999);
  expect(await shown()).toEqual(shownBy(first));
  setClock(120_000);
  expect(await shown()).toEqual(shownBy(stored));
  for (const ms of [120_000, 130_000]) {
    setClock(ms);
    await publishSigningKeys(context);
  }
  const at = new Date(began + 120_000).toISOString();
  expect(await storedItem(signingKeysKey)).toMatchObject({ public_keys: shownBy(stored).join(' '), at });
});
