import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/finalize-upload.ts';
import { findObject, s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, stagingKey } from '../../lib/bucket/object-keys.ts';
import { nodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { seed } from '../../tools/local/seed.ts';
import { beforeNext, failAmidWrites, intercept } from '../support/intercept.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { setFields, storedNode } from '../support/registry.ts';
import {
  download,
  eventOf,
  finalize,
  publish,
  put,
  sha256,
  storedVersion,
  uploaded,
} from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';
import { admin } from '../support/admin.ts';

const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 };
const archive = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const bad = Buffer.from('this is not a zip, and it is long enough to be read');
const _other = zip([{ name: 'node.py', data: 'print("other")\n' }]);
const active = { status: 'NodeVersionStatusActive', sha256: sha256(archive) };

beforeAll(seed);

describe('an archive that arrived', () => {
  test('makes its version active, with address, size and digest', async () => {
    const upload = await uploaded('arrives', archive);
    await finalize(upload);

    const version = await storedVersion('arrives', '1.0.0');
    expect(version).toMatchObject({ id: upload.versionId, size_bytes: archive.length, ...active });
    expect(version).not.toHaveProperty('status_reason');
    expect(version.pending_shard).toMatch(/^extract-/);
    expect(await download(version.downloadUrl)).toEqual(archive);
    expect(await storedNode('arrives')).toMatchObject({
      latest_version: { version: '1.0.0', sha256: sha256(archive), archive_key: version.archive_key },
    });
  });

  test('makes its version active after a ban is lifted that came before it', async () => {
    const upload = await uploaded('ban-lifted', archive);
    await admin('node-version', 'ban', 'ban-lifted', '1.0.0', '--reason', 'test');
    await finalize(upload);
    expect(await storedVersion('ban-lifted', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusBanned' });
    await admin('node-version', 'unban', 'ban-lifted', '1.0.0');
    await finalize(upload);

    expect(await storedVersion('ban-lifted', '1.0.0')).toMatchObject(active);
  });

  test('stays out of the published archives if its version is banned during the check, until that is lifted', async () => {
    const upload = await uploaded('banned-amid', archive);
    beforeNext(
      s3(),
      /^GetObjectCommand$/,
      () => admin('node-version', 'ban', 'banned-amid', '1.0.0', '--reason', 'test'),
      1,
    );
    await finalize(upload);

    expect(await findObject(archiveKey(upload, sha256(archive)))).toBeUndefined();
    await admin('node-version', 'unban', 'banned-amid', '1.0.0');
    await finalize(upload);

    expect(await storedVersion('banned-amid', '1.0.0')).toMatchObject(active);
  });
});

describe('an archive that is rejected', () => {
  test('leaves its version pending with a reason to act on, and a good archive resumes it', async () => {
    const upload = await uploaded('mended', Buffer.from('this is not a zip file, despite its name'));
    await finalize(upload);
    expect(await storedVersion('mended', '1.0.0')).toMatchObject({
      status: 'NodeVersionStatusPending',
      status_reason:
        'The archive was rejected: it is not a zip file. Pack the folder as a plain .zip, without anything before it. Then publish this version again.',
    });
    const again = await uploaded('mended', archive);
    await finalize(again);

    expect(await storedVersion('mended', '1.0.0')).toMatchObject({ status: 'NodeVersionStatusActive' });
  });

  test('disappears at once, but not an archive that replaced it', async () => {
    const upload = await uploaded('rejected-and-deleted', bad);
    await finalize(upload);
    expect(await findObject(stagingKey(upload))).toBeUndefined();
    await put(upload, bad);
    beforeNext(s3(), /^DeleteObjectCommand$/, () => put(upload, archive), 1);
    await finalize(upload);

    expect(await storedVersion('rejected-and-deleted', '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  });

  test('disappears by the next event without another check if it could not be deleted at once', async () => {
    const upload = await uploaded('rejected-and-kept', bad);
    beforeNext(s3(), /^DeleteObjectCommand$/, () => Promise.reject(new Error('S3 is down.')), 1);
    await expect(finalize(upload)).rejects.toThrow(' objects failed.');
    expect(await findObject(stagingKey(upload))).toBeDefined();
    expect(await storedVersion('rejected-and-kept', '1.0.0')).toMatchObject({
      status_reason: expect.stringContaining('it is not a zip file.'),
    });
    const { happened } = beforeNext(s3(), /^GetObjectCommand$/, async () => {});
    loggedLines.length = 0;
    await finalize(upload, upload);

    expect(happened()).toBe(false);
    expect(lines().map(({ outcome }) => outcome)).toEqual(['rejected_before', 'missing']);
    expect(await findObject(stagingKey(upload))).toBeUndefined();
  });

  test('does not change a version that was published again in the meantime', async () => {
    const upload = await uploaded('rejected-too-late', bad);
    beforeNext(s3(), /^GetObjectCommand$/, () => publish('rejected-too-late', '1.0.0'), 1);
    await finalize(upload);

    expect((await storedVersion('rejected-too-late', '1.0.0')).status_reason).toMatch(/^Waiting/);
  });
});

test.each<[string, () => Readable]>([
  ['with an error', () => Readable.from(brokenOff(archive.subarray(0, 10)))],
  ['as if it were complete', () => Readable.from([archive.subarray(0, 10)])],
])(
  'a download from S3 that breaks off leaves the archive for a later retry %s, and does not reject it',
  async (label, body) => {
    const nodeId = `broken-${label.length}`;
    const upload = await uploaded(nodeId, archive);
    const remove = intercept(s3(), async ({ input, send }) => {
      const output: { Body?: Readable } = await send();
      if (!output.Body || 'Range' in input) return output;
      output.Body.destroy();
      return { ...output, Body: body() };
    });
    await expect(finalize(upload)).rejects.toThrow(' objects failed.');
    remove();

    const kept = await storedVersion(nodeId, '1.0.0');
    expect(kept.status_reason).toMatch(/^Waiting for the archive/);
    for (const field of ['checked_by', 'checked_until']) expect(kept).not.toHaveProperty(field);
    await finalize(upload);
    expect(await storedVersion(nodeId, '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  },
);

describe('the event of an upload', () => {
  test('handles every record after one fails, and then fails', async () => {
    const upload = await uploaded('next-to-a-failure', archive);
    const event = eventOf(upload, upload);
    for (const { s3 } of event.Records.slice(0, 1))
      s3.object.key = stagingKey({ ...upload, nodeId: 'x'.repeat(2100) });

    await expect(handler(event, context)).rejects.toThrow(' objects failed.');
    const causes = [expect.stringContaining('Error')];
    expect(lines()).toContainEqual(expect.objectContaining({ level: 'error', outcome: 'failed', causes }));
    expect(await storedVersion('next-to-a-failure', '1.0.0')).toMatchObject(active);
  });

  test('ends after its last write, also after another one that failed', async () => {
    const upload = await uploaded('half-written', archive);
    const failure = failAmidWrites(dynamodb, 'TransactWriteItemsCommand');

    await expect(finalize(upload)).rejects.toThrow('1 of 1 objects failed.');
    expect(failure).toEqual({ happened: true, open: 0 });
  });

  test('leaves one line in the log with its result', async () => {
    const upload = await uploaded('logged', archive);
    loggedLines.length = 0;
    await finalize(upload);

    expect(lines()).toMatchObject([
      {
        ...{ level: 'info', event: 'upload', function: 'finalizeUpload', key: stagingKey(upload) },
        ...{ publisher_id: 'demo', node_id: 'logged', version: '1.0.0', token_id: expect.any(String) },
        ...{ size_bytes: archive.length, outcome: 'published' },
        ...{ ms: expect.any(Number), lag_ms: expect.any(Number) },
      },
    ]);
  });
});

describe('the logged result of an upload', () => {
  test('contains the reason of a rejection', async () => {
    const good = await publish('logged-results', '1.0.0');
    const bad = await publish('logged-results', '2.0.0');
    const early = await publish('logged-results', '3.0.0');
    const late = await publish('logged-results', '3.0.0');
    const other = { ...late, versionId: 'another' };
    for (const upload of [good, good, early, other]) await put(upload, archive);
    await put(bad, Buffer.from('no zip'));
    loggedLines.length = 0;
    await finalize(good, good, bad, early, late, other);
    const foreign = eventOf(late);
    for (const { s3 } of foreign.Records) s3.object.key = 'other/a.zip';
    await handler(foreign, context);

    expect(lines().map(({ outcome }) => outcome)).toEqual([
      ...['published', 'published_before', 'rejected', 'superseded', 'missing', 'unknown', 'unknown'],
    ]);
    expect(lines()[2].reason).toContain('it is not a zip file.');
    for (const upload of [good, bad, early, other])
      expect(await findObject(stagingKey(upload))).toBeUndefined();
  });

  test('says closed, with the reason, while its node is deleted', async () => {
    const upload = await uploaded('logged-closed', archive);
    await setFields(nodeKey('logged-closed'), { status: 'NodeStatusDeleted' });
    loggedLines.length = 0;
    await finalize(upload);

    expect(lines()).toMatchObject([{ level: 'info', outcome: 'closed', reason: 'node_deleted' }]);
  });

  test('says superseded, without a reason, if it is published again while its node is deleted', async () => {
    const upload = await uploaded('logged-again', archive);
    await setFields(nodeKey('logged-again'), { status: 'NodeStatusDeleted' });
    loggedLines.length = 0;
    beforeNext(dynamodb, /^UpdateItemCommand$/, async () => {
      await setFields(nodeVersionKey('logged-again', '1.0.0'), { upload_id: 'later' });
    });
    await finalize(upload);

    expect(lines()).toEqual([expect.objectContaining({ level: 'info', outcome: 'superseded' })]);
    expect((await storedVersion('logged-again', '1.0.0')).status_reason_code).toBe('awaiting_upload');
  });

  test('says published_before if another finalizer won', async () => {
    const upload = await uploaded('won-by-another', archive);
    const takeOver = async () => {
      await setFields(nodeVersionKey('won-by-another', '1.0.0'), { checked_until: 0 });
      await finalize(upload);
    };
    beforeNext(s3(), /^CopyObjectCommand$/, takeOver, 1);
    loggedLines.length = 0;
    await finalize(upload);

    expect(lines().map(({ outcome }) => outcome)).toEqual(['published', 'published_before']);
  });
});

async function* brokenOff(beginning: Buffer): AsyncGenerator<Buffer> {
  yield beginning;
  throw new Error('The connection was lost.');
}
