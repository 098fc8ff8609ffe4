import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { directory } from '@node-registry/testing/folders';
import { startS3 } from '../../tools/local/s3.ts';
import { untilEnd } from '../support/serve.ts';

/*
 * One signed address is used forty times. The bucket is a server of its own here, whose events run the finalizer as
 * Lambda does: each in an invocation of its own, all at the same time.
 */
const server = untilEnd(await startS3(0, directory, String(process.env.BUCKET_NAME)));
process.env.AWS_ENDPOINT_URL_S3 = server.url;
const { handler } = await import('../../functions/finalize-upload.ts');
const { s3 } = await import('../../lib/bucket/bucket.ts');
const { signUpload } = await import('../../lib/bucket/signed-upload.ts');
const { stagingKey } = await import('../../lib/bucket/object-keys.ts');
const { finalizeOnUpload } = await import('../../tools/local/finalize-on-upload.ts');
const { seed } = await import('../../tools/local/seed.ts');
const { intercept } = await import('../support/intercept.ts');
const { lines } = await import('../support/logged-lines.ts');
const { finalize, publish, sha256, storedVersion } = await import('../support/uploads.ts');
const { beginChecks } = await import('../../lib/registry/finalizing.ts');
const { nodeVersionRecord } = await import('../../lib/registry/records.ts');
const { until } = await import('@node-registry/testing/until');
const { zip } = await import('@node-registry/testing/zip');

jest.setTimeout(60_000);

const uses = 40;
const good = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const running = new Set<Promise<unknown>>();

beforeAll(async () => {
  await seed();
  finalizeOnUpload(server, async () => (event: S3Event, context) => {
    const work = handler(event, context);
    running.add(work);
    return work;
  });
});

/** Long enough that its check downloads it. */
function badArchive(index: number): Buffer {
  return Buffer.from(`no zip ${index}`.padEnd(1000));
}

async function putBySignedUrl(url: string, bytes: Buffer): Promise<number> {
  const headers = { 'content-type': 'application/zip' };
  return (await fetch(url, { method: 'PUT', body: new Uint8Array(bytes), headers })).status;
}

/** Counts checks of an archive by what only a check does: it downloads. The most at one time, and all. */
function countChecks() {
  const checks = { all: new Set<unknown>(), now: 0, most: 0 };
  intercept(s3(), async ({ command, input, send }) => {
    if (command !== 'GetObjectCommand') return send();
    checks.all.add(input.VersionId);
    checks.now += 1;
    checks.most = Math.max(checks.most, checks.now);
    return send().finally(() => {
      checks.now -= 1;
    });
  });
  return checks;
}

function results(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of lines('upload')) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

async function finished(): Promise<void> {
  await until(() => Object.values(results()).reduce((sum, count) => sum + count, 0) >= uses);
  await Promise.all(running);
}

describe('forty uploads to one address', () => {
  test('check one good archive once and publish it, without any reserved concurrency', async () => {
    const upload = await publish('flooded-good', '1.0.0');
    const url = await signUpload(stagingKey(upload));
    const checks = countChecks();
    const statuses = await Promise.all(Array.from({ length: uses }, () => putBySignedUrl(url, good)));
    await finished();

    expect(statuses).toEqual(Array(uses).fill(200));
    expect(results()).toMatchObject({ published: 1 });
    expect(results()).not.toHaveProperty('failed');
    expect(checks.all.size).toBe(1);
    expect(await storedVersion('flooded-good', '1.0.0')).toMatchObject({
      status: 'NodeVersionStatusActive',
      sha256: sha256(good),
    });
    console.info(results());
  });

  test('check five bad archives, one at a time, and leave the reason and the way on: a new address', async () => {
    const upload = await publish('flooded-bad', '1.0.0');
    const url = await signUpload(stagingKey(upload));
    const checks = countChecks();
    await Promise.all(Array.from({ length: uses }, (_, index) => putBySignedUrl(url, badArchive(index))));
    await finished();

    expect(checks.all.size).toBe(5);
    expect(checks.most).toBe(1);
    const version = await storedVersion('flooded-bad', '1.0.0');
    expect(version).toMatchObject({
      status: 'NodeVersionStatusPending',
      status_reason_code: 'archive_rejected',
    });
    expect(version.status_reason).toMatch(
      /it is not a zip file.* An upload address accepts 5 archives\. Publish again for a new one\.$/,
    );

    const again = await publish('flooded-bad', '1.0.0');
    await putBySignedUrl(await signUpload(stagingKey(again)), good);
    await until(() => 'published' in results());

    expect(await storedVersion('flooded-bad', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusActive' });
  });
});

test('checks an archive next that arrived while a bad one was checked, though its own event ended at once', async () => {
  const upload = await publish('corrected', '1.0.0');
  const url = await signUpload(stagingKey(upload));
  let isCorrected = false;
  intercept(s3(), async ({ command, send }) => {
    if (command === 'GetObjectCommand' && !isCorrected) {
      isCorrected = true;
      await putBySignedUrl(url, good);
      await finalize(upload);
      // By its own event, and by the one that came once more.
      await until(() => results().in_progress === 2);
    }
    return send();
  });
  await putBySignedUrl(url, badArchive(0));
  await until(() => 'published' in results());

  expect(results()).toMatchObject({ published: 1, in_progress: 2 });
  expect(await storedVersion('corrected', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusActive' });
});

test('counts a bad archive once, though a second one covered it while it was checked', async () => {
  const upload = await publish('covered', '1.0.0');
  const url = await signUpload(stagingKey(upload));
  let isCovered = false;
  const checked: unknown[] = [];
  intercept(s3(), async ({ command, input, send }) => {
    if (command === 'GetObjectCommand') {
      checked.push(input.VersionId);
      if (!isCovered) {
        isCovered = true;
        await putBySignedUrl(url, badArchive(1));
      }
    }
    return send();
  });
  await putBySignedUrl(url, badArchive(0));
  await until(() => 'rejected' in results());
  await Promise.all(running);

  expect(new Set(checked).size).toBe(2);
  expect(checked).toHaveLength(2);
  const version = await storedVersion('covered', '1.0.0');
  expect(version?.rejected_objects).toEqual(expect.arrayContaining(checked));
  expect(version).not.toHaveProperty('checked_by');
});

test('a finalizer that died while it checked keeps the upload from others only until its own deadline', async () => {
  const upload = await publish('died-for-good', '1.0.0');
  const diesAt = Date.now() + 60_000;
  const version = nodeVersionRecord(await storedVersion('died-for-good', '1.0.0'));
  await beginChecks({ deadline: diesAt }, version, 'died');
  await putBySignedUrl(await signUpload(stagingKey(upload)), good);
  await finalize(upload);
  await until(() => results().in_progress === 2);
  expect(results()).not.toHaveProperty('published');

  jest.spyOn(Date, 'now').mockReturnValue(diesAt + 1);
  await finalize(upload);
  expect(results()).toMatchObject({ published: 1 });
});
