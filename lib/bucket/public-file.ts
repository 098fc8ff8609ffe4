import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { readText, writeIfMatches } from './text-objects.ts';

/*
 * JSON files that anyone reads and that several writers keep up to date. A writer reads the file, then the table, and
 * writes only over the file that it read: so every writer has read the table after the writer before it was done.
 * - Whoever follows a change writes even if the file says the right thing already, or a writer that read the table
 *   before that change could still put the older state there.
 * - An ETag is a hash of the content, so each write increases the file's revision.
 * - Files are emptied, not deleted: without a file, two writers could not tell which of them is late.
 */

const maxAttempts = 12;
const pauseMs = 25;
/** The distribution keeps a file this long, and then a browser once more: a ban shows within a minute. */
const cacheControl = 'public, max-age=30';

/**
 * Puts what `next` makes of the current content under the key. Undefined from `next` leaves the file as it is; so does
 * the same content with `onlyIfDifferent`, for a writer that does not follow a change.
 */
export async function refreshFile<Content extends object>(
  context: Context,
  key: string,
  next: (current: Content | undefined) => Promise<Content | undefined>,
  { onlyIfDifferent = false } = {},
): Promise<'written' | 'unchanged'> {
  for (let attempt = 1; attempt <= maxAttempts && Date.now() < context.deadline; attempt += 1) {
    const current = await readText(context, key);
    const { revision = 0, ...shown }: { revision?: number } = current ? JSON.parse(current.text) : {};
    const content = await next(current && (shown as Content));
    if (!content) return 'unchanged';
    if (onlyIfDifferent && current && JSON.stringify(content) === JSON.stringify(shown)) return 'unchanged';
    const text = textOf(revision + 1, content);
    if (await writeIfMatches(context, { key, text, cacheControl, etag: current?.etag })) return 'written';
    await pause(Math.random() * pauseMs * attempt);
  }
  throw new ApiError('unavailable', { reason: `file ${key} kept changing` });
}

/** A listing shows no revision, so the first few are tried. */
const triedRevisions = 20;

/**
 * Puts the content under the key if the file there is still the listed one (undefined: none), and returns undefined if
 * not. The content must have been read after the listing. A file that says the same is mostly known by its ETag alone.
 */
export async function refreshListed(
  context: Context,
  key: string,
  listed: string | undefined,
  content: object,
): Promise<'written' | 'unchanged' | undefined> {
  let revision = 0;
  if (listed !== undefined) {
    for (let tried = 1; tried <= triedRevisions; tried += 1)
      if (listed === `"${hash('md5', textOf(tried, content))}"`) return 'unchanged';
    const current = await readText(context, key);
    if (current?.etag !== listed) return undefined;
    const { revision: last = 0, ...shown }: { revision?: number } = JSON.parse(current.text);
    if (JSON.stringify(content) === JSON.stringify(shown)) return 'unchanged';
    revision = last;
  }
  const text = textOf(revision + 1, content);
  return (await writeIfMatches(context, { key, text, cacheControl, etag: listed })) ? 'written' : undefined;
}

function textOf(revision: number, content: object): string {
  return JSON.stringify({ revision, ...content });
}

/** Puts the content under the key unless there is a file already. */
export async function createFile(context: Context, key: string, content: object): Promise<void> {
  await writeIfMatches(context, {
    key,
    text: textOf(1, content),
    cacheControl,
    etag: undefined,
  });
}
