import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import * as paths from '@node-registry/registry-rules/index-paths';
import type { PublicVersion } from '@node-registry/registry-rules/schemas/index-files';
import {
  hostNodeBansKey,
  hostNodeKey,
  type Key,
  nodeKey,
  nodeVersionKey,
  publisherKey,
} from '../../lib/store/keys.ts';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import { seed } from '../../tools/local/seed.ts';
import { limitPages } from '../support/admin.ts';
import { keysBelow, readIndexFile as read } from '../support/bucket-objects.ts';
import { stopDate } from '@node-registry/testing/clock';
import { failCalls, intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import {
  active,
  addFollowedNode,
  addHostNode,
  addPublishedNode,
  context,
  follow,
  linesOf,
  own,
  page,
  published,
} from '../support/index-nodes.ts';
import { indexChanges } from '../support/queue.ts';
import { addPublisher, addVersion, putItem, setFields, setPublisherFields } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { finalize, publish, put } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

const { catalogPath, configPath, hostNodesPath, nodePath, readmePath } = paths;

/** The distribution and then a browser keep a file this long, so that a ban shows within a minute. */
const cacheControl = 'public, max-age=30';

async function publishWith(id: string, version: string, readme: string | undefined): Promise<void> {
  const code = { name: 'node.py', data: 'NODE_CLASS_MAPPINGS = {}\n' };
  const upload = await publish(id, version);
  await put(upload, zip(readme === undefined ? [code] : [code, { name: 'README.md', data: readme }]));
  await finalize(upload);
  await follow(nodeKey(id), nodeVersionKey(id, version));
}

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

  test('writes the beginnings of what a publisher says into the file of all', async () => {
    await addPublisher('wordy', {});
    const members = Object.fromEntries(
      Array.from({ length: 11 }, (_, index) => [index, { role: 'member', name: 'n'.repeat(100) }]),
    );
    const website = `https://a.example/${'x'.repeat(282)}`;
    await setPublisherFields('wordy', {
      members,
      description: 'd'.repeat(2001),
      website,
      support: `${website}x`,
    });
    await follow(publisherKey('wordy'));

    const { content } = await read(paths.publishersPath);
    const profile = content.publishers.find(({ id }: { id: string }) => id === 'wordy');
    expect(profile).toEqual({
      id: 'wordy',
      name: 'wordy',
      createdAt: expect.any(String),
      website,
      description: 'd'.repeat(2000),
      member_names: Array(10).fill('n'.repeat(100)),
    });
  });

  test('writes the file and the catalog line of a node', async () => {
    await addPublishedNode('written');
    const description = `${'x'.repeat(299)}😀 and more`;
    const shown = { description, icon: 'icon.png', tags: ['a'], search_ranking: 0 };
    await setFields(nodeKey('written'), { ...shown, tags_admin: ['hidden'], edited_by: 'user:olga' });
    const createdAt = '2025-12-31T00:00:00.000Z';
    const versions = {
      '1.0.0': { status: 'NodeVersionStatusFlagged', extraction: { nodes: 0 }, tags_admin: ['hidden'] },
      '1.1.0+b': {},
      '1.1.0+a': {},
      '1.1.0+c': { createdAt },
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
      ...bytes,
      id: `written-${label}`,
      node_id: 'written',
      ...active,
      version: label,
      downloadUrl,
    });
    expect(content).toEqual({
      ...shown,
      id: 'written',
      name: 'Node written',
      status: 'NodeStatusActive',
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
        ...shown,
        id: 'written',
        name: 'Node written',
        description: `${'x'.repeat(299)}\ufffd`,
        publisher: { id: 'acme', name: 'acme' },
        latest_version: '1.0.0',
        host_nodes: 0,
        versions: 4,
        updated_at: published_at,
        created_at: expect.any(String),
      },
    ]);
    await setFields(nodeKey('written'), { status: 'NodeStatusDeleted' });
    await follow(nodeKey('written'));
    expect(await linesOf('written')).toEqual([]);
  });

  test('keeps the catalog line of a node small, because all readers of a list load it', async () => {
    await addPublishedNode('broad');
    const texts = Array.from({ length: 1000 }, (_, index) => `${index}`.padEnd(50, 'x'));
    const tags = [...texts.slice(0, 40), 'upscaling', ...texts];
    const lists = { tags, supported_os: texts, supported_accelerators: texts };
    const icon = `data:image/png;base64,${'A'.repeat(2000)}`;
    await setFields(nodeKey('broad'), { name: '😀'.repeat(20_000), icon, ...lists });
    await follow(...own('broad'));

    expect((await read(nodePath('broad'))).content).toMatchObject({ icon, ...lists });
    const [line] = await linesOf('broad');
    expect(line).not.toHaveProperty('icon');
    expect(line).toMatchObject({ name: '😀'.repeat(100), tags: texts.slice(0, 20) });
    // A search still finds it by its other tags.
    expect(line).toMatchObject({ host_node_words: expect.stringMatching(/\bupscaling\b/) });
    expect(JSON.stringify(line).length).toBeLessThan(6000);
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
      await follow(hostNodeKey('whole-1', '1.0.0', 'Load'), publisherKey('whole'), publisherKey('whole'));
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
      host_nodes: 1,
      host_node_words: words,
    });
    expect((await read(path)).content).toEqual({
      node_id: 'searched',
      version: '1.0.0',
      ...success,
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
        level: 'info',
        event: 'index',
        function: 'writeIndex',
        function_request_id: 'an-event',
        records: 4,
        nodes: 1,
        host_nodes: 2,
        lag_ms: 70_000,
        parts: 0,
        failed: 0,
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
    for (const text of await follows({ author: 'Ada' })) expect(text).toContain('<bdi>Ada</bdi>');
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
