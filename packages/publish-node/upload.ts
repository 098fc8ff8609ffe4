import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Upload } from '@node-registry/registry-client';
import { requestTo } from './proxy.ts';

const idleMs = 60_000;
const chunkBytes = 64 * 1024;

type Progress = (sentBytes: number) => void;

/** The client's upload with progress, which fetch lacks. It sends the length, as S3 requires. */
export function uploadShowing(progress: Progress): Upload {
  return async (url, archive, signal) => {
    const bytes = archive instanceof Blob ? new Uint8Array(await archive.arrayBuffer()) : archive;
    return put(new URL(url), bytes, progress, signal);
  };
}

async function put(url: URL, archive: Uint8Array, progress: Progress, signal?: AbortSignal): Promise<number> {
  const outgoing = await requestTo(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip', 'content-length': archive.length },
    timeout: idleMs,
    signal,
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('the connection stalled')));
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject);
    // Its body adds nothing, and may have no end.
    outgoing.on('response', ({ statusCode = 0 }) => resolve(statusCode));
  });
  try {
    await Promise.race([answered, write(outgoing, archive, progress)]);
    return await answered;
  } finally {
    // An early response means that the rest isn't read.
    outgoing.destroy();
  }
}

/** In pieces, for the progress bar. Ends early if a response comes early. */
async function write(outgoing: ClientRequest, archive: Uint8Array, progress: Progress): Promise<void> {
  for (let start = 0; start < archive.length; start += chunkBytes) {
    const chunk = archive.subarray(start, start + chunkBytes);
    if (!outgoing.write(chunk)) await once(outgoing, 'drain');
    progress(start + chunk.length);
  }
  outgoing.end();
}
