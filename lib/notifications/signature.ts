import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { storedSecret } from '../aws/stored-secret.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { signingKeysKey } from '../store/keys.ts';
import { updating, write } from '../store/write.ts';
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
export async function loadSigningKeys(context: Context): Promise<SigningKey[]> {
  if (Date.now() - forgottenAt >= maxAgeMs) {
    forgottenAt = Date.now();
    secret().forget();
  }
  return readSigningKeys(await secret().read(context));
}

/** Lets the administration return the public keys without a right to read the private ones. */
export async function publishSigningKeys(context: Context): Promise<void> {
  const keys = await loadSigningKeys(context);
  const public_keys = keys.map(({ publicKey }) => publicKey).join(' ');
  const changes = { public_keys, at: new Date().toISOString() };
  const areOther = [['public_keys', 'absent or <>', public_keys]] as const;
  await write(context, updating<SigningKeysRecord>(signingKeysKey, changes, areOther));
}

/** The PKCS #8 header of a bare Ed25519 key. */
const keyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');

/** As Secrets Manager makes one with the stage: more than 380 random bits. */
const password = /^[A-Za-z0-9]{64}$/;

/** The keys in a secret: one or two, separated by whitespace. Errors never quote the secret. */
export function readSigningKeys(secret: string): SigningKey[] {
  const texts = secret.split(/\s+/).filter(Boolean);
  if (texts.length < 1 || texts.length > 2 || !texts.every((text) => password.test(text)))
    throw new Error('The signing key must be 64 letters and digits, or two such texts.');
  return texts.map((text) => {
    const der = Buffer.concat([keyHeader, hash('sha256', text, 'buffer')]);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
    return { privateKey, publicKey: `whpk_${Buffer.from(x, 'base64url').toString('base64')}` };
  });
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
