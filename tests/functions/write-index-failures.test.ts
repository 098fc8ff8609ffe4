import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import * as paths from '@node-registry/registry-rules/index-paths';
import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import {
  hostNodeKey,
  type Key,
  nodeKey,
  nodeVersionKey,
  ownedNodeKey,
  publisherKey,
} from '../../lib/store/keys.ts';
import { drainQueue, eventOf } from '../../tools/local/consume-queue.ts';
import { admin } from '../support/admin.ts';
import { readIndexFile as read } from '../support/bucket-objects.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import {
  active,
  addFollowedNode,
  addHostNode,
  addPublishedNode,
  context,
  follow,
  followOnce,
  linesOf,
  own,
  page,
  published,
} from '../support/index-nodes.ts';
import { indexChanges } from '../support/queue.ts';
import { addPublisher, addVersion, putItem, setFields } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { setVariables } from '../support/variables.ts';

const { catalogPath, configPath, hostNodesPath, nodePath, pieceOf, readmePath, versionPagePath } = paths;

const messageOf = (keys: Key[]) => eventOf([{ id: 'a-message', body: JSON.stringify({ keys }) }]);

beforeAll(async () => {
  await addPublisher('acme', {});
  await follow(publisherKey('acme'));
});

afterEach(() => drainQueue(indexChanges, async () => undefined));

describe('writeIndex, while others write or S3 fails', () => {
  test('does not let a late writer show a node that was banned before it had a file', async () => {
    await addPublishedNode('banned-early');
    const { happened } = beforeNext(s3(), /^PutObject/, async () => {
      await admin('node', 'ban', 'banned-early', '--reason', 'test');
      await follow(...own('banned-early'));
    });
    await follow(...own('banned-early'));

    const status = { status: 'NodeStatusBanned', status_detail: 'test' };
    const [created_at, publisher] = [expect.any(String), expect.any(Object)];
    expect(happened()).toBe(true);
    expect((await read(nodePath('banned-early'))).content).toEqual({
      id: 'banned-early',
      ...status,
      created_at,
      publisher,
      versions: [],
    });
    expect((await read(readmePath('banned-early'))).content).toEqual({ node_id: 'banned-early', text: '' });
  });

  test('fails for what is too large alone, and lists a long change log in a file of the version', async () => {
    const [large, small, crowded] = ['too-many', 'next-to-large', 'too-large'];
    await Promise.all([large, small, crowded].map((id) => addPublishedNode(id)));
    const changelog = `${'é'.repeat(1500)} and more`;
    await setFields(nodeVersionKey(small, '1.0.0'), { changelog });
    // One byte in the table, and six characters of JSON.
    const text = '\u0001'.repeat(290_000);
    for (const label of ['1.0.0', '1.0.1', '1.0.2'])
      await addVersion('acme', large, label, { sha256: 'a', dependencies: [text] });
    for (let place = 0; place < 10; place += 1) await addHostNode(crowded, `Load ${place}`, text);
    const versionKeys = ['1.0.1', '1.0.2'].map((label) => nodeVersionKey(large, label));
    // As a message, which may take longer than the stream.
    const event = messageOf([...own(large), ...versionKeys, ...own(small), ...own(crowded)]);
    await handler(event, context);

    expect(lines('index').at(-1)).toMatchObject({ nodes: 3, failed: 2 });
    expect((await read(nodePath(small))).content.versions).toMatchObject([
      { changelog: 'é'.repeat(1024), changelog_is_cut: true },
    ]);
    for (const id of [small, crowded]) expect(await linesOf(id)).toHaveLength(1);
    for (const [of, cause] of [
      [large, expect.stringMatching(/too-many has no room for the versions 1\.0\.\d/)],
      [crowded, expect.stringContaining('more than 16000000')],
    ])
      expect(lines('index')).toContainEqual(expect.objectContaining({ of, causes: [cause] }));
    expect((await read(hostNodesPath(small, '1.0.0'))).content).toMatchObject({ changelog });
    expect(await page(versionPagePath(small, '1.0.0'))).toContain(' and more');
    const shown = async (): Promise<PublicVersion[]> => (await read(nodePath(large))).content.versions;
    const [one, two, ...others] = await shown();
    expect([two?.version, others]).toEqual([expect.any(String), []]);
    // What becomes of a version, by its publisher or with its downloads, needs no room.
    const status = 'NodeVersionStatusDeleted';
    const first = nodeVersionKey(large, String(one?.version));
    await setFields(first, { status, status_reason: 'Broken' });
    await handler(messageOf([first, ...versionKeys]), context);
    const after = (await shown()).map((each) => [each.version, each.status] as const);
    expect(new Map(after)).toEqual(
      new Map([
        [one?.version, status],
        [two?.version, active.status],
      ]),
    );
    await admin('node', 'ban', large, '--reason', 'test');
    await followOnce(nodeKey(large));
    expect(await shown()).toEqual([]);
    expect(await drainQueue(indexChanges, async () => undefined)).toBe(0);
  });

  test('has the host nodes of at most eight versions in memory, of however many nodes', async () => {
    const keys: Key[] = [];
    const ids = ['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4'];
    for (const id of ids) {
      await addPublishedNode(id);
      for (const label of ['1.0.1', '1.0.2', '1.0.3']) await addVersion('acme', id, label, published);
      keys.push(...['1.0.0', '1.0.1', '1.0.2', '1.0.3'].map((label) => hostNodeKey(id, label, 'Mix')));
    }
    const allNodes = Promise.withResolvers<void>();
    const written = new Set<unknown>();
    const open: number[] = [0];
    intercept(s3(), async ({ command, input: { Key }, send }) => {
      if (String(Key).endsWith('/host-nodes.json')) {
        open.push((open.at(-1) ?? 0) + 1);
        // Each node's own file is written before.
        await allNodes.promise;
        return send().finally(() => open.push((open.at(-1) ?? 0) - 1));
      }
      const output = await send();
      if (command === 'PutObjectCommand' && ids.some((id) => Key === nodePath(id))) written.add(Key);
      if (written.size === ids.length) allNodes.resolve();
      return output;
    });
    await followOnce(...keys);

    expect(open.length).toBeGreaterThan(4 * keys.length);
    expect(Math.max(...open)).toBeLessThanOrEqual(8);
  });

  test.each([404, 409, 412])(
    'writes a file after a %i of S3, for which another writer may be the cause',
    async (status) => {
      const id = `rejected-${status}`;
      await addPublishedNode(id);
      const rejection = Object.assign(new Error('rejected'), { $metadata: { httpStatusCode: status } });
      const rejected = beforeNext(s3(), /^PutObject/, () => Promise.reject(rejection));
      await followOnce(...own(id));

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
    await followOnce(...keys);
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
    await followOnce(...own('slow'));
    expect((await keysOf()).flat()).toContainEqual(nodeKey('slow'));
    passed();
    pass();
    expect(await handler(messageOf(own('slow')), context)).toEqual({ batchItemFailures: [] });
    passed();
    expect(await page(paths.nodePagePath('slow'))).toContain('slow');
  });

  test('hands on the nodes of a large publisher in parts', async () => {
    await addPublisher('huge', {});
    const ids = Array.from({ length: 41 }, (_, place) => `huge-${place}`).sort();
    const created_at = new Date().toISOString();
    for (const id of ids) await putItem({ ...ownedNodeKey('huge', id), node_id: id, created_at });
    const last = String(ids.at(-1));
    await addPublishedNode(last, 'huge');
    await followOnce(publisherKey('huge'));
    const parts = (await keysOf()).filter(([key]) => key?.pk.includes('huge'));

    expect(parts.map(({ length }) => length)).toEqual([20, 20, 1]);
    expect(parts.flat()).toEqual(ids.map(nodeKey));
    // So does a publisher that comes from the queue, because it failed at first.
    await handler(messageOf([publisherKey('huge')]), context);
    expect(await keysOf()).toEqual(parts);
    expect(groups).toEqual(Array(3).fill(publisherKey('huge').pk));
    expect(await handler(messageOf(parts.at(-1) ?? []), context)).toEqual({ batchItemFailures: [] });
    expect((await read(nodePath(last))).content).toMatchObject({ publisher: { id: 'huge' } });
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
  });

  test.each(['not JSON', '[]', '{"versions":7,"nodes":{},"host_nodes":null,"revision":"x"}'])(
    'replaces files of the index that are something else: %s',
    async (text) => {
      const id = `damaged-${text.length}`;
      await addFollowedNode(`kept-${id}`);
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
      expect(await linesOf(`kept-${id}`)).toHaveLength(1);
    },
  );
});
