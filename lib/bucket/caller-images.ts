import type { Context } from '../context.ts';
import { httpRequest } from '../outgoing/http-request.ts';
import { presign } from './signed-upload.ts';

/** Bytes that a caller holds, by the name that it gives them in a request: `upload:<sha256>:<bytes>`. */
export interface CallerImage {
  sha256: string;
  bytes: number;
}

/** A prefix of each caller's own, so that one can neither read nor learn of another's. It expires after a day. */
function keyOf(callerHash: string, { sha256 }: CallerImage): string {
  return `images/${callerHash}/${sha256}`;
}

/** How long a provider may take to fetch an image; the credentials of the function may end before. */
const readSeconds = 12 * 60 * 60;
const writeSeconds = 15 * 60;
const lookSeconds = 60;

/** Whether the bucket has the caller's image. Without the right to list it, S3 answers 403 for what is not there. */
export async function hasImage(
  { deadline }: Context,
  callerHash: string,
  image: CallerImage,
): Promise<boolean> {
  const signed = await presign('HEAD', keyOf(callerHash, image), lookSeconds);
  const timeoutMs = Math.min(5000, Math.max(1, deadline - Date.now()));
  const { status, headers } = await httpRequest({
    url: new URL(signed),
    method: 'HEAD',
    timeoutMs,
    maxReplyBytes: 1024,
  });
  if (status === 200) return Number(headers['content-length']) === image.bytes;
  if (status === 404 || status === 403) return false;
  throw new Error(`S3 answered ${status} to the HEAD of an image.`);
}

/** Where the provider reads it. */
export function imageUrl(callerHash: string, image: CallerImage): Promise<string> {
  return presign('GET', keyOf(callerHash, image), readSeconds);
}

/** Where its caller puts it: digest and size are signed, so S3 takes these bytes and no others. */
export function imageUploadUrl(callerHash: string, image: CallerImage): Promise<string> {
  return presign('PUT', keyOf(callerHash, image), writeSeconds, {
    'content-length': String(image.bytes),
    'x-amz-checksum-sha256': Buffer.from(image.sha256, 'hex').toString('base64'),
  });
}
