import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';

/*
 * Standard Webhooks with its asymmetric scheme (`v1a`, Ed25519): receivers hold no secret that they could lose. While a
 * key is replaced, every notification carries two signatures.
 */

export interface SigningKey {
  privateKey: KeyObject;
  /** As receivers get it. */
  publicKey: string;
}

/** How PKCS #8 begins for a bare Ed25519 key. */
const keyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const seedBytes = 32;

/** The keys in a secret: one, or two, separated by blanks. Its errors never quote it. */
export function readSigningKeys(secret: string): SigningKey[] {
  const texts = secret.split(/[\s,]+/).filter(Boolean);
  if (texts.length === 0 || texts.length > 2) throw new Error('The signing key must be one key or two.');
  return texts.map(readSigningKey);
}

/** A password of so many letters and digits, as Secrets Manager makes one, has more than 380 random bits. */
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

/** The signed text contains the id and the time of the attempt, so that no one can send an old notification as new. */
export function signedContent(id: string, timestamp: number, body: string): string {
  return `${id}.${timestamp}.${body}`;
}

/** The three headers of a notification. */
export function signatureHeaders(
  keys: readonly SigningKey[],
  { id, body }: { id: string; body: string },
  now = Date.now(),
): Record<string, string> {
  const timestamp = Math.floor(now / 1000);
  const content = Buffer.from(signedContent(id, timestamp, body));
  const signatures = keys.map(
    ({ privateKey }) => `v1a,${sign(null, content, privateKey).toString('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
