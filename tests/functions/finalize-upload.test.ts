import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/finalize-upload.ts';
import { deleteObject, findObject, s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey, objectUrl, stagingKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { ApiError } from '../../lib/errors.ts';
import { latestHistory, ownersView } from '../../lib/registry/changes.ts';
import { dropVersion, reject } from '../../lib/registry/finalizing.ts';
import { forgetPending } from '../../lib/registry/pending-versions.ts';
import { nodeVersionRecord } from '../../lib/registry/records.ts';
import type { Item } from '../../lib/store/items.ts';
import { begunVersionsKey, nodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { stopDate } from '@node-registry/testing/clock';
import { owe } from '../../lib/work/lanes.ts';
import { runQueue } from '../support/queue.ts';
import { seed } from '../../tools/local/seed.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { lines, loggedLines } from '../support/logged-lines.ts';
import { setFields, setPublisherFields, soon, storedItem, storedNode } from '../support/registry.ts';
import {
  download,
  eventOf,
  finalize,
  publish,
  put,
  sha256,
  storedVersion,
  uploaded,
  workEvent,
} from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';
import { admin } from '../support/admin.ts';

const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 };
const archive = zip([{ name: 'node.py', data: 'print("hello")\n' }]);
const other = zip([{ name: 'node.py', data: 'print("other")\n' }]);
const bad = Buffer.from('this is not a zip, and it is long enough to be read');
const active = { status: 'NodeVersionStatusActive', sha256: sha256(archive) };

beforeAll(seed);

/** Other tests leave messages in the queue. */
const linesOf = (nodeId: string) => lines('upload').filter(({ node_id }) => node_id === nodeId);
const outcomes = (nodeId: string) => linesOf(nodeId).map(({ outcome }) => outcome);

describe('an archive that arrived', () => {
  test('makes its version active, with address, size and digest', async () => {
    const upload = await uploaded('arrives', archive);
    loggedLines.length = 0;
    await finalize(upload);
    expect(linesOf('arrives')).toMatchObject([
      {
        level: 'info',
        function: 'finalizeUpload',
        publisher_id: 'demo',
        token_id: expect.any(String),
        key: stagingKey(upload),
        version: '1.0.0',
        size_bytes: archive.length,
        outcome: 'published',
        ms: expect.any(Number),
        lag_ms: expect.any(Number),
      },
    ]);

    const version = await storedVersion('arrives', '1.0.0');
    expect(version).toMatchObject({ id: upload.versionId, size_bytes: archive.length, ...active });
    expect(version).not.toHaveProperty('status_reason');
    expect(version).toMatchObject({
      ...owe('extract', nodeVersionKey('arrives', '1.0.0'), 'demo'),
      pending_since: expect.any(String),
    });
    const groups: unknown[] = [];
    await runQueue(async ({ Records }) => {
      for (const { body, attributes } of Records)
        if (body.includes('#arrives"')) groups.push(attributes.MessageGroupId);
      return undefined;
    }, 'extract');
    expect(groups).toEqual(['demo']);
    expect(await storedItem(begunVersionsKey('demo'))).not.toHaveProperty(['v@arrives/1.0.0']);
    expect(await download(version.downloadUrl)).toEqual(archive);
    expect(await storedNode('arrives')).toMatchObject({
      latest_version: { version: '1.0.0', sha256: sha256(archive), archive_key: version.archive_key },
    });
  });

  test('is denied at once if a ban comes right before its copy', async () => {
    const upload = await uploaded('denied', archive);
    const ban = () => admin('node-version', 'ban', 'denied', '1.0.0', '--reason', 'test');
    beforeNext(s3(), /^CopyObjectCommand$/, ban);
    await finalize(upload);

    const key = archiveKey(upload, sha256(archive));
    expect(await findObject(key)).toBeDefined();
    expect((await fetch(objectUrl(key))).status).toBe(403);
  });
});

describe('an archive that is rejected', () => {
  test('leaves its version pending with a reason to act on, and a good archive resumes it', async () => {
    const upload = await uploaded('mended', Buffer.from('this is not a zip file, despite its name'));
    await finalize(upload);
    expect(linesOf('mended')[0]).toMatchObject({ reason: expect.stringContaining('not a zip file.') });
    expect(await storedVersion('mended', '1.0.0')).toMatchObject({
      status: 'NodeVersionStatusPending',
      status_reason:
        'The archive was rejected: it is not a zip file. Pack the folder as a plain .zip, without anything before it. Then publish this version again.',
    });
    const again = await uploaded('mended', archive);
    await finalize(again);

    const mended = await storedVersion('mended', '1.0.0');
    expect(mended).toMatchObject(active);
    for (const field of ['rejected_objects', 'status_reason_code', 'upload_id'])
      expect(mended).not.toHaveProperty(field);
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

  test('disappears by the next look without another check if it could not be deleted at once', async () => {
    const upload = await uploaded('rejected-and-kept', bad);
    beforeNext(s3(), /^DeleteObjectCommand$/, () => Promise.reject(new Error('S3 is down.')), 1);
    await finalize(upload);
    expect(await findObject(stagingKey(upload))).toBeDefined();
    expect(await storedVersion('rejected-and-kept', '1.0.0')).toMatchObject({
      status_reason: expect.stringContaining('it is not a zip file.'),
    });
    const { happened } = beforeNext(s3(), /^GetObjectCommand$/, async () => {});
    loggedLines.length = 0;
    await finalize(upload);

    expect(happened()).toBe(false);
    expect(outcomes('rejected-and-kept')).toEqual(['rejected_before', 'waiting']);
    expect(await findObject(stagingKey(upload))).toBeUndefined();
  });

  test('does not change a version that was published again in the meantime', async () => {
    const upload = await uploaded('rejected-too-late', bad);
    beforeNext(s3(), /^GetObjectCommand$/, () => publish('rejected-too-late', '1.0.0'), 1);
    await finalize(upload);

    expect((await storedVersion('rejected-too-late', '1.0.0')).status_reason).toMatch(/^Waiting/);
  });

  test('is one of five for an address, which then takes no more: a publish gives a new one', async () => {
    const upload = await publish('flooded', '1.0.0');
    for (const byte of [1, 2, 3, 4, 5, 6, 7]) await put(upload, Buffer.from(`no zip ${byte}`));
    loggedLines.length = 0;
    await finalize(upload);

    const results = [...Array(5).fill('rejected'), 'rejected_before', 'rejected_before', 'waiting'];
    expect(outcomes('flooded').sort()).toEqual(results.sort());
    expect(await findObject(stagingKey(upload))).toBeUndefined();
    expect(await storedVersion('flooded', '1.0.0')).toMatchObject({
      status_reason_code: 'archive_rejected',
      status_reason: expect.stringMatching(
        / An upload address accepts 5 archives\. Publish again for a new one\.$/,
      ),
    });
    await finalize(await uploaded('flooded', archive));
    expect(await storedVersion('flooded', '1.0.0')).toMatchObject(active);
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
    await finalize(upload);
    remove();

    const kept = await storedVersion(nodeId, '1.0.0');
    expect(kept.status_reason).toMatch(/^Waiting for the archive/);
    expect(kept).toMatchObject({ tries: 1, last_error: expect.stringContaining('Error') });
    await finalize(upload);
    expect(await storedVersion(nodeId, '1.0.0')).toMatchObject({ sha256: sha256(archive) });
  },
);

/* A signed address takes one object after another as long as it lasts. */
describe('an upload URL', () => {
  test('keeps nothing once its archive is published, even if it was used again before, meanwhile and afterward', async () => {
    const upload = await uploaded('cleared', bad);
    await put(upload, archive);
    beforeNext(s3(), /^GetObjectCommand$/, () => put(upload, other), 1);
    await finalize(upload);
    expect(await findObject(stagingKey(upload))).toBeUndefined();
    await put(upload, other);
    await finalize(upload);

    expect(await findObject(stagingKey(upload))).toBeUndefined();
    const { downloadUrl } = await storedVersion('cleared', '1.0.0');
    expect(await download(downloadUrl)).toEqual(archive);
  });

  test('gets its newer bytes checked when the older ones are gone', async () => {
    const upload = await uploaded('gone-early', archive);
    const replace = async () => {
      const object = await findObject(stagingKey(upload));
      if (object) await deleteObject(object);
      await put(upload, other);
    };
    beforeNext(s3(), /^GetObjectCommand$/, replace, 1);
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

describe('the messages of an upload', () => {
  test('are heard while a look that found nothing ends', async () => {
    stopDate();
    const upload = await publish('overheard', '1.0.0');
    const look = workEvent(upload);
    let isPut = false;
    intercept(dynamodb, async ({ command, input, send }) => {
      const isWait = command === 'UpdateItemCommand' && JSON.stringify(input).includes('"tries"');
      if (isPut || !isWait || linesOf('overheard').length > 0) return send();
      // After the try has begun.
      isPut = (await storedVersion('overheard', '1.0.0')).tries === 1;
      if (isPut) {
        await put(upload, archive);
        await finalize(upload);
      }
      return send();
    });
    await handler(look, context);

    expect(isPut).toBe(true);
    // The look has not put off the extraction.
    const { pending_since } = owe('extract', nodeVersionKey('overheard', '1.0.0'), 'demo');
    expect(await storedVersion('overheard', '1.0.0')).toMatchObject({ ...active, pending_since });
  });

  test('delete what comes for an upload that is over, and leave what a ban holds', async () => {
    const good = await publish('over', '1.0.0');
    const early = await publish('over', '3.0.0');
    const late = await publish('over', '3.0.0');
    const banned = await uploaded('over', archive, '4.0.0');
    await admin('node-version', 'ban', 'over', '4.0.0', '--reason', 'test');
    const other = { ...late, versionId: 'another' };
    for (const upload of [good, early, other]) await put(upload, archive);
    loggedLines.length = 0;
    await finalize(good, good, early, other, banned);
    const foreign = eventOf(late);
    for (const record of foreign.Records) record.body = record.body.replace('staging/', 'other/');
    expect(await handler(foreign, context)).toEqual({ batchItemFailures: [] });

    expect(outcomes('over').sort()).toEqual(['published', ...Array(3).fill('superseded')]);
    for (const upload of [good, early, other]) expect(await findObject(stagingKey(upload))).toBeUndefined();
    expect(await findObject(stagingKey(banned))).toBeDefined();
  });

  /** https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html */
  test.each([
    [{ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'archives', Time: 'now' }, []],
    [{ Service: 'Amazon S3' }, [{ outcome: 'unreadable' }]],
  ])('that S3 tests the queue with are ended: %j', async (body, expected) => {
    const event = eventOf(await publish('tested', '1.0.0'));
    for (const record of event.Records) record.body = JSON.stringify(body);

    expect(await handler(event, context)).toEqual({ batchItemFailures: [] });
    expect(lines('work')).toMatchObject(expected);
  });

  test('only hand versions on, in the groups of their publishers: the flood of one delays only its own', async () => {
    await handler(eventOf(await uploaded('flooding', archive)), context);
    const groups: unknown[] = [];
    await runQueue(async ({ Records }) => {
      groups.push(...Records.map(({ attributes }) => attributes.MessageGroupId));
      return { batchItemFailures: [] };
    }, 'finalize');

    expect(groups).toEqual(['demo']);
    expect(outcomes('flooding')).toEqual([]);
  });
});

describe('a version that waits', () => {
  const looks = (version: Item) => Date.parse(String(version.pending_since)) - Date.parse(String(version.at));
  const minutes = 60_000;
  const day = 24 * 60 * minutes;
  /** The bucket rejects what is signed by another clock, so the version is older instead. */
  const age = ({ nodeId, version }: Upload, ms: number) =>
    setFields(nodeVersionKey(nodeId, version), { at: new Date(Date.now() - ms).toISOString() });

  test('is looked at again as long after as it has waited, from half an hour, for a lost message', async () => {
    stopDate();
    const upload = await publish('looked-at', '1.0.0');
    const found = [looks(await storedVersion('looked-at', '1.0.0')) / minutes];
    for (const waited of [30, 60, 120]) {
      await age(upload, waited * minutes);
      await handler(workEvent(upload), context);
      found.push(looks(await storedVersion('looked-at', '1.0.0')) / minutes);
    }
    await put(upload, archive);
    await handler(workEvent(upload), context);

    expect(found).toEqual([30, 60, 120, 240]);
    expect(await storedVersion('looked-at', '1.0.0')).toMatchObject(active);
  });

  test('says why it is closed, and is published once that has ended', async () => {
    const upload = await uploaded('closed', archive);
    await setFields(nodeKey('closed'), { status: 'NodeStatusDeleted' });
    loggedLines.length = 0;
    await finalize(upload);
    expect(linesOf('closed')).toMatchObject([{ level: 'info', outcome: 'closed', reason: 'node_deleted' }]);
    expect(await storedVersion('closed', '1.0.0')).toMatchObject({ status_reason_code: 'node_deleted' });
    await setFields(nodeKey('closed'), { status: 'NodeStatusActive' });
    await handler(workEvent(upload), context);

    expect(await storedVersion('closed', '1.0.0')).toMatchObject(active);
  });

  test('is tried again in seconds if its publisher moves and it has yet to follow', async () => {
    const upload = await uploaded('following', archive);
    await setPublisherFields('demo', { moved_to: 'demo-2' });
    await finalize(upload);
    await setPublisherFields('demo', { moved_to: null });
    const moving = await storedVersion('following', '1.0.0');
    await finalize(upload);

    expect(moving).toMatchObject({ status_reason_code: 'awaiting_upload', tries: 1 });
    expect(await storedVersion('following', '1.0.0')).toMatchObject(active);
  });

  test.each([
    ['becomes active also', 'grown', {}, active],
    [
      'stays pending',
      'grown-and-gone',
      { status: 'NodeStatusDeleted' },
      { status_reason_code: 'node_deleted' },
    ],
  ])('%s if its node has no room to show it', async (_, nodeId, meanwhile, expected) => {
    const upload = await uploaded(nodeId, archive);
    await setFields(nodeVersionKey(nodeId, '1.0.0'), { changelog: 'x'.repeat(110_000) });
    // Two edits that fit alone, of one moment.
    await setFields(nodeKey(nodeId), { description: 'x'.repeat(160_000), license: 'x'.repeat(160_000) });
    let writes = 0;
    intercept(dynamodb, async ({ input, send }) => {
      const isActivation = JSON.stringify(input).includes('"published_at"');
      if (isActivation) writes += 1;
      if (isActivation && writes === 2) await setFields(nodeKey(nodeId), meanwhile);
      return send();
    });
    await finalize(upload);

    expect(await storedVersion(nodeId, '1.0.0')).toMatchObject(expected);
    expect(await storedNode(nodeId)).not.toHaveProperty('latest_version');
    expect(lines('latest_version_too_large')).toMatchObject([{ level: 'warn', node_id: nodeId }]);
  });

  test('is shown by its node though its first activation failed', async () => {
    const upload = await uploaded('activated-later', archive);
    beforeNext(dynamodb, /^TransactWriteItems/, () => Promise.reject(new ApiError('unavailable')));
    await finalize(upload);
    await finalize(upload);

    expect(await storedNode('activated-later')).toMatchObject({ latest_version: active });
  });

  test.each<[string, Buffer | undefined, number, why: string | undefined, node?: Item]>([
    ['without an archive', undefined, 0, 'awaiting_upload'],
    ['with one for a node that is withdrawn', archive, 1, 'node_deleted', { status: 'NodeStatusDeleted' }],
    ['with one whose checks died', archive, 7, 'check failed'],
    ['unless its message was lost', archive, 0, undefined],
    ['unless a check failed in an outage', archive, 1, undefined],
  ])('is dropped after a day, %s', async (_, bytes, tries, why, node = {}) => {
    const nodeId = `day-${tries}-${why?.slice(0, 5)}`;
    const upload = await publish(nodeId, '1.0.0');
    if (bytes) await put(upload, bytes);
    await setFields(nodeVersionKey(nodeId, '1.0.0'), { tries });
    await setFields(nodeKey(nodeId), node);
    await age(upload, day);
    const calls: string[] = [];
    intercept(dynamodb, ({ command, input, send }) => {
      if (JSON.stringify(input).includes('"PENDING#')) calls.push(command);
      return send();
    });
    await handler(workEvent(upload, tries), context);

    const { status, tries: left } = await storedVersion(nodeId, '1.0.0');
    expect([status, left]).toEqual(why ? [undefined, undefined] : [active.status, 0]);
    if (!why) return;
    expect(calls).toEqual(['BatchGetItemCommand', 'TransactWriteItemsCommand']);
    expect((await storedNode(nodeId))?.versions).toBe(0);
    const { open, ...begun } = (await storedItem(begunVersionsKey('demo'))) ?? {};
    const waiting = Object.keys(begun).filter((name) => name.startsWith('v@'));
    expect([open, waiting.includes(`v@${nodeId}/1.0.0`)]).toEqual([waiting.length, false]);
    const [change] = await latestHistory(soon(), nodeKey(nodeId));
    const detail = `It was not published within a day (${why}).`;
    const dropped = { action: 'node-version drop', subject: `${nodeId} 1.0.0`, actor: 'finalizeUpload' };
    expect(change).toMatchObject({ ...dropped, detail });
    expect(change && ownersView(change)).toMatchObject({ actor: 'the registry', detail });
    await setFields(nodeKey(nodeId), { status: 'NodeStatusActive' });
    expect((await publish(nodeId, '1.0.0')).versionId).not.toBe(upload.versionId);
  });

  test('is looked at later after a check has failed seven times, with its reason, and an alarm', async () => {
    stopDate();
    const upload = await uploaded('failing', archive);
    await setFields(nodeVersionKey('failing', '1.0.0'), { tries: 6 });
    beforeNext(s3(), /^HeadObjectCommand$/, () => Promise.reject(new Error('S3 is down.')));
    await handler(workEvent(upload, 6), context);

    const version = await storedVersion('failing', '1.0.0');
    expect(version).toMatchObject({ tries: 0, last_error: 'Error: S3 is down.' });
    expect([version.pending_shard, looks(version)]).toEqual([
      expect.stringMatching(/^finalize-\d$/),
      30 * minutes,
    ]);
    expect(lines('work').at(-1)).toMatchObject({ lane: 'finalize', outcome: 'given_up' });
  });
});

async function* brokenOff(beginning: Buffer): AsyncGenerator<Buffer> {
  yield beginning;
  throw new Error('The connection was lost.');
}

test('a finalizer that was overtaken rejects and drops nothing, a rejection counts once, and a lost entry keeps no version', async () => {
  const { versionId } = await uploaded('overtaken', bad);
  const key = nodeVersionKey('overtaken', '1.0.0');
  const before = nodeVersionRecord(await storedItem(key));
  if (!before) throw new Error('There is no such version.');
  await setFields(key, { upload_id: 'a later one' });
  const outcomes = [
    await reject(soon(), before, 'an object', 'It is bad.'),
    await dropVersion(soon(), before),
  ];

  expect(outcomes).toEqual([false, false]);
  expect(await storedItem(key)).toMatchObject({ id: versionId, status_reason_code: 'awaiting_upload' });
  await setFields(key, { upload_id: before.upload_id });
  for (let finalizer = 1; finalizer <= 2; finalizer += 1)
    expect(await reject(soon(), before, 'an object', 'It is bad.')).toBe(true);
  expect(await storedItem(key)).toMatchObject({ rejected_objects: ['an object'] });
  // Its entry may be lost.
  await forgetPending(soon(), { publisherId: 'demo', nodeId: 'overtaken', version: '1.0.0' });
  expect(await dropVersion(soon(), before)).toBe(true);
});
