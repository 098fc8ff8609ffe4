import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { type Key, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import * as paths from '@node-registry/registry-rules/index-paths';
import { drainQueue, eventOf } from '../../tools/local/consume-queue.ts';
import { readIndexFile as read, readObject } from '../support/bucket-objects.ts';
import { addHostNode, addPublishedNode, context, follow, own, published } from '../support/index-nodes.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import { indexChanges } from '../support/queue.ts';
import { addPublisher, addVersion, setFields } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { setVariables } from '../support/variables.ts';
import { admin } from '../support/admin.ts';

// Of megabytes, on a busy machine.
jest.setTimeout(60_000);

const { catalogPath, configPath, hostNodesPath, nodePath, pieceOf, readmePath } = paths;

const messageOf = (keys: Key[]) => eventOf([{ MessageId: 'a-message', Body: JSON.stringify({ keys }) }]);

beforeAll(async () => {
  await addPublisher('acme', {});
  await follow(publisherKey('acme'));
});

describe('writeIndex, while others write or S3 fails', () => {
  test('does not let a late writer show a node that was banned before it had a file', async () => {
    await addPublishedNode('banned-early');
    const { happened } = beforeNext(s3(), /^PutObject/, async () => {
      await admin('node', 'ban', 'banned-early', '--reason', 'test');
      await follow(...own('banned-early'));
    });
    await follow(...own('banned-early'));

    const { status, versions } = (await read(nodePath('banned-early'))).content;
    expect([happened(), status, versions]).toEqual([true, 'NodeStatusBanned', []]);
    expect((await read(readmePath('banned-early'))).content).toEqual({ node_id: 'banned-early', text: '' });
  });

  test('fails for a version with too large host nodes alone, and writes the others', async () => {
    const [large, small] = ['too-large', 'next-to-large'];
    await Promise.all([large, small].map((id) => addPublishedNode(id)));
    // One byte in the table, and six characters of JSON.
    const text = '\u0001'.repeat(330_000);
    for (let place = 0; place < 10; place += 1) await addHostNode(large, `Load ${place}`, text);
    await follow(...own(large), ...own(small));

    expect(await drainQueue(indexChanges, async () => undefined)).toBe(1);
    expect((await read(nodePath(small))).content).toMatchObject({ versions: [{ version: '1.0.0' }] });
    const piece = await read(catalogPath(16, pieceOf(small, 16)));
    expect(piece.content.nodes).toContainEqual(expect.objectContaining({ id: small }));
    expect(lines('index')).toContainEqual(
      expect.objectContaining({ of: large, causes: [expect.stringContaining('more than 16000000')] }),
    );
  });

  test('fails for a node with too large versions alone, and lists a long change log in a file of the version', async () => {
    const [large, small] = ['too-many', 'next-to-many'];
    await Promise.all([large, small].map((id) => addPublishedNode(id)));
    const log = `${'é'.repeat(1500)} and more`;
    await setFields(nodeVersionKey(small, '1.0.0'), { changelog: log });
    const dependencies = ['\u0001'.repeat(290_000)];
    for (const label of ['1.0.0', '1.0.1', '1.0.2'])
      await addVersion('acme', large, label, { sha256: 'a', dependencies });
    const versionKeys = ['1.0.1', '1.0.2'].map((label) => nodeVersionKey(large, label));
    await follow(...own(large), ...versionKeys, ...own(small));

    expect(await drainQueue(indexChanges, async () => undefined)).toBe(1);
    expect((await read(nodePath(small))).content.versions).toMatchObject([
      { changelog: 'é'.repeat(1024), changelog_is_cut: true },
    ]);
    expect((await read(hostNodesPath(small, '1.0.0'))).content).toMatchObject({ changelog: log });
    expect((await readObject(paths.versionPagePath(small, '1.0.0'))).text).toContain(' and more');
    expect(lines('index')).toContainEqual(
      expect.objectContaining({
        of: large,
        causes: [expect.stringMatching(/too-many has no room for the versions 1\.0\.\d/)],
      }),
    );
    const shown = async () =>
      (await read(nodePath(large))).content.versions.map((each: PublicVersion) => [
        each.version,
        each.status,
      ]);
    const [[first], ...others] = await shown();
    expect(others).toHaveLength(1);
    // What becomes of a version, by its publisher or with its downloads, needs no room.
    const status = 'NodeVersionStatusDeleted';
    await setFields(nodeVersionKey(large, first), { status, status_reason: 'Broken' });
    await follow(nodeVersionKey(large, first), ...versionKeys);
    expect(await shown()).toContainEqual([first, status]);
    await drainQueue(indexChanges, async () => undefined);
    await admin('node', 'ban', large, '--reason', 'test');
    await follow(nodeKey(large));
    expect((await read(nodePath(large))).content).toMatchObject({ status: 'NodeStatusBanned', versions: [] });
    expect(await drainQueue(indexChanges, async () => undefined)).toBe(0);
  });

  test('loads the file of a renamed node once for the pages of all its versions', async () => {
    await addPublishedNode('renamed');
    const labels = ['1.0.1', '1.0.2', '1.0.3'];
    for (const label of labels) await addVersion('acme', 'renamed', label, published);
    await follow(...own('renamed'), ...labels.map((label) => nodeVersionKey('renamed', label)));
    await setFields(nodeKey('renamed'), { name: 'Another name' });
    let loaded = 0;
    intercept(s3(), async ({ command, input, send }) => {
      const reply = await send();
      if (command === 'GetObjectCommand' && input.Key === nodePath('renamed')) loaded += 1;
      return reply;
    });
    await follow(nodeKey('renamed'));

    // The others are for the file itself and the catalog.
    expect(loaded).toBe(3);
    for (const label of labels)
      expect((await readObject(paths.versionPagePath('renamed', label))).text).toContain('Another name');
    await setFields(nodeKey('renamed'), { latest_version: null });
    await follow(nodeKey('renamed'));
    const [label = ''] = labels;
    expect((await readObject(paths.versionPagePath('renamed', label))).text).toContain('Every version');
  });

  test.each([404, 409, 412])(
    'writes a file after a %i of S3, for which another writer may be the cause',
    async (status) => {
      const id = `rejected-${status}`;
      await addPublishedNode(id);
      const rejection = Object.assign(new Error('rejected'), { $metadata: { httpStatusCode: status } });
      const rejected = beforeNext(s3(), /^PutObject/, () => Promise.reject(rejection));
      await follow(...own(id));

      expect(rejected.happened()).toBe(true);
      expect((await read(nodePath(id))).content).toMatchObject({ versions: [{ version: '1.0.0' }] });
    },
  );

  let groups: unknown[] = [];
  const keysOf = async () => {
    const bodies: string[] = [];
    await drainQueue(indexChanges, async ({ Records }) => {
      groups = Records.map(({ attributes }) => attributes.MessageGroupId);
      bodies.push(...Records.map(({ body }) => body));
      return undefined;
    });
    return bodies.map((body) => JSON.parse(body).keys as Key[]);
  };
  const fail = async (name = 'Error', httpStatusCode = 500) => {
    throw Object.assign(new Error('down'), { name, $metadata: { httpStatusCode } });
  };

  test('hands a node that cannot be written to the queue, writes the others, and the queue makes up for it', async () => {
    await addPublishedNode('lucky');
    await addPublishedNode('unlucky');
    const stop = intercept(s3(), ({ input, send }) => (input.Key === nodePath('unlucky') ? fail() : send()));
    const keys = ['unlucky', 'lucky'].flatMap(own);
    await follow(...keys);
    expect((await read(nodePath('lucky'))).content).toMatchObject({ id: 'lucky' });
    // From the queue it fails as a message, which then comes again.
    const event = messageOf(keys.slice(0, 2));
    expect(await handler(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'a-message' }] });
    stop();

    expect(await keysOf()).toContainEqual(keys.slice(0, 2));
    expect(await handler(event, context)).toEqual({ batchItemFailures: [] });
    expect((await read(nodePath('unlucky'))).content).toMatchObject({ id: 'unlucky' });
  });

  test('hands on what takes longer than others may wait for, and takes longer for a message', async () => {
    await addPublishedNode('slow');
    const now = Date.now.bind(Date);
    const pass = () =>
      beforeNext(s3(), /^PutObject/, async () => {
        const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 21_000);
        passed = () => clock.mockRestore();
      });
    let passed = () => {};
    pass();
    await follow(...own('slow'));
    expect((await keysOf()).flat()).toContainEqual(nodeKey('slow'));
    passed();
    pass();
    expect(await handler(messageOf(own('slow')), context)).toEqual({ batchItemFailures: [] });
    passed();
    expect((await readObject(paths.nodePagePath('slow'))).text).toContain('slow');
  });

  test('hands on the nodes of a large publisher in parts', async () => {
    await addPublisher('huge', {});
    const ids = Array.from({ length: 41 }, (_, place) => `huge-${place}`);
    await Promise.all(ids.map((id) => addPublishedNode(id, 'huge')));
    await follow(publisherKey('huge'));
    const parts = (await keysOf()).filter(([key]) => key?.pk.includes('huge'));

    expect(parts.map(({ length }) => length)).toEqual([20, 20, 1]);
    expect(parts.flat()).toEqual(ids.sort().map(nodeKey));
    // So does a publisher that comes from the queue, because it failed at first.
    await handler(messageOf([publisherKey('huge')]), context);
    expect(await keysOf()).toEqual(parts);
    expect(groups).toEqual(Array(3).fill(publisherKey('huge').pk));
    for (const keys of parts)
      expect(await handler(messageOf(keys), context)).toEqual({ batchItemFailures: [] });
    expect((await read(nodePath('huge-40'))).content).toMatchObject({ publisher: { id: 'huge' } });
  });

  test('fails as a whole only if the queue takes nothing either, and logs why', async () => {
    await addPublishedNode('stuck');
    setVariables({ INDEX_QUEUE_URL: 'http://localhost:1/none' });
    intercept(s3(), () => fail('NoSuchBucket', 404));
    const event = streamEventOf(...own('stuck'));

    expect(await handler(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
    expect(lines()).toMatchObject([
      { level: 'error', event: 'index', function: 'writeIndex', of: 'stuck', causes: ['NoSuchBucket: down'] },
      { level: 'error', event: 'index', of: 'catalog' },
      { level: 'error', event: 'index', function_request_id: 'an-event', records: 2 },
    ]);
    // Without a place in the stream, only an error makes Lambda send the records again.
    for (const { dynamodb } of event.Records) delete dynamodb?.SequenceNumber;
    await expect(handler(event, context)).rejects.toThrow();
  });

  test.each(['not JSON', '[]', '{"versions":7,"nodes":{},"host_nodes":null,"revision":"x"}'])(
    'replaces files of the index that are something else: %s',
    async (text) => {
      const id = `damaged-${text.length}`;
      await addPublishedNode(id);
      const keys = own(id);
      await follow(...keys);
      const three = [nodePath(id), readmePath(id), hostNodesPath(id, '1.0.0')];
      const paths = [...three, catalogPath(16, pieceOf(id, 16)), configPath];
      const before = await Promise.all(paths.map(async (path) => (await read(path)).content));
      for (const Key of paths.filter((path) => !path.includes('catalog')))
        await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key, Body: text }));
      await follow(...keys);

      const updated_at = expect.any(String);
      expect(await Promise.all(paths.map(async (path) => (await read(path)).content))).toEqual(
        before.map((content) => ({ ...content, ...(content.updated_at && { updated_at }) })),
      );
    },
  );
});
