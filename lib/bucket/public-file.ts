import { setTimeout as pause } from 'node:timers/promises';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type Context, untilDeadline } from '../context.ts';
import { ApiError } from '../errors.ts';
import { atMost } from '../in-parallel.ts';
import { isObject, parseObject } from '../json.ts';
import { bucketName, s3, statusOf } from './bucket.ts';

/*
 * Public JSON files that several writers keep up to date. A writer reads the file, then the table, and
 * overwrites only the file that it read: it has read the table after the previous writer was done.
 * - A writer that follows a change writes even if the file is already right, or a writer that read the table
 *   before that change could still put the older state there.
 * - An ETag is a hash of the content, so each write increases the file's revision.
 * - Files are emptied, not deleted: without a file, two writers could not tell which of them is late.
 */

/** Writers mostly wait for S3. */
export const maxFilesAtOnce = 8;
/** A version’s host nodes may take 25 MB of memory: eight of each of eight nodes would take more than there is. */
export const withHostNodes = atMost(maxFilesAtOnce);
const maxAttempts = 12;
const pauseMs = 25;
/** The distribution caches a file this long, then the browser as long: bans show after up to a minute. */
const cacheControl = 'public, max-age=30';

/**
 * Puts the content that `next` makes from the current one into the file. It stays if `next` returns
 * undefined, or, with `onlyIfDifferent`, the same content: use that in a writer that doesn't follow a change.
 */
export async function refreshFile<Content extends object>(
  context: Context,
  { key, contentType, read, write }: PublicFile<Content>,
  next: (current: Content | undefined) => Promise<Content | undefined>,
  onlyIfDifferent = false,
): Promise<'written' | 'unchanged'> {
  for (let attempt = 1; attempt <= maxAttempts && Date.now() < context.deadline; attempt += 1) {
    const stored = await readText(context, key);
    const current = stored && read(stored.text);
    const content = await next(current?.content);
    if (!content) return 'unchanged';
    if (onlyIfDifferent && JSON.stringify(content) === JSON.stringify(current?.content)) return 'unchanged';
    // An unreadable file is replaced, unless another writer was faster.
    const text = write((current?.revision ?? 0) + 1, content);
    const written = { key, text, contentType, cacheControl, etag: stored?.etag };
    if (await writeIfMatches(context, written)) return 'written';
    await pause(Math.random() * pauseMs * attempt);
  }
  throw new ApiError('unavailable', { reason: `file ${key} kept changing` });
}

/** How content is stored in a file, with the file's revision. */
export interface PublicFile<Content> {
  key: string;
  contentType: string;
  /** Undefined if the file has another format: it counts as absent. */
  read: (text: string) => { revision: number; content: Content } | undefined;
  write: (revision: number, content: Content) => string;
}

/** A JSON object that has these lists. A damaged file, or one of a later release, may contain anything. */
export function json<Content extends object>(
  key: string,
  ...lists: readonly (keyof Content & string)[]
): PublicFile<Content> {
  const read = (text: string) => {
    const file = parseObject(text);
    if (!file || !lists.every((name) => Array.isArray(file[name]) && file[name].every(isObject)))
      return undefined;
    const { revision, ...content } = file;
    return { revision: Number(revision) || 0, content: content as Content };
  };
  const write = (revision: number, content: Content) => JSON.stringify({ revision, ...content });
  return { key, contentType: 'application/json', read, write };
}

/** The content of a file; undefined if the file is missing or has another format. */
export async function readFile<Content>(
  context: Context,
  { key, read }: PublicFile<Content>,
): Promise<Content | undefined> {
  const stored = await readText(context, key);
  return stored && read(stored.text)?.content;
}

/** A call and its retries end within three seconds, and one that hangs leaves time for a second one. */
function inShort(context: Context) {
  return { ...untilDeadline(context, 3000), requestTimeout: 1500 };
}

interface TextObject {
  text: string;
  etag: string;
}

/** Undefined if the object is missing. Without the right to list the bucket, S3 answers 403 for that. `known` if it is still that. */
export async function readText(
  context: Context,
  key: string,
  known?: TextObject,
): Promise<TextObject | undefined> {
  try {
    const command = new GetObjectCommand({ Bucket: bucketName(), Key: key, IfNoneMatch: known?.etag });
    const { Body, ETag } = await s3().send(command, inShort(context));
    // Without an ETag, the next write would replace any object.
    if (!ETag) throw new Error('S3 sent an object without its ETag.');
    return { text: (await Body?.transformToString()) ?? '', etag: ETag };
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 403) return undefined;
    if (statusOf(error) === 304) return known;
    throw error;
  }
}

interface NewText {
  key: string;
  text: string;
  contentType?: string;
  cacheControl: string;
  /** The ETag of the object to replace; undefined if there must be no object yet. */
  etag: string | undefined;
}

/** Returns false, and writes nothing, if the object isn't the expected one. */
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
    // A server that omits it isn't S3, and S3 may have rejected the write.
    if (!ETag) throw new Error('S3 confirmed a write without an ETag.');
    return true;
  } catch (error) {
    // 409: another conditional write of the same object ran at the same time. 404: the object expired meanwhile.
    const isNoBucket = error instanceof Error && error.name === 'NoSuchBucket';
    if (!isNoBucket && [404, 409, 412].includes(Number(statusOf(error)))) return false;
    throw error;
  }
}
