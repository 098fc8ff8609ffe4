import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { storedSecret } from '../aws/stored-secret.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { describeError, log } from '../log.ts';
import type { Condition } from '../store/items.ts';
import { signingKeysKey } from '../store/keys.ts';
import { update } from '../store/write.ts';
import type { SigningKeysRecord } from './records.ts';

/*
 * Standard Webhooks with its asymmetric scheme (`v1a`, Ed25519): receivers hold no secret that they could
 * lose. During a key rotation, every notification carries two signatures.
 */

export interface SigningKey {
  privateKey: KeyObject;
  /** In the format that receivers get. */
  publicKey: string;
}

const secret = config.atStart(() => storedSecret(config.deliveries().NOTIFICATION_SIGNING_KEY));

const maxAgeMs = 60_000;
let forgottenAt = Date.now();

/** The stored keys: a rotated one takes effect within a minute, without a restart. */
export async function loadAndPublishSigningKeys(context: Context): Promise<SigningKey[]> {
  if (Date.now() - forgottenAt >= maxAgeMs) {
    forgottenAt = Date.now();
    secret().forget();
  }
  const keys = readSigningKeys(await secret().read(context));
  await publishKeys(context, keys);
  return keys;
}

let published: string | undefined;

/** Lets the administration return the public keys without a right to read the private ones. */
async function publishKeys(context: Context, keys: readonly SigningKey[]): Promise<void> {
  const public_keys = keys.map(({ publicKey }) => publicKey).join(' ');
  if (public_keys === published) return;
  const changes = { public_keys, at: new Date().toISOString() };
  const isNew: Condition<SigningKeysRecord> = [['public_keys', 'absent or <>', public_keys]];
  try {
    await update<SigningKeysRecord>(context, signingKeysKey, changes, isNew);
    published = public_keys;
  } catch (error) {
    // The next run tries again; no notification waits for this.
    log('warn', 'signing_keys', describeError(error));
  }
}

/** The PKCS #8 header of a bare Ed25519 key. */
const keyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const seedBytes = 32;

/** The keys in a secret: one or two, separated by whitespace or commas. Errors never quote the secret. */
export function readSigningKeys(secret: string): SigningKey[] {
  const texts = secret.split(/[\s,]+/).filter(Boolean);
  if (texts.length === 0 || texts.length > 2) throw new Error('The signing key must be one key or two.');
  return texts.map(readSigningKey);
}

/** A password of this length from Secrets Manager, of letters and digits, has more than 380 random bits. */
const madeKey = /^[A-Za-z0-9]{64}$/;

function readSigningKey(text: string): SigningKey {
  const der = Buffer.concat([
    keyHeader,
    madeKey.test(text) ? hash('sha256', text, 'buffer') : readSeed(text),
  ]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicKey: `whpk_${Buffer.from(x, 'base64url').toString('base64')}` };
}

function readSeed(text: string): Buffer {
  const [, encoded = ''] = /^whsk_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  // Some tools append the public key to the private one.
  if (bytes.length !== seedBytes && bytes.length !== 2 * seedBytes)
    throw new Error(
      'A signing key must be whsk_ and the base64 of 32 or 64 bytes, or 64 letters and digits.',
    );
  return bytes.subarray(0, seedBytes);
}

export function signatureHeaders(
  keys: readonly SigningKey[],
  { id, body }: { id: string; body: string },
  now = Date.now(),
): Record<string, string> {
  const timestamp = Math.floor(now / 1000);
  // With the try's id and time, so that an old notification can't be replayed as new.
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = keys.map(
    ({ privateKey }) => `v1a,${sign(null, content, privateKey).toString('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
