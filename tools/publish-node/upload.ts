import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { Failure } from './failure.ts';
import { pause } from './registry.ts';

const maxAttempts = 4;
const idleMs = 60_000;
const chunkBytes = 64 * 1024;

type Progress = (sentBytes: number) => void;

/** Puts the archive to its signed URL, again where the connection fails: the same bytes do no harm. */
export async function upload(url: string, archive: Buffer, progress: Progress): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const status = await put(new URL(url), archive, progress).catch((error: unknown) => {
      if (attempt < maxAttempts) return 0;
      throw new Failure('tryAgain', 'The upload broke off. Run the command again.', { cause: error });
    });
    if (status === 200) return;
    if ((status !== 0 && status < 500) || attempt === maxAttempts) {
      throw new Failure('tryAgain', `The upload was answered with status ${status}. Run the command again.`);
    }
    await pause(Math.random() * 500 * 2 ** attempt);
  }
}

async function put(url: URL, archive: Buffer, progress: Progress): Promise<number> {
  const { request } = url.protocol === 'https:' ? https : http;
  const outgoing = request(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip', 'content-length': archive.length },
    timeout: idleMs,
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('the connection stood still')));
  const answered = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
  });
  await Promise.race([answered, write(outgoing, archive, progress)]);
  return answered;
}

/** In pieces, for the sake of the progress bar; ends early where an answer comes early. */
async function write(outgoing: http.ClientRequest, archive: Buffer, progress: Progress): Promise<void> {
  for (let start = 0; start < archive.length; start += chunkBytes) {
    const chunk = archive.subarray(start, start + chunkBytes);
    if (!outgoing.write(chunk)) await once(outgoing, 'drain');
    progress(start + chunk.length);
  }
  outgoing.end();
}
