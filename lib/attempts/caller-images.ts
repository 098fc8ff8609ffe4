import type * as z from 'zod/mini';
import { downloadUrl } from '../bucket/object-keys.ts';
import { presign } from '../bucket/signed-upload.ts';
import { callerHash } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError, type ErrorDetail } from '../errors.ts';
import { isObject } from '../json.ts';
import { httpRequest } from '../outgoing/http-request.ts';
import { innermost } from '../schemas/innermost.ts';
import { imageFields } from '../schemas/paid-fields.ts';
import { type CallerImage, countUploads, requireOpenAccount, uploadSeconds } from './uploads.ts';

/*
 * An image that is too large for a request: the caller names its bytes, and the provider gets their URL in
 * the bucket. Missing bytes are reported before anything is reserved.
 */

const beginning = 'upload:';
const shape = /^upload:([0-9a-f]{64}):([1-9]\d{0,8})$/;
const maxBytes = 50_000_000;

interface Request<Body> {
  schema: z.core.$ZodType;
  body: Body;
}

/** Replaces each image that the body names by its URL. Throws `upload_needed` if one is not uploaded. */
export async function withImageUrls<Body>(
  context: Context,
  caller: string,
  request: Request<Body>,
): Promise<Body> {
  const found: ImageField[] = [];
  withImages(request.schema, request.body, (text, path) => {
    if (text.slice(0, beginning.length).toLowerCase() === beginning)
      found.push({ path, text, image: read(text) });
    return text;
  });
  return found.length === 0 ? request.body : withUrls(context, caller, request, found);
}

async function withUrls<Body>(
  context: Context,
  caller: string,
  { schema, body }: Request<Body>,
  found: readonly ImageField[],
): Promise<Body> {
  const invalid = found
    .filter(({ image }) => image === undefined)
    .map(({ path }) => ({ path, message: rule }));
  if (invalid.length > 0) throw new ApiError('invalid_request', { details: invalid });
  await requireOpenAccount(context, caller);
  const place = { owner: callerHash(caller), isOffPeak: isObject(body) && body.off_peak === true };
  const images = new Map(found.flatMap(({ text, image }) => (image ? [[text, image] as const] : [])));
  const addresses = new Map<string, string>();
  const missing = new Map<string, CallerImage>();
  const isThere = (image: CallerImage) =>
    hasImage(context, place, image).catch((cause: unknown) => {
      throw new ApiError('unavailable', { cause });
    });
  await Promise.all(
    [...images].map(async ([text, image]) => {
      if (await isThere(image)) addresses.set(text, await imageUrl(place, image));
      else missing.set(text, image);
    }),
  );
  if (missing.size === 0) return withImages(schema, body, (text) => addresses.get(text) ?? text) as Body;
  await countUploads(context, caller, [...missing.values()], isThere);
  const details = found.map(async ({ path, text }): Promise<ErrorDetail[]> => {
    const image = missing.get(text);
    return image ? [{ path, message: needed, upload_url: await imageUploadUrl(place, image) }] : [];
  });
  throw new ApiError('upload_needed', { details: (await Promise.all(details)).flat() });
}

const rule = `must have at most ${maxBytes / 1_000_000} MB, as upload:<sha256 in 64 lowercase hexadecimal digits>:<bytes>`;
const needed = 'PUT these bytes to upload_url within 15 minutes, then send the same request again';

interface ImageField {
  path: string;
  text: string;
  image: CallerImage | undefined;
}

/** A valid body with what `change` makes of each image. */
function withImages(
  schema: z.core.$ZodType,
  value: unknown,
  change: (text: string, path: string) => string,
  path = 'body',
): unknown {
  const { schema: inner, shape, element } = innermost(schema);
  if (typeof value === 'string') return imageFields.get(inner) ? change(value, path) : value;
  if (element && Array.isArray(value))
    return value.map((item, index) => withImages(element, item, change, `${path}.${index}`));
  if (!shape || !isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const known = shape[name];
    return [name, known ? withImages(known, field, change, `${path}.${name}`) : field];
  });
  return Object.fromEntries(fields);
}

function read(text: string): CallerImage | undefined {
  const [, sha256, bytes] = shape.exec(text) ?? [];
  return sha256 === undefined || Number(bytes) > maxBytes ? undefined : { sha256, bytes: Number(bytes) };
}

/** A prefix for each caller. The name can't be guessed without the bytes. Expires after three days. */
function keyOf({ owner }: Place, { sha256 }: CallerImage): string {
  return `images/${owner}/${sha256}`;
}

interface Place {
  owner: string;
  /** The provider may fetch the image within 48 hours. */
  isOffPeak: boolean;
}

const hours = 60 * 60 * 1000;
/** An image that would expire before it is fetched is uploaded again. */
const maxAgeMs = { usual: 48 * hours, offPeak: 24 * hours };

const readSeconds = 12 * 60 * 60;
const lookSeconds = 60;

/** Whether the bucket has the image. Without the right to list it, S3 answers 403 for a missing one. */
async function hasImage({ deadline }: Context, place: Place, image: CallerImage): Promise<boolean> {
  const signed = await presign('HEAD', keyOf(place, image), lookSeconds);
  const timeoutMs = Math.min(5000, Math.max(1, deadline - Date.now()));
  const { status, headers } = await httpRequest({
    url: new URL(signed),
    method: 'HEAD',
    timeoutMs,
    maxReplyBytes: 1024,
  });
  if (status === 200) {
    const age = Date.now() - Date.parse(headers['last-modified'] ?? '');
    const isOld = age > maxAgeMs[place.isOffPeak ? 'offPeak' : 'usual'];
    return Number(headers['content-length']) === image.bytes && !isOld;
  }
  if (status === 404 || status === 403) return false;
  throw new Error(`S3 answered ${status} to the HEAD of an image.`);
}

/** The provider's URL. A signed URL expires with the function's credentials, after twelve hours at most. */
async function imageUrl(place: Place, image: CallerImage): Promise<string> {
  const key = keyOf(place, image);
  return place.isOffPeak ? downloadUrl(key) : presign('GET', key, readSeconds);
}

/** The caller's upload URL: digest and size are signed, so S3 accepts only these bytes. */
function imageUploadUrl(place: Place, image: CallerImage): Promise<string> {
  return presign('PUT', keyOf(place, image), uploadSeconds, {
    'content-length': String(image.bytes),
    'x-amz-checksum-sha256': Buffer.from(image.sha256, 'hex').toString('base64'),
  });
}
