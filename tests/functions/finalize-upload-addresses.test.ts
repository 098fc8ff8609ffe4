import { beforeAll, describe, expect, test } from '@jest/globals';
import { deleteObject, findObject, s3 } from '../../lib/bucket/bucket.ts';
import { stagingKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { nodeKey } from '../../lib/store/keys.ts';
import { seed } from '../../tools/local/seed.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { setFields } from '../support/registry.ts';
import { download, finalize, publish, put, sha256, storedVersion, uploaded } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

/* A signed address takes one object after another as long as it lasts. */

const archive = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const other = zip([{ name: 'node.py', data: 'print("other")\n' }]);
const bad = Buffer.from('this is not a zip, and it is long enough to be read');

beforeAll(seed);

describe('an upload URL', () => {
  const isThere = async (upload: Upload) => (await findObject(stagingKey(upload))) !== undefined;

  test('keeps nothing once its archive is published, even if it was used again before, meanwhile and afterward', async () => {
    const upload = await uploaded('cleared', bad);
    await put(upload, archive);
    beforeNext(s3(), /^GetObjectCommand$/, () => put(upload, other), 1);
    await finalize(upload);
    expect(await isThere(upload)).toBe(false);
    await put(upload, other);
    await finalize(upload);

    expect(await isThere(upload)).toBe(false);
    const { downloadUrl } = await storedVersion('cleared', '1.0.0');
    expect(await download(downloadUrl)).toEqual(archive);
  });

  test('keeps nothing if a later publish replaced it, or if its version is unknown', async () => {
    const early = await publish('cleared-early', '1.0.0');
    const late = await publish('cleared-early', '1.0.0');
    const removed = { ...late, versionId: 'another' };
    await Promise.all([early, late, removed].map((upload) => put(upload, archive)));
    await finalize(early, removed);

    expect(await Promise.all([early, removed, late].map(isThere))).toEqual([false, false, true]);
  });

  test('keeps nothing once it has taken all its archives', async () => {
    const upload = await publish('cleared-used-up', '1.0.0');
    for (let count = 1; count <= 8; count += 1) await put(upload, Buffer.from(`${bad} ${count}`));
    await finalize(upload);

    expect(await isThere(upload)).toBe(false);
    expect(await storedVersion('cleared-used-up', '1.0.0')).toMatchObject({
      rejected_objects: Array.from({ length: 5 }, () => expect.any(String)),
    });
  });

  test('keeps only an archive that waits for its node to be active again', async () => {
    const upload = await uploaded('kept-while-deleted', archive);
    await setFields(nodeKey('kept-while-deleted'), { status: 'NodeStatusDeleted' });
    await finalize(upload);

    expect(await isThere(upload)).toBe(true);
  });
});

describe('a URL that is used again while its archive is checked', () => {
  test('does not change the bytes that are checked and published', async () => {
    const upload = await uploaded('used-while-checked', archive);
    beforeNext(s3(), /^GetObjectCommand$/, () => put(upload, other), Number.POSITIVE_INFINITY);
    await finalize(upload);

    const version = await storedVersion('used-while-checked', '1.0.0');
    expect(version.sha256).toBe(sha256(archive));
    expect(await download(version.downloadUrl)).toEqual(archive);
  });

  test('gets its newer bytes checked when the older ones are gone', async () => {
    const upload = await uploaded('gone-early', archive);
    beforeNext(s3(), /^GetObjectCommand$/, () => replace(upload, other), 1);
    await finalize(upload);

    expect(await storedVersion('gone-early', '1.0.0')).toMatchObject({ sha256: sha256(other) });
  });

  test('is left to later events if it is used without end after its archive is published', async () => {
    const upload = await publish('used-without-end', '1.0.0');
    let uses = 0;
    intercept(s3(), async ({ command, send }) => {
      const reply = await send();
      if (command !== 'DeleteObjectCommand' || uses === 60) return reply;
      uses += 1;
      await put(upload, bad);
      return reply;
    });
    await put(upload, archive);
    await finalize(upload);

    expect(uses).toBe(50);
  });
});

async function replace(upload: Upload, bytes: Buffer): Promise<void> {
  const object = await findObject(stagingKey(upload));
  if (object) await deleteObject(object);
  await put(upload, bytes);
}
