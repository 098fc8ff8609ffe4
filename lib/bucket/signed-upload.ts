import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner';
import * as config from '../config.ts';
import { environmentCredentials, Sha256 } from '../aws/signing.ts';
import { objectUrl } from './object-keys.ts';

const expiresInSeconds = 15 * 60;

/*
 * The presigner alone signs a plain request: in a tenth of the time that the S3 client takes for a command, which would
 * also load that client, as long as a function's own start.
 */
const presigner = config.configured(
  () =>
    new S3RequestPresigner({
      credentials: environmentCredentials,
      region: config.bucket().AWS_REGION,
      sha256: Sha256,
    }),
);

/** A URL that accepts one PUT under the given key, with any headers: only its host is signed. */
export function signUpload(key: string): Promise<string> {
  return presign('PUT', key, expiresInSeconds);
}

/** A URL that allows one kind of request for a while, which must send exactly these `headers`. */
export async function presign(
  method: 'GET' | 'HEAD' | 'PUT',
  key: string,
  expiresIn: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const { protocol, hostname, host, pathname } = objectUrl(key);
  const signed = await presigner().presign(
    { method, protocol, hostname, path: pathname, query: {}, headers: { host, ...headers } },
    { expiresIn, signableHeaders: new Set(Object.keys(headers)), unsignableHeaders: new Set() },
  );
  const query = new URLSearchParams(signed.query as Record<string, string>);
  return `${signed.protocol}//${signed.headers.host}${signed.path}?${query}`;
}
