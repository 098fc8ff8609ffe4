import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CopyObjectCommand, GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { readEnvironment } from '../environment.ts';
import { encodedPath } from './object-url.ts';

const { BUCKET_NAME, AWS_ENDPOINT_URL_S3 } = readEnvironment('bucket');

export const bucket = BUCKET_NAME;

export const s3 = new S3Client({
  maxAttempts: 3,
  forcePathStyle: AWS_ENDPOINT_URL_S3 !== undefined,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
  // The third makes the second an error; the last ends a download that stands still.
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
    socketTimeout: 10_000,
  },
});

/** One state of an object: its ETag is a condition of every later read, so that all of them see the same bytes. */
export class StoredObject {
  readonly key: string;
  readonly etag: string;
  readonly sizeBytes: number;

  constructor(key: string, etag: string, sizeBytes: number) {
    this.key = key;
    this.etag = etag;
    this.sizeBytes = sizeBytes;
  }

  /** The bytes from `start` up to, not including, `end`. */
  async read(start: number, end: number): Promise<Buffer> {
    const bytes = await buffer(await read(this, `bytes=${start}-${end - 1}`));
    if (bytes.length !== end - start) throw new Error(`S3 sent ${bytes.length} of ${end - start} bytes.`);
    return bytes;
  }

  stream(): Promise<Readable> {
    return read(this, undefined);
  }
}

/** Somebody put other bytes under the key since it was looked up. */
export class ObjectChanged extends Error {
  override readonly name = 'ObjectChanged';
}

export async function findObject(key: string): Promise<StoredObject | undefined> {
  try {
    const { ETag, ContentLength } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return new StoredObject(key, String(ETag), Number(ContentLength));
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/** Copies inside S3. A target that exists already is left as it is: its key names the same bytes. */
export async function copyOnce(object: StoredObject, target: string): Promise<void> {
  const source = `${bucket}/${encodedPath(object.key)}`;
  const command = new CopyObjectCommand({
    Bucket: bucket,
    Key: target,
    CopySource: source,
    CopySourceIfMatch: object.etag,
    IfNoneMatch: '*',
    ContentType: 'application/zip',
    CacheControl: 'public, max-age=31536000, immutable',
    MetadataDirective: 'REPLACE',
  });
  try {
    await s3.send(command);
  } catch (error) {
    if (statusOf(error) !== 412) throw error;
    // Either condition answers 412, and only the source's is a fault.
    if (!(await findObject(target))) throw new ObjectChanged(object.key, { cause: error });
  }
}

async function read(object: StoredObject, range: string | undefined): Promise<Readable> {
  const where = { Bucket: bucket, Key: object.key, IfMatch: object.etag };
  try {
    const { Body } = await s3.send(new GetObjectCommand({ ...where, ...(range && { Range: range }) }));
    if (!(Body instanceof Readable)) throw new Error('S3 sent no stream.');
    return Body;
  } catch (error) {
    if (statusOf(error) === 412 || statusOf(error) === 404)
      throw new ObjectChanged(object.key, { cause: error });
    throw error;
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
