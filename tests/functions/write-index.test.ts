import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import * as paths from '@node-registry/registry-rules/index-paths';
import type { CatalogEntry } from '@node-registry/registry-rules/schemas/index-files';
import { hostNodeBansKey, hostNodeKey, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import { seed } from '../../tools/local/seed.ts';
import { limitPages } from '../support/admin.ts';
import { keysBelow, readIndexFile as read, readObject } from '../support/bucket-objects.ts';
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
  own,
  published,
} from '../support/index-nodes.ts';
import { indexChanges } from '../support/queue.ts';
import {
  addNode,
  addPublisher,
  addVersion,
  putItem,
  setFields,
  setPublisherFields,
} from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { finalize, publish, put, putObject } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

const { catalogPath, configPath, hostNodesPath, nodePath, pieceOf, readmePath } = paths;

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
  });

  test('reads all versions again when the ban of a publisher is lifted', async () => {
    await addPublisher('whole', {});
    for (const id of ['whole-1', 'whole-2']) await addPublishedNode(id, 'whole');
    await addVersion('whole', 'whole-1', '1.1.0', published);
    limitPages(1);
    const shown = async () => {
      // A record of a host node must not hide what its publisher changed.
      await follow(hostNodeKey('whole-1', '1.0.0', 'Load'), publisherKey('whole'));
      const found = ['whole-1', 'whole-2'].map(async (id) => {
        const { status, publisher, versions } = (await read(nodePath(id))).content;
        const labels = versions.map((each: { version: string }) => each.version);
        return [status, publisher.name, ...labels, `${(await linesOf(id)).length} lines`].join(' ');
      });
      return Promise.all(found);
    };
    const all = ['NodeStatusActive whole 1.1.0 1.0.0 1 lines', 'NodeStatusActive whole 1.0.0 1 lines'];
    expect(await shown()).toEqual(all);
    await setPublisherFields('whole', { banned: true });
    expect(await shown()).toEqual(Array(2).fill('NodeStatusBanned whole 0 lines'));
    await setPublisherFields('whole', { banned: null, name: 'Renamed' });
    expect(await shown()).toEqual(all.map((text) => text.replace('whole', 'Renamed')));
  });

  test('writes nothing about a node before its first published version', async () => {
    await addNode('acme', 'unpublished');
    await addVersion('acme', 'unpublished', '1.0.0', { ...published, status: 'NodeVersionStatusPending' });
    await follow(...own('unpublished'));

    await expect(read(nodePath('unpublished'))).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(await linesOf('unpublished')).toEqual([]);
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
    expect(commands.filter((command) => command === 'GetObjectCommand')).toHaveLength(15);
    expect(written[0]).toBe(nodePath('unchanged'));
  });

  test('writes host nodes once the extraction of their version is over', async () => {
    await addPublishedNode('extracting');
    const version = nodeVersionKey('extracting', '1.0.0');
    await setFields(version, { host_node_extract_status: 'pending' });
    await addHostNode('extracting', 'Load / it');
    await follow(hostNodeKey('extracting', '1.0.0', 'Load / it'));
    await expect(read(hostNodesPath('extracting', '1.0.0'))).rejects.toMatchObject({ name: 'NoSuchKey' });

    const extraction = { host_node_extract_status: 'success', host_node_extract_reason: 'One was skipped.' };
    await setFields(version, extraction);
    await follow(version);
    const file = { node_id: 'extracting', version: '1.0.0', ...extraction };
    const host_nodes = [{ host_node_name: 'Load / it' }];
    expect((await read(hostNodesPath('extracting', '1.0.0'))).content).toEqual({ ...file, host_nodes });

    // A ban while it is read again must not leave them there.
    const status = 'NodeVersionStatusBanned';
    await setFields(version, { host_node_extract_status: 'pending', status });
    await follow(version);
    expect((await read(hostNodesPath('extracting', '1.0.0'))).content.host_nodes).toEqual([]);
    expect((await read(nodePath('extracting'))).content.versions).toEqual([]);
  });

  test('shows a ban of a host node in the files of all versions, however many', async () => {
    await addFollowedNode('spammed');
    const labels = Array.from({ length: 21 }, (_, patch) => `1.0.${patch}`);
    const entry = { host_node_name: 'Spam', revision: 1 };
    for (const label of labels) {
      await addVersion('acme', 'spammed', label, published);
      await putItem({ ...hostNodeKey('spammed', label, 'Spam'), ...entry });
    }
    await putItem({ ...hostNodeBansKey('spammed'), names: ['Spam'], revision: 1 });
    await follow(hostNodeBansKey('spammed'));
    await drainQueue(indexChanges, (event) => handler(event, context));

    const banned = [{ host_node_name: 'Spam', policy: 'HostNodePolicyBanned' }];
    for (const label of labels)
      expect((await read(hostNodesPath('spammed', label))).content.host_nodes).toEqual(banned);
  });

  test('writes the words of translations, host nodes and titles into the catalog once the extraction is over', async () => {
    await addPublishedNode('searched');
    const version = nodeVersionKey('searched', '1.0.0');
    const translations = { de: { name: 'Maskenwerk', more: ['zwei'] }, fr: 'remplir' };
    await setFields(nodeKey('searched'), { description: 'Samples latents', tags: ['fill'], translations });
    await addHostNode('searched', 'KSampler_MaskedFill', 'Fill the mask of latents, füllen');
    await setFields(version, { host_node_extract_status: 'pending' });
    await follow(version, hostNodeKey('searched', '1.0.0', 'KSampler_MaskedFill'));
    expect((await linesOf('searched'))[0]).not.toHaveProperty('host_node_words');

    await setFields(version, { host_node_extract_status: 'success', extraction: { nodes: 1 } });
    await follow(version);
    // Without "latents" of the description, "fill" of the tags, and "mask", which "masked" begins with.
    expect(await linesOf('searched')).toMatchObject([
      { host_nodes: 1, host_node_words: 'maskenwerk remplir zwei k sampler masked the of füllen' },
    ]);
  });

  test('follows a host node that is added later, and bounds the words of a large pack', async () => {
    await addFollowedNode('large');
    const names = Array.from({ length: 100 }, (_, place) => `Load${1000 + place}${'7'.repeat(20)}`);
    for (const name of names) await addHostNode('large', name);
    await follow(hostNodeKey('large', '1.0.0', String(names[0])));

    const [{ host_node_words: words } = {}] = (await linesOf('large')) as CatalogEntry[];
    // Of 2,000 letters: "load", and 79 numbers of 24 digits.
    const numbers = names.slice(0, 79).map((name) => name.slice('Load'.length));
    expect(words).toBe(['load', ...numbers].join(' '));
  });

  test('writes the README of the latest version, and replaces it with that of the next', async () => {
    await publishWith('readme', '1.0.0', '# One\n<script>alert(1)</script>');
    const shown = async () => (await read(readmePath('readme'))).content;
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    const first = {
      ...{ node_id: 'readme', version: '1.0.0', sha256, path: 'README.md', is_cut: false },
      ...{ text: '# One\n<script>alert(1)</script>', html: expect.stringMatching(/^<h3[^>]*>One<\/h3>\n$/) },
    };
    expect(await shown()).toEqual(first);

    await publishWith('readme', '0.9.0', '# Older');
    expect(await shown()).toEqual(first);
    const long = randomBytes(150_001).toString('base64');
    await publishWith('readme', '1.1.0', long);
    const cut = { version: '1.1.0', text: long.slice(0, 200_000), html: expect.any(String), is_cut: true };
    expect(await shown()).toEqual({ ...first, ...cut });
    await publishWith('readme', '1.2.0', undefined);
    expect(await shown()).toEqual({ node_id: 'readme', version: '1.2.0', sha256, text: '', html: '' });
  });

  test('writes no README of a version that waits for its upload, and reads each archive once', async () => {
    await publish('waiting', '1.0.0');
    await follow(...own('waiting'));
    await expect(read(readmePath('waiting'))).rejects.toMatchObject({ name: 'NoSuchKey' });

    await publishWith('waiting', '1.0.0', 'Hello');
    const keys: string[] = [];
    intercept(s3(), ({ input, send }) => {
      keys.push(String(input.Key));
      return send();
    });
    await follow(...own('waiting'));
    expect(keys.filter((key) => key.startsWith('archives/'))).toEqual([]);
  });

  test('finds a node under every spelling of its id, and takes a README that cannot be unpacked for none', async () => {
    const damaged = zip([{ name: 'README.md', data: 'x'.repeat(500) }]);
    damaged.fill(0xff, 40, 60);
    const key = 'archives/broken/1.0.0/id-0.zip';
    await putObject(key, damaged);
    await addPublishedNode('Bro_Ken.X');
    await setFields(nodeKey('Bro_Ken.X'), { latest_version: { ...published, archive_key: key, ...active } });
    await follow(...own('Bro_Ken.X'));

    expect((await read('index/v1/nodes/bro-ken-x.json')).content).toMatchObject({ id: 'Bro_Ken.X' });
    expect((await read(readmePath('Bro_Ken.X'))).content).toMatchObject({ version: '1.0.0', text: '' });
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

  const page = async (key: string) => (await readObject(key)).text;

  test('writes the pages of a node and its version, and says in all of them that it is banned', async () => {
    await addPublishedNode('Paged_Node');
    await addVersion('acme', 'Paged_Node', '0.9.0+x', published);
    const keys = ['1.0.0', '0.9.0+x'].map((label) => nodeVersionKey('Paged_Node', label));
    await follow(nodeKey('Paged_Node'), ...keys);
    const paths = ['pages/nodes/paged-node.html', 'pages/nodes/paged-node/0.9.0+x.html'];
    for (const path of paths)
      expect(await page(path)).toMatch(
        /^<!doctype html>(?![\s\S]*noindex)[\s\S]*Node Paged_Node[\s\S]*<!-- \d+ \w+ -->\n$/,
      );
    await addPublisher('acme-2', {});
    await setPublisherFields('acme-2', { name: 'acme' });
    await setFields(nodeKey('Paged_Node'), { publisher_id: 'acme-2' });
    await follow(nodeKey('Paged_Node'));
    for (const path of paths) expect(await page(path)).toContain('"/publishers/acme-2"');
    // Only the node's own record changes, and the first try ends between its pages.
    await setFields(nodeKey('Paged_Node'), { status: 'NodeStatusBanned' });
    const failing = failCalls(s3(), 'PutObjectCommand', new Error('S3 is down'), paths[0]);
    await follow(nodeKey('Paged_Node'));
    failing();
    await follow(nodeKey('Paged_Node'));

    for (const path of paths) {
      expect(await page(path)).toContain('This node is banned. Do not install it.');
      expect(await page(path)).toContain('<meta name="robots" content="noindex">');
      expect(await page(path)).not.toContain('curl');
    }
  });
});
