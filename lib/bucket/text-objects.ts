import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type Context, untilDeadline } from '../context.ts';
import { bucketName, s3, statusOf } from './bucket.ts';

/** A call and its repetitions end within three seconds, and one that hangs leaves time for a second one. */
function inShort(context: Context) {
  return { ...untilDeadline(context, 3000), requestTimeout: 1500 };
}

interface TextObject {
  text: string;
  etag: string;
}

/** Undefined if the object is missing. Without the right to list the bucket, S3 answers 403 for a missing object. */
export async function readText(context: Context, key: string): Promise<TextObject | undefined> {
  try {
    const command = new GetObjectCommand({ Bucket: bucketName(), Key: key });
    const { Body, ETag } = await s3().send(command, inShort(context));
    // Without one, the next write would replace whatever is there.
    if (!ETag) throw new Error('S3 sent an object without its ETag.');
    return { text: (await Body?.transformToString()) ?? '', etag: ETag };
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 403) return undefined;
    throw error;
  }
}

interface NewText {
  key: string;
  text: string;
  contentType?: string;
  cacheControl: string;
  /** Of the object that it replaces; without one there must be none. */
  etag: string | undefined;
}

/** Returns false, and writes nothing, if the object is not the one that was expected. */
export async function writeIfMatches(context: Context, written: NewText): Promise<boolean> {
  const { key, text, contentType = 'application/json', cacheControl, etag } = written;
  try {
    const command = new PutObjectCommand({
      Bucket: bucketName(),
      Key: key,
      Body: text,
      ContentType: contentType,
      CacheControl: cacheControl,
      ...(etag === undefined ? { IfNoneMatch: '*' } : { IfMatch: etag }),
    });
    const { ETag } = await s3().send(command, inShort(context));
    // Whatever answered without one was not S3, which may have rejected the write.
    if (!ETag) throw new Error('S3 confirmed a write without an ETag.');
    return true;
  } catch (error) {
    // 409: another conditional write of the same object ran at the same time. 404: the object expired meanwhile.
    const isNoBucket = error instanceof Error && error.name === 'NoSuchBucket';
    if (!isNoBucket && [404, 409, 412].includes(Number(statusOf(error)))) return false;
    throw error;
  }
}
