import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

type Secret = string | ArrayBuffer | ArrayBufferView;

/** Node's own SHA-256 with the interface that the SDK's request signers expect. */
export class Sha256 {
  readonly #hash;
  constructor(secret?: Secret) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', importedKey(secret));
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

const keys = new Map<Secret, KeyObject>();
const maxKeys = 50;

/** Importing a key takes longer than using it, and the signers use the same few keys for hours. */
function importedKey(secret: Secret): KeyObject {
  const known = keys.get(secret);
  if (known) return known;
  if (keys.size >= maxKeys) keys.clear();
  const key = createSecretKey(secret as Buffer);
  keys.set(secret, key);
  return key;
}
