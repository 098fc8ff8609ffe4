import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type ListObjectsV2CommandInput,
  paginateListObjectsV2,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import * as config from '../config.ts';
import { encodedPath } from './object-keys.ts';
import { type Context, untilDeadline } from '../context.ts';

export const bucketName = () => config.bucket().BUCKET_NAME;

export const s3 = config.configured(
  () =>
    new S3Client({
      maxAttempts: 3,
      forcePathStyle: config.bucket().AWS_ENDPOINT_URL_S3 !== undefined,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: 1000,
        requestTimeout: 30_000,
        // Otherwise the limit above is only a warning.
        throwOnRequestTimeout: true,
        // Ends a stalled download.
        socketTimeout: 10_000,
      },
    }),
);

/**
 * One version of an object. Every later read names it, so that all reads see the same bytes, even if another object is
 * put under the key. The ETag is not enough: it is an MD5, and two archives can share one.
 */
export class StoredObject {
  readonly key: string;
  readonly versionId: string;
  readonly sizeBytes: number;
  readonly arrivedAt: number;

  constructor(key: string, versionId: string, sizeBytes: number, arrivedAt: number) {
    this.key = key;
    this.versionId = versionId;
    this.sizeBytes = sizeBytes;
    this.arrivedAt = arrivedAt;
  }

  /** The bytes from `start` to `end`, excluding `end`. */
  async read(start: number, end: number): Promise<Buffer> {
    const bytes = await buffer(await read(this, `bytes=${start}-${end - 1}`));
    if (bytes.length !== end - start) throw new Error(`S3 sent ${bytes.length} of ${end - start} bytes.`);
    return bytes;
  }

  stream(): Promise<Readable> {
    return read(this, undefined);
  }
}

/** The version found earlier is gone. There may be another one under the key. */
export class ObjectChanged extends Error {
  override readonly name = 'ObjectChanged';
}

export async function findObject(key: string): Promise<StoredObject | undefined> {
  const head = new HeadObjectCommand({ Bucket: bucketName(), Key: key });
  const found = await s3().send(head).catch(noneIfMissing);
  if (!found) return undefined;
  if (found.VersionId === undefined)
    throw new Error(`Versioning is off in the bucket "${bucketName()}". Switch it on.`);
  return new StoredObject(key, found.VersionId, Number(found.ContentLength), Number(found.LastModified));
}

/** Permanently deletes exactly this version. Succeeds if it is already gone. */
export async function deleteObject(object: StoredObject): Promise<void> {
  await s3().send(new DeleteObjectCommand(whereOf(object)));
}

/** The tag of an object that the bucket's policy denies to the distribution (infra/template/archives.yml). */
export const deniedTag = { Key: 'node-registry', Value: 'denied' } as const;

/** Sets or removes the tag. */
export async function markDenied(key: string, isDenied: boolean): Promise<void> {
  const object = { Bucket: bucketName(), Key: key };
  if (isDenied) await s3().send(new PutObjectTaggingCommand({ ...object, Tagging: { TagSet: [deniedTag] } }));
  else await s3().send(new DeleteObjectTaggingCommand(object));
}

/** Copies inside S3. Leaves an existing target: its key names the same bytes. */
export async function copyOnce(object: StoredObject, target: string): Promise<void> {
  const source = `${bucketName()}/${encodedPath(object.key)}?versionId=${encodeURIComponent(object.versionId)}`;
  const command = new CopyObjectCommand({
    Bucket: bucketName(),
    Key: target,
    CopySource: source,
    IfNoneMatch: '*',
    ContentType: 'application/zip',
    CacheControl: 'public, max-age=31536000, immutable',
    MetadataDirective: 'REPLACE',
  });
  await s3()
    .send(command)
    .catch((error: unknown) => {
      if (statusOf(error) === 404) throw new ObjectChanged(object.key, { cause: error });
      if (statusOf(error) !== 412) throw error;
    });
}

async function read(object: StoredObject, range: string | undefined): Promise<Readable> {
  const where = whereOf(object);
  try {
    const { Body } = await s3().send(new GetObjectCommand({ ...where, ...(range && { Range: range }) }));
    if (!(Body instanceof Readable)) throw new Error('S3 sent no stream.');
    return Body;
  } catch (error) {
    if (statusOf(error) === 404) throw new ObjectChanged(object.key, { cause: error });
    throw error;
  }
}

function whereOf({ key, versionId }: StoredObject) {
  return { Bucket: bucketName(), Key: key, VersionId: versionId };
}

function noneIfMissing(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

export function listPages(context: Context, range: ListObjectsV2CommandInput) {
  return paginateListObjectsV2({ client: s3() }, range, untilDeadline(context));
}

/** The ETags of the objects under each folder or key, by their keys. */
export async function listObjects(
  context: Context,
  root: string,
  names: readonly string[] = [''],
): Promise<Map<string, string>> {
  const etags = new Map<string, string>();
  for (const name of names)
    for await (const { Contents = [] } of listPages(context, { Bucket: bucketName(), Prefix: root + name }))
      for (const { Key = '', ETag = '' } of Contents) etags.set(Key, ETag);
  return etags;
}

/* Objects of any bucket of the stage, such as the log bucket. */

interface Place {
  Bucket: string;
  Key: string;
}

export async function putJson(context: Context, where: Place, Body: string): Promise<void> {
  const command = new PutObjectCommand({ ...where, Body, ContentType: 'application/json' });
  await s3().send(command, untilDeadline(context));
}

export async function deleteAt(context: Context, where: Place): Promise<void> {
  await s3().send(new DeleteObjectCommand(where), untilDeadline(context));
}

export async function readBytes(context: Context, where: Place): Promise<Buffer | undefined> {
  const sent = s3().send(new GetObjectCommand(where), untilDeadline(context));
  const { Body } = (await sent.catch(noneIfMissing)) ?? {};
  return Body && Buffer.from(await Body.transformToByteArray());
}

export async function* listKeys(
  context: Context,
  Bucket: string,
  Prefix: string,
  StartAfter?: string,
): AsyncGenerator<string> {
  for await (const { Contents = [] } of listPages(context, { Bucket, Prefix, StartAfter }))
    for (const { Key } of Contents) if (Key !== undefined) yield Key;
}
