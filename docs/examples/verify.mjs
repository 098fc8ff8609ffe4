// Whether a notification is signed: its headers, the raw body as a Buffer, and the operator's public key
import { createPublicKey, verify } from 'node:crypto';

export function isSigned(headers, body, publicKey) {
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers;
  if (!id || !signatures || id.includes('.') || !(Math.abs(Date.now() / 1000 - time) <= 300)) return false;
  const content = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  return signatures
    .split(' ')
    .some((each) => verify(null, content, key, Buffer.from(each.replace('v1a,', ''), 'base64')));
}
