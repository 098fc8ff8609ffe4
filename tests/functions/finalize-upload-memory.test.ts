import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRawSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import type { Upload } from '../../lib/upload.ts';
import { seed } from '../../tools/local/seed.ts';
import { eventOf, publish, put, sha256, storedVersion } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const functionBytes = 512 * 1024 * 1024;
const megabyte = 1_000_000;

/**
 * Loads the bundle as Lambda does, and says what it took. The high-water mark of the process's own memory comes
 * from Linux: `maxRSS` also counts what the parent had when it forked, which here is Jest with the archive.
 */
const program = `
  import { readFile } from 'node:fs/promises';
  const { handler } = await import(process.cwd() + '/dist/finalize-upload/index.js');
  const started = performance.now();
  await handler(JSON.parse(process.argv[1]), { getRemainingTimeInMillis: () => 60_000 });
  const ms = performance.now() - started;
  const mark = /VmHWM:\\s+(\\d+) kB/.exec(await readFile('/proc/self/status', 'utf8').catch(() => ''));
  const peakBytes = 1024 * Number(mark?.[1] ?? process.resourceUsage().maxRSS);
  process.stdout.write(JSON.stringify({ peakBytes, ms }) + '\\n');
`;

beforeAll(async () => {
  await seed();
});

/** Finalises in a process of its own. */
async function measure(upload: Upload): Promise<{ peakBytes: number; ms: number }> {
  const flags = [
    '--max-old-space-size=460',
    '--max-semi-space-size=24',
    '--input-type=module',
    '-e',
    program,
  ];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, JSON.stringify(eventOf(upload))],
    {
      // Jest's copy of the environment, with the servers' addresses; a child is given the original one else.
      env: process.env,
    },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

test('an archive of 100 MB that unpacks to 400 MB passes in a function of 512 MB', async () => {
  const packed = deflateRawSync(Buffer.alloc(300 * megabyte), { level: 1 });
  const noise = randomBytes(100 * megabyte - packed.length - 1000);
  const archive = zip([
    { name: 'noise.bin', data: noise, method: 0 },
    { name: 'zeros.bin', packed, data: Buffer.alloc(300 * megabyte) },
  ]);
  const upload = await publish('large', '1.0.0');
  await put(upload, archive);
  const { peakBytes, ms } = await measure(upload);

  console.info(`100 MB: peak ${Math.round(peakBytes / megabyte)} MB, ${Math.round(ms)} ms`);
  expect(await storedVersion('large', '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  expect(peakBytes).toBeLessThan(functionBytes * 0.9);
}, 60_000);

test('an archive that is all directory does not grow past the function either', async () => {
  const extra = Buffer.alloc(65_000);
  extra.writeUInt16LE(0xcafe, 0);
  extra.writeUInt16LE(extra.length - 4, 2);
  const archive = zip(Array.from({ length: 1500 }, (_, index) => ({ name: `${index}`, data: 'x', extra })));
  const upload = await publish('all-directory', '1.0.0');
  await put(upload, archive);
  const { peakBytes, ms } = await measure(upload);

  console.info(`97 MB of directory: peak ${Math.round(peakBytes / megabyte)} MB, ${Math.round(ms)} ms`);
  expect(await storedVersion('all-directory', '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  expect(peakBytes).toBeLessThan(functionBytes * 0.9);
}, 60_000);
