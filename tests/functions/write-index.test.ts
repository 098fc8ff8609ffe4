import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import * as paths from '@node-registry/registry-rules/index-paths';
import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import {
  hostNodeBansKey,
  hostNodeKey,
  type Key,
  nodeKey,
  nodeVersionKey,
  ownedNodeKey,
  publisherKey,
} from '../../lib/store/keys.ts';
import { drainQueue, eventOf } from '../../tools/local/consume-queue.ts';
import { seed } from '../../tools/local/seed.ts';
import { admin, limitPages } from '../support/admin.ts';
import { keysBelow, readIndexFile as read, readObject } from '../support/bucket-objects.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, failCalls, intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import {
  active,
  addFollowedNode,
  addHostNode,
  addPublishedNode,
  context,
  follow,
  own,
  published,
} from '../support/index-nodes.ts';
import { indexChanges } from '../support/queue.ts';
import { addPublisher, addVersion, putItem, setFields, setPublisherFields } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { setVariables } from '../support/variables.ts';
import { finalize, publish, put } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

const { catalogPath, configPath, hostNodesPath, nodePath, pieceOf, readmePath, versionPagePath } = paths;

// Of megabytes, on a busy machine.
jest.setTimeout(60_000);

/** The distribution and then a browser keep a file this long, so that a ban shows within a minute. */
const cacheControl = 'public, max-age=30';

async function publishWith(id: string, version: string, readme: string | undefined): Promise<void> {
  const code = { name: 'node.py', data: 'NODE_CLASS_MAPPINGS = {}\n' };
  const upload = await publish(id, version);
  await put(upload, zip(readme === undefined ? [code] : [code, { name: 'README.md', data: readme }]));
  await finalize(upload);
  await follow(nodeKey(id), nodeVersionKey(id, version));
}

async function linesOf(id: string, pieces = 16): Promise<object[]> {
  const { content } = await read(catalogPath(pieces, pieceOf(id, pieces)));
  return content.nodes.filter((entry: { id: string }) => entry.id === id);
}

const page = async (key: string) => (await readObject(key)).text;
const messageOf = (keys: Key[]) => eventOf([{ id: 'a-message', body: JSON.stringify({ keys }) }]);

/** What the first publisher brings. */
const first = new Map<string, Awaited<ReturnType<typeof read>>>();

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  const olga = { role: 'owner', name: 'Olga', email: 'olga@example.com' };
  await setPublisherFields('acme', { members: { olga } });
  await seed();
  await follow(publisherKey('acme'));
  for (const key of await keysBelow('index/')) first.set(key, await read(key));
});

afterEach(() => drainQueue(indexChanges, async () => undefined));

describe('writeIndex', () => {
  test('writes the config and every empty piece of the catalog for the first publisher', async () => {
    const config = { version: 1, catalog_pieces: 16, updated_at: expect.any(String) };
    expect(first.get(configPath)?.content).toEqual(config);
    for (let piece = 0; piece < 16; piece += 1) {
      const { content, headers } = first.get(catalogPath(16, piece)) ?? {};
      expect([content, headers?.CacheControl]).toEqual([{ nodes: [] }, cacheControl]);
    }
    expect([...first].filter(([key]) => key.startsWith('index/v1/catalog/'))).toHaveLength(17);
    const profile = { id: 'acme', name: 'acme', createdAt: expect.any(String), member_names: ['Olga'] };
    expect(first.get(paths.publishersPath)?.content).toEqual({ publishers: [profile] });
  });

  test('writes the file and the catalog line of a node', async () => {
    await addPublishedNode('written');
    const description = `${'x'.repeat(299)}😀 and more`;
    const shown = { description, icon: 'icon.png', tags: ['a'], search_ranking: 0 };
    await setFields(nodeKey('written'), { ...shown, tags_admin: ['hidden'], edited_by: 'user:olga' });
    const createdAt = '2025-12-31T00:00:00.000Z';
    const versions = {
      '1.0.0': { status: 'NodeVersionStatusFlagged', extraction: { nodes: 0 }, tags_admin: ['hidden'] },
      ...{ '1.1.0+b': {}, '1.1.0+a': {}, '1.1.0+c': { createdAt } },
      '2.0.0': { status: 'NodeVersionStatusBanned' },
      '0.9.0': { status: 'NodeVersionStatusDeleted' },
    };
    for (const [label, fields] of Object.entries(versions))
      await addVersion('acme', 'written', label, { ...published, ...fields });
    await follow(
      nodeKey('written'),
      ...Object.keys(versions).map((label) => nodeVersionKey('written', label)),
    );

    const { content, headers } = await read(nodePath('written'));
    const { archive_key, published_at, ...bytes } = published;
    const downloadUrl = expect.stringMatching(`/${archive_key}$`);
    const fileOf = (label: string) => ({
      ...{ ...bytes, id: `written-${label}`, node_id: 'written' },
      ...{ ...active, version: label, downloadUrl },
    });
    expect(content).toEqual({
      ...{ ...shown, id: 'written', name: 'Node written', status: 'NodeStatusActive' },
      created_at: expect.any(String),
      publisher: { id: 'acme', name: 'acme', createdAt: expect.any(String) },
      latest_version: { ...bytes, id: '1', ...active, downloadUrl },
      versions: [
        { ...fileOf('1.1.0+c'), createdAt },
        fileOf('1.1.0+a'),
        fileOf('1.1.0+b'),
        { ...fileOf('1.0.0'), status: 'NodeVersionStatusFlagged' },
        { ...fileOf('0.9.0'), status: 'NodeVersionStatusDeleted' },
      ],
    });
    expect(headers).toMatchObject({ ContentType: 'application/json', CacheControl: cacheControl });
    expect(await linesOf('written')).toEqual([
      {
        ...{ ...shown, id: 'written', name: 'Node written', description: `${'x'.repeat(299)}\ufffd` },
        publisher: { id: 'acme', name: 'acme' },
        ...{ latest_version: '1.0.0', host_nodes: 0, versions: 4, updated_at: published_at },
        created_at: expect.any(String),
      },
    ]);
    await setFields(nodeKey('written'), { status: 'NodeStatusDeleted' });
    await follow(nodeKey('written'));
    expect(await linesOf('written')).toEqual([]);
  });

  test('reads all versions again when the ban of a publisher is lifted', async () => {
    await addPublisher('whole', {});
    for (const id of ['whole-1', 'whole-2']) await addPublishedNode(id, 'whole');
    await addVersion('acme', 'whole-1', '1.1.0', published);
    limitPages(1);
    const shown = async (id: string) => {
      const { publisher, versions } = (await read(nodePath(id))).content;
      const labels = versions.map((each: PublicVersion) => each.version);
      return [publisher.name, ...labels, (await linesOf(id)).length].join(' ');
    };
    for (const [fields, ...expected] of [
      [{}, 'whole 1.1.0 1.0.0 1', 'whole 1.0.0 1'],
      [{ banned: true }, 'whole 0', 'whole 0'],
      [{ banned: null, name: 'Renamed' }, 'Renamed 1.1.0 1.0.0 1', 'Renamed 1.0.0 1'],
    ] as const) {
      await setPublisherFields('whole', fields);
      // A record of a host node must not hide what its publisher changed.
      await follow(hostNodeKey('whole-1', '1.0.0', 'Load'), publisherKey('whole'));
      expect([await shown('whole-1'), await shown('whole-2')]).toEqual(expected);
    }
  });

  test('reads and writes each file once for all records of a node, and its own before the others', async () => {
    await addFollowedNode('unchanged');
    const [commands, written]: [string[], unknown[]] = [[], []];
    intercept(s3(), async ({ command, input, send }) => {
      commands.push(command);
      if (command !== 'PutObjectCommand') return send();
      if (input.Key === nodePath('unchanged')) await pause(200);
      written.push(input.Key);
      return send();
    });
    await follow(nodeKey('unchanged'), ...own('unchanged'));

    // Its own file, README, host nodes, line of the catalog, and two pages: six objects for a publish, each once.
    expect(written).toHaveLength(6);
    expect(new Set(written).size).toBe(6);
    expect(commands.filter((command) => command === 'GetObjectCommand')).toHaveLength(17);
    expect(written[0]).toBe(nodePath('unchanged'));
  });

  test('shows a ban of a host node in the files of all versions, however many', async () => {
    await addFollowedNode('spammed');
    const labels = Array.from({ length: 21 }, (_, patch) => `1.0.${patch}`);
    for (const label of labels) {
      await addVersion('acme', 'spammed', label, published);
      await putItem({ ...hostNodeKey('spammed', label, 'Spam'), host_node_name: 'Spam', revision: 1 });
    }
    await putItem({ ...hostNodeBansKey('spammed'), names: ['Spam'], revision: 1 });
    await follow(hostNodeBansKey('spammed'));
    await drainQueue(indexChanges, (event) => handler(event, context));

    const banned = [{ host_node_name: 'Spam', policy: 'HostNodePolicyBanned' }];
    for (const label of labels)
      expect((await read(hostNodesPath('spammed', label))).content.host_nodes).toEqual(banned);
  });

  test('writes host nodes, and their words into the catalog, only while no extraction of their version runs', async () => {
    await addPublishedNode('searched');
    const version = nodeVersionKey('searched', '1.0.0');
    const extracting = async (fields: Record<string, unknown>) => {
      await setFields(version, fields);
      await follow(version, hostNodeKey('searched', '1.0.0', 'Load'));
      return (await linesOf('searched'))[0];
    };
    const translations = JSON.stringify({ de: { name: 'Maskenwerk', more: ['zwei'] }, fr: 'remplir' });
    await setFields(nodeKey('searched'), { description: 'Samples latents', tags: ['fill'], translations });
    const name = 'KSampler / MaskedFill';
    await addHostNode('searched', name, 'Fill the mask of latents, füllen');
    const pending = { host_node_extract_status: 'pending' };
    expect(await extracting(pending)).not.toHaveProperty('host_node_words');
    const path = hostNodesPath('searched', '1.0.0');
    await expect(read(path)).rejects.toMatchObject({ name: 'NoSuchKey' });

    const success = { host_node_extract_status: 'success', host_node_extract_reason: 'One was skipped.' };
    // Without "latents" of the description, "fill" of the tags, and "mask", which "masked" begins with.
    const words = 'maskenwerk remplir zwei k sampler masked the of füllen';
    expect(await extracting({ ...success, extraction: { nodes: 1 } })).toMatchObject({
      ...{ host_nodes: 1, host_node_words: words },
    });
    expect((await read(path)).content).toEqual({
      ...{ node_id: 'searched', version: '1.0.0', ...success },
      host_nodes: [{ host_node_name: name, display_name: 'Fill the mask of latents, füllen' }],
    });

    // Host nodes that are added later, of a pack that has more than 2,000 letters.
    for (let place = 100; place < 200; place += 1)
      await addHostNode('searched', `Load${place}${'7'.repeat(20)}`);
    const host_node_words = expect.stringMatching(new RegExp(`^${words} load(?: \\d{23}){80}$`));
    expect(await extracting({})).toMatchObject({ host_node_words });
    expect(await extracting(pending)).not.toHaveProperty('host_node_words');
    // A ban while it is read again must not leave them there.
    expect(await extracting({ status: 'NodeVersionStatusBanned' })).toMatchObject({ versions: 0 });
    expect((await read(path)).content.host_nodes).toEqual([]);
  });

  test('writes nothing before the first published version, then the README of the latest, and reads each archive once', async () => {
    await publish('readme', '1.0.0');
    await setFields(nodeVersionKey('readme', '1.0.0'), { sha256: '0'.repeat(64) });
    await follow(...own('readme'));
    for (const path of [nodePath('readme'), readmePath('readme')])
      await expect(read(path)).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(await linesOf('readme')).toEqual([]);

    const keys: string[] = [];
    intercept(s3(), ({ input, send }) => {
      keys.push(String(input.Key));
      return send();
    });
    const shown = async (version: string, readme?: string) => {
      await publishWith('readme', version, readme);
      return (await read(readmePath('readme'))).content;
    };
    const text = '# One\n<script>alert(1)</script>';
    const file = { node_id: 'readme', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), path: 'README.md' };
    const html = expect.stringMatching(/^<h3[^>]*>One<\/h3>\n$/);
    const first = { ...file, version: '1.0.0', is_cut: false, text, html };
    expect(await shown('1.0.0', text)).toEqual(first);
    keys.length = 0;
    await follow(...own('readme'));
    expect(keys.filter((key) => key.startsWith('archives/'))).toEqual([]);
    expect(await shown('0.9.0', '# Older')).toEqual(first);
    const long = randomBytes(150_001).toString('base64');
    const cut = { version: '1.1.0', text: long.slice(0, 200_000), html: expect.any(String), is_cut: true };
    expect(await shown('1.1.0', long)).toEqual({ ...file, ...cut });
    const { path: _, ...none } = file;
    expect(await shown('1.2.0')).toEqual({ ...none, version: '1.2.0', text: '', html: '' });
  });

  test('logs what it followed, and how long the oldest record waited', async () => {
    stopDate();
    await addPublishedNode('logged');
    const keys = [...own('logged'), hostNodeKey('logged', '1.0.0', 'Load')];
    const event = streamEventOf(...keys, nodeVersionKey('logged', '2.0.0'));
    for (const [place, { dynamodb }] of event.Records.entries()) {
      const ApproximateCreationDateTime = Date.now() / 1000 - Number([5, 70, 2, 1][place]);
      Object.assign(dynamodb ?? {}, { ApproximateCreationDateTime });
    }
    await handler(event, context);

    expect(lines()).toEqual([
      {
        ...{ level: 'info', event: 'index', function: 'writeIndex', function_request_id: 'an-event' },
        ...{ records: 4, nodes: 1, host_nodes: 2, lag_ms: 70_000 },
      },
    ]);
  });

  test('writes the pages of a node and its version, and says in all of them that it is banned', async () => {
    await addPublishedNode('Paged_Node');
    await addVersion('acme', 'Paged_Node', '0.9.0+x', published);
    await addPublisher('acme-2', {});
    await setPublisherFields('acme-2', { name: 'acme' });
    const files = ['pages/nodes/paged-node.html', 'pages/nodes/paged-node/0.9.0+x.html'];
    const follows = async (fields: Record<string, unknown>, ...keys: Key[]) => {
      await setFields(nodeKey('Paged_Node'), fields);
      await follow(nodeKey('Paged_Node'), ...keys);
      return Promise.all(files.map(page));
    };
    const labels = ['1.0.0', '0.9.0+x'].map((label) => nodeVersionKey('Paged_Node', label));
    for (const text of await follows({}, ...labels))
      expect(text).toMatch(
        /^<!doctype html>(?![\s\S]*noindex)[\s\S]*Node Paged_Node[\s\S]*<!-- \d+ \w+ -->\n$/,
      );
    let loads = 0;
    const stop = intercept(s3(), async ({ command, input, send }) => {
      // One that has not changed is answered with an error.
      const reply = await send();
      if (command === 'GetObjectCommand' && input.Key === nodePath('Paged_Node')) loads += 1;
      return reply;
    });
    for (const text of await follows({ publisher_id: 'acme-2' }))
      expect(text).toContain('"/publishers/acme-2"');
    stop();
    // For the file itself, for the README, for the catalog, and once for all pages.
    expect(loads).toBe(4);
    expect((await follows({ latest_version: null }))[1]).toContain('Every version');
    // Only the node's own record changes, and the first try ends between its pages.
    const failing = failCalls(s3(), 'PutObjectCommand', new Error('S3 is down'), files[0]);
    await follows({ status: 'NodeStatusBanned' });
    failing();
    for (const text of await follows({})) {
      expect(text).toContain('This node is banned. Do not install it.');
      expect(text).toContain('<meta name="robots" content="noindex">');
      expect(text).not.toContain('curl');
    }
  });
});

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
      ...{ id: 'banned-early', ...status, created_at, publisher, versions: [] },
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
    await follow(nodeKey(large));
    expect(await shown()).toEqual([]);
    expect(await drainQueue(indexChanges, async () => undefined)).toBe(0);
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
    expect(await page(paths.nodePagePath('slow'))).toContain('slow');
  });

  test('hands on the nodes of a large publisher in parts', async () => {
    await addPublisher('huge', {});
    const ids = Array.from({ length: 41 }, (_, place) => `huge-${place}`).sort();
    const created_at = new Date().toISOString();
    for (const id of ids) await putItem({ ...ownedNodeKey('huge', id), node_id: id, created_at });
    const last = String(ids.at(-1));
    await addPublishedNode(last, 'huge');
    await follow(publisherKey('huge'));
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
    // Without a place in the stream, only an error makes Lambda send the records again.
    for (const { dynamodb } of event.Records) delete dynamodb?.SequenceNumber;
    await expect(handler(event, context)).rejects.toThrow();
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
