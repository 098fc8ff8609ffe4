import { sha256 } from '@noble/hashes/sha2.js';
import { hexOf, supported } from './request.ts';
import { isAbsent, readText } from './read-answer.ts';
import { RegistryError } from './registry-error.ts';
import type { Settings } from './settings.ts';
import { within } from './within.ts';

const maxErrorBytes = 10_000;

/** The fields of a version that a download needs. */
export interface Downloadable {
  downloadUrl?: string | undefined;
  sha256?: string | undefined;
  size_bytes?: number | undefined;
}

/**
 * The bytes of an archive as they arrive. If they don't match the published ones, the stream fails with
 * `wrong_digest` at its end, or as soon as it is too long. It fails with `timed_out` if nothing arrives for
 * `timeoutMs`.
 */
export async function download(
  { fetch: request, timeoutMs }: Settings,
  version: Downloadable,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const { downloadUrl: url, sha256: expected, size_bytes: size = Number.POSITIVE_INFINITY } = version;
  if (!url || !expected)
    throw new RegistryError('invalid_request', 'This version has no archive to download.');
  const connection = new AbortController();
  const late = () => new RegistryError('timed_out', `${url} sent nothing for ${timeoutMs} ms.`);
  /** A step of the download; if it fails, the connection is closed. */
  const step = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await within(timeoutMs, signal, work, late);
    } catch (cause) {
      connection.abort();
      signal?.throwIfAborted();
      if (cause instanceof RegistryError) throw cause;
      throw new RegistryError('unreachable', `The download of ${url} was cut off.`, { cause });
    }
  };
  const response = await step(() =>
    request(url, { signal: connection.signal, ...supported({ credentials: 'omit' }) }),
  );
  const { status, ok, body } = response;
  if (!ok || !body) {
    const text = status === 403 ? await step(() => readText(response, maxErrorBytes)) : '';
    connection.abort();
    const other = status >= 500 || status === 429 ? 'unavailable' : 'invalid_reply';
    const code = isAbsent(response, text ?? '') ? 'not_found' : other;
    throw new RegistryError(code, `The download of ${url} failed with status ${status}.`, { status });
  }
  const reader = body.getReader();
  const digest = sha256.create();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await step(() => reader.read());
        bytes += value?.length ?? 0;
        if (bytes > size || (done && hexOf(digest.digest()) !== expected)) {
          connection.abort();
          throw new RegistryError(
            'wrong_digest',
            `${url} has different bytes from those that were published.`,
          );
        }
        if (done) return controller.close();
        digest.update(value);
        controller.enqueue(value);
      },
      cancel: () => connection.abort(),
    },
    // Nothing is read before it is requested.
    { highWaterMark: 0 },
  );
}

/** A whole download. A browser's `Response` would hide why its stream failed. */
export async function blobOf(stream: ReadableStream<Uint8Array>): Promise<Blob> {
  const reader = stream.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts, { type: 'application/zip' });
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
}
