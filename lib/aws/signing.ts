import { createHash, createHmac } from 'node:crypto';

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/**
 * Lambda passes the role's credentials in the environment, and they outlast the process, so clients read them
 * once. The SDK's full chain also looks for profiles, sign-ons and instance metadata, which functions don't
 * have. It is a third of the SDK's size, so deployed bundles contain this instead.
 */
export async function environmentCredentials(): Promise<Credentials> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    throw new Error('There are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.');
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

/** Node's own SHA-256 with the interface that the SDK's request signers expect. */
export class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Buffer);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

/** The host of a regional AWS service. Regions in China have their own domain. */
export function serviceHost(service: string, region: string): string {
  return `${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
