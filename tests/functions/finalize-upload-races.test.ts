import { beforeAll, expect, test } from '@jest/globals';
import { copyOnce, findObject } from '../../lib/bucket/bucket.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { archiveKey } from '../../lib/bucket/object-keys.ts';
import { banNodeVersion, unbanNodeVersion } from '../../packages/admin/registry/node-versions.ts';
import { seed } from '../../tools/local/seed.ts';
import { intercept } from '../support/intercept.ts';
import { fc } from '../support/properties.ts';
import { storedNode } from '../support/registry.ts';
import { finalize, publish, put, sha256, storedVersion } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const archive = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const rounds = 3;
const stable = Array.from({ length: 5 }, (_, index) => `1.${index}.0`);
const preReleases = Array.from({ length: 3 }, (_, index) => `2.0.0-beta.${index}`);

beforeAll(async () => {
  await seed();
});

test('makes the highest stable version the latest when eight are finalized at once', async () => {
  const all = [...stable, ...preReleases];
  const orders = fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), rounds);
  for (const [round, labels] of orders.entries()) {
    const nodeId = `eight-${round}`;
    await publish(nodeId, '0.1.0');
    const uploads = await Promise.all(labels.map((label) => publish(nodeId, label)));
    await Promise.all(uploads.map((upload) => put(upload, archive)));
    await Promise.all(uploads.map((upload) => finalize(upload)));

    expect((await storedNode(nodeId))?.latest_version).toMatchObject({ version: '1.4.0' });
  }
}, 300_000);

test('keeps a pre-release the latest until a stable version comes', async () => {
  for (const label of ['1.0.0-rc.1', '1.0.0-rc.2', '0.9.0', '1.0.0-rc.3']) {
    const upload = await publish('pre-released', label);
    await put(upload, archive);
    await finalize(upload);
  }
  const node = await storedNode('pre-released');
  expect(node?.latest_version).toMatchObject({ version: '0.9.0' });
});

test('does not make a version the latest that is banned right before', async () => {
  const [lower, higher] = await Promise.all(['1.0.0', '2.0.0'].map((label) => publish('banned', label)));
  if (!lower || !higher) throw new Error('Two versions were not published.');
  await Promise.all([put(lower, archive), put(higher, archive)]);
  await finalize(lower);
  let isBanned = false;
  intercept(dynamodb, async ({ input, send }) => {
    if (!isBanned && JSON.stringify(input.TransactItems ?? []).includes('latest_version')) {
      isBanned = true;
      await banNodeVersion('banned', '2.0.0', 'test');
    }
    return send();
  });
  await finalize(higher);

  expect(isBanned).toBe(true);
  expect(await storedVersion('banned', '2.0.0')).toMatchObject({ status: 'NodeVersionStatusBanned' });
  expect((await storedNode('banned'))?.latest_version).toMatchObject({ version: '1.0.0' });
});

test('finalizes a version after its ban is lifted that was banned before its archive arrived', async () => {
  const upload = await publish('ban-lifted', '1.0.0');
  await put(upload, archive);
  await banNodeVersion('ban-lifted', '1.0.0', 'test');
  await finalize(upload);
  expect(await storedVersion('ban-lifted', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusBanned' });
  await unbanNodeVersion('ban-lifted', '1.0.0');
  await finalize(upload);

  expect(await storedVersion('ban-lifted', '1.0.0')).toMatchObject({
    status: 'NodeVersionStatusActive',
    sha256: sha256(archive),
  });
});

test('keeps the published bytes when a finalizer copies late', async () => {
  const upload = await publish('late-copy', '1.0.0');
  await put(upload, archive);
  const checked = await findObject(`staging/late-copy/1.0.0/${upload.versionId}/${upload.uploadId}.zip`);
  if (!checked) throw new Error('The upload is missing.');
  await finalize(upload);
  await put(upload, zip([{ name: 'evil.py', data: 'x' }]));

  await copyOnce(checked, archiveKey(upload, sha256(archive)));
  expect(await findObject(archiveKey(upload, sha256(archive)))).toMatchObject({ sizeBytes: archive.length });
});
