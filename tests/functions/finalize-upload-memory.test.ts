import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRawSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import type { Upload } from '../../lib/bucket/object-keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { sha256, storedVersion, uploaded, workEvent } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

const megabyte = 1_000_000;

/** Well below the function's 512 MB, for any archive. */
const maxPeakBytes = 200 * megabyte;

/**
 * Loads the bundle as Lambda does, and reports its memory and time. The peak of the process's own memory comes
 * from Linux: `maxRSS` also counts what the parent had when it forked, which here is Jest with the archive.
 */
const program = `
  import { readFile } from 'node:fs/promises';
  const { handler } = await import(process.cwd() + '/dist/finalize-upload/index.js');
  const started = performance.now();
  await handler(JSON.parse(process.argv[1]), { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 });
  const ms = performance.now() - started;
  const mark = /VmHWM:\\s+(\\d+) kB/.exec(await readFile('/proc/self/status', 'utf8').catch(() => ''));
  const peakBytes = 1024 * Number(mark?.[1] ?? process.resourceUsage().maxRSS);
  process.stdout.write(JSON.stringify({ peakBytes, ms }) + '\\n');
`;

beforeAll(seed);

/** Finalizes in a separate process. */
async function measure(upload: Upload): Promise<{ peakBytes: number; ms: number }> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=460', '--input-type=module', '-e', program, JSON.stringify(workEvent(upload))],
    // Jest's copy of the environment has the servers' addresses; without it a child gets the original one.
    { env: process.env },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** Bytes that do not compress; one repeated block is as good and costs less to make. */
const noise = (blocks: number) => Buffer.concat(Array.from({ length: blocks }, () => block));
const block = randomBytes(megabyte);

function allDirectory(): Buffer {
  const extra = Buffer.alloc(65_000);
  extra.writeUInt16LE(0xcafe, 0);
  extra.writeUInt16LE(extra.length - 4, 2);
  return zip(Array.from({ length: 1500 }, (_, index) => ({ name: `${index}`, data: 'x', extra })));
}

function unpacksToFourTimes(): Buffer {
  const data = Buffer.alloc(300 * megabyte);
  return zip([
    { name: 'noise.bin', data: noise(98), method: 0 },
    { name: 'zeros.bin', packed: deflateRawSync(data, { level: 1 }), data },
  ]);
}

/** As many folders as an archive can have, and each with a name that a repository has. */
function allFolders(): Buffer {
  const folders = '/HEAD'.repeat(62);
  return zip(Array.from({ length: 10_000 }, (_, index) => ({ name: `${index}${folders}`, method: 0 })));
}

test.each<[label: string, make: () => Buffer]>([
  ['100 MB that unpack to 400 MB', unpacksToFourTimes],
  ['97 MB of directory', allDirectory],
  ['620,000 folders', allFolders],
])('finalizeUpload takes at most 200 MB of memory for an archive of %s', async (label, make) => {
  const nodeId = label.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const archive = make();
  const upload = await uploaded(nodeId, archive);
  const { peakBytes, ms } = await measure(upload);

  console.info(`${label}: ${Math.round(peakBytes / megabyte)} MB, ${Math.round(ms)} ms`);
  const stored = await storedVersion(nodeId, '1.0.0');
  expect(stored).toMatchObject({ status: 'NodeVersionStatusActive', sha256: sha256(archive) });
  expect(peakBytes).toBeLessThan(maxPeakBytes);
});
