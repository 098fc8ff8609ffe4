import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { updateConfig } from '../../lib/index/config-file.ts';
import {
  catalogPath,
  configPath,
  hostNodesPath,
  nodePath,
  pieceOf,
  readmePath,
} from '../../lib/index/paths.ts';
import type { HostNodeRecord } from '../../lib/registry/records.ts';
import { type CatalogEntry, IndexedReadme } from '../../lib/schemas/index-files.ts';
import { absent } from '../../lib/store/items.ts';
import { hostNodeKey, type Key, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { put as putRecord } from '../../lib/store/write.ts';
import { banNodeVersion, unbanNodeVersion } from '../../packages/admin/registry/node-versions.ts';
import { banNode, unbanNode } from '../../packages/admin/registry/nodes.ts';
import { seed } from '../../tools/local/seed.ts';
import { keysBelow, readIndexFile as read } from '../support/bucket-objects.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { addNode, addPublisher, addVersion, setFields, setPublisherFields } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { finalize, publish, put } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 30_000 };
const published = {
  archive_key: 'archives/some/1.0.0/id-0.zip',
  sha256: '0'.repeat(64),
  size_bytes: 10,
  published_at: '2026-01-01T00:00:00.000Z',
  createdAt: '2026-01-01T00:00:00.000Z',
  host_node_extract_status: 'success',
};

async function follow(...keys: Key[]): Promise<void> {
  expect(await handler(streamEventOf(...keys), context)).toEqual({ batchItemFailures: [] });
}

async function addPublishedNode(id: string): Promise<void> {
  await addNode('acme', id, {
    name: `Node ${id}`,
    latest_version: { ...published, id: '1', version: '1.0.0', status: 'NodeVersionStatusActive' },
  });
  await addVersion('acme', id, '1.0.0', published);
}

async function addHostNode(nodeId: string, host_node_name: string, display_name?: string): Promise<void> {
  const key = hostNodeKey(nodeId, '1.0.0', host_node_name);
  const record: HostNodeRecord = {
    ...key,
    revision: 1,
    host_node_name,
    ...(display_name && { display_name }),
  };
  await putRecord({ deadline: Date.now() + 5000 }, record, absent);
}

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

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  await seed();
});

describe('writeIndex', () => {
  test('writes the config and every empty piece of the catalog for the first publisher', async () => {
    await follow(publisherKey('acme'));

    expect((await read(configPath)).content).toMatchObject({ version: 1, catalog_pieces: 16 });
    const pieces = await Promise.all(Array.from({ length: 16 }, (_, piece) => read(catalogPath(16, piece))));
    for (const { content, headers } of pieces)
      expect([content, headers.CacheControl]).toEqual([{ nodes: [] }, expect.stringContaining('max-age=60')]);
  });

  test('writes the file and the catalog line of a node', async () => {
    await addPublishedNode('written');
    await follow(nodeKey('written'), nodeVersionKey('written', '1.0.0'));

    const { content, headers } = await read(nodePath('written'));
    expect(content).toMatchObject({
      id: 'written',
      publisher: { id: 'acme', name: 'acme' },
      latest_version: { version: '1.0.0' },
      versions: [
        { version: '1.0.0', sha256: '0'.repeat(64), downloadUrl: expect.stringContaining('archives/') },
      ],
    });
    expect(headers).toMatchObject({
      ContentType: 'application/json',
      CacheControl: 'public, max-age=60, stale-while-revalidate=60',
    });
    expect(await linesOf('written')).toEqual([
      {
        id: 'written',
        name: 'Node written',
        publisher: { id: 'acme', name: 'acme' },
        latest_version: '1.0.0',
        updated_at: published.published_at,
      },
    ]);
  });

  test('finds a node under every spelling of its id', async () => {
    await addPublishedNode('My_Node.X');
    await follow(nodeKey('My_Node.X'));

    expect((await read('index/v1/nodes/my-node-x.json')).content).toMatchObject({ id: 'My_Node.X' });
  });

  test('writes the catalog in both sizes while it grows: some readers know the one, some the other', async () => {
    const soon = { deadline: Date.now() + 10_000 };
    await addPublishedNode('both');
    await updateConfig(soon, (config) => ({ ...config, next_pieces: 2 }));
    await follow(nodeKey('both'));
    await updateConfig(soon, ({ next_pieces: _, ...config }) => config);

    expect(await linesOf('both')).toHaveLength(1);
    expect(await linesOf('both', 2)).toHaveLength(1);
  });

  test('writes nothing about a node before its first published version', async () => {
    await addNode('acme', 'unpublished');
    await addVersion('acme', 'unpublished', '1.0.0', { ...published, status: 'NodeVersionStatusPending' });
    await follow(nodeKey('unpublished'), nodeVersionKey('unpublished', '1.0.0'));

    await expect(read(nodePath('unpublished'))).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(await linesOf('unpublished')).toEqual([]);
  });

  test('does not let a writer that read first and writes last win', async () => {
    await addPublishedNode('overtaken');
    await follow(nodeKey('overtaken'));
    await setFields(nodeKey('overtaken'), { name: 'The earlier name' });
    const { happened } = beforeNext(s3(), /^PutObject/, async () => {
      await setFields(nodeKey('overtaken'), { name: 'The later name' });
      await follow(nodeKey('overtaken'));
    });
    await follow(nodeKey('overtaken'));

    expect(happened()).toBe(true);
    expect((await read(nodePath('overtaken'))).content).toMatchObject({ name: 'The later name' });
    expect(await linesOf('overtaken')).toMatchObject([{ name: 'The later name' }]);
  });

  test.each([
    ['the node', 'late-node', nodePath],
    ['the catalog', 'late-line', (id: string) => catalogPath(16, pieceOf(id, 16))],
    ['the README', 'late-readme', readmePath],
    ['the host nodes', 'late-host-nodes', (id: string) => hostNodesPath(id, '1.0.0')],
  ])('does not let a late writer of %s undo that a ban was lifted', async (_, id, pathOf) => {
    await addPublishedNode(id);
    await addHostNode(id, 'Load');
    const keys = [nodeKey(id), nodeVersionKey(id, '1.0.0')];
    await follow(...keys);
    const { content: before } = await read(pathOf(id));
    await setFields(nodeKey(id), { status: 'NodeStatusBanned' });
    let puts = 0;
    intercept(s3(), async ({ command, input, send }) => {
      if (command !== 'PutObjectCommand' || input.Key !== pathOf(id) || ++puts > 1) return send();
      await setFields(nodeKey(id), { status: 'NodeStatusActive' });
      await follow(...keys);
      return send();
    });
    await follow(...keys);

    expect(puts).toBeGreaterThan(0);
    expect((await read(pathOf(id))).content).toEqual(before);
  });

  test('does not let a late writer show a node that was banned before it had a file', async () => {
    await addPublishedNode('banned-early');
    const { happened } = beforeNext(s3(), /^PutObject/, async () => {
      await banNode('banned-early', 'test');
      await follow(nodeKey('banned-early'), nodeVersionKey('banned-early', '1.0.0'));
    });
    await follow(nodeKey('banned-early'), nodeVersionKey('banned-early', '1.0.0'));

    expect(happened()).toBe(true);
    expect((await read(nodePath('banned-early'))).content).toMatchObject({
      status: 'NodeStatusBanned',
      versions: [],
    });
    expect((await read(readmePath('banned-early'))).content).toEqual({ node_id: 'banned-early', text: '' });
  });

  test('reads and writes each file once for all records of a node, and its own before the others', async () => {
    await addPublishedNode('unchanged');
    await follow(nodeKey('unchanged'), nodeVersionKey('unchanged', '1.0.0'));
    const [commands, written]: [string[], unknown[]] = [[], []];
    intercept(s3(), async ({ command, input, send }) => {
      commands.push(command);
      if (command !== 'PutObjectCommand') return send();
      if (input.Key === nodePath('unchanged')) await pause(200);
      written.push(input.Key);
      return send();
    });
    await follow(nodeKey('unchanged'), nodeKey('unchanged'), nodeVersionKey('unchanged', '1.0.0'));

    const once = Array.from({ length: 4 }, () => 'PutObjectCommand');
    // The catalog's config is only read.
    expect(commands.sort()).toEqual([...once.map(() => 'GetObjectCommand'), 'GetObjectCommand', ...once]);
    expect(written[0]).toBe(nodePath('unchanged'));
  });

  test('empties the file of a banned node, and fills it again when the ban is lifted', async () => {
    await addPublishedNode('banned');
    await follow(nodeKey('banned'), nodeVersionKey('banned', '1.0.0'));
    await banNode('banned', 'test');
    await follow(nodeKey('banned'), nodeVersionKey('banned', '1.0.0'));
    const { content } = await read(nodePath('banned'));
    expect(content).toMatchObject({ status: 'NodeStatusBanned', versions: [] });
    expect(content).not.toHaveProperty('latest_version');
    expect(await linesOf('banned')).toEqual([]);

    await unbanNode('banned');
    await follow(nodeKey('banned'));
    expect((await read(nodePath('banned'))).content).toMatchObject({ versions: [{ version: '1.0.0' }] });
    expect(await linesOf('banned')).toHaveLength(1);
  });

  test('keeps the versions of a withdrawn node, and takes it off the catalog', async () => {
    await addPublishedNode('withdrawn');
    await setFields(nodeKey('withdrawn'), { status: 'NodeStatusDeleted' });
    await follow(nodeKey('withdrawn'), nodeVersionKey('withdrawn', '1.0.0'));

    expect((await read(nodePath('withdrawn'))).content).toMatchObject({
      status: 'NodeStatusDeleted',
      versions: [{ version: '1.0.0' }],
    });
    expect(await linesOf('withdrawn')).toEqual([]);
  });

  test('carries a change of the publisher to all its nodes, next to those of their versions', async () => {
    await Promise.all(['first', 'second'].map(addPublishedNode));
    await follow(nodeKey('first'), nodeVersionKey('first', '1.0.0'));
    await addVersion('acme', 'first', '1.1.0', published);
    await setPublisherFields('acme', { name: 'Acme Inc.' });
    await follow(nodeVersionKey('first', '1.1.0'), publisherKey('acme'));
    const nodes = await Promise.all(['first', 'second'].map((id) => read(nodePath(id))));
    await setPublisherFields('acme', { name: 'acme' });

    expect(nodes.map(({ content }) => content.publisher.name)).toEqual(['Acme Inc.', 'Acme Inc.']);
    expect(nodes[0]?.content.versions).toMatchObject([{ version: '1.1.0' }, { version: '1.0.0' }]);
  });

  test('writes host nodes once the extraction of their version is over', async () => {
    await addPublishedNode('extracting');
    const version = nodeVersionKey('extracting', '1.0.0');
    await setFields(version, { host_node_extract_status: 'pending' });
    await addHostNode('extracting', 'Load / it');
    await follow(hostNodeKey('extracting', '1.0.0', 'Load / it'));
    await expect(read(hostNodesPath('extracting', '1.0.0'))).rejects.toMatchObject({ name: 'NoSuchKey' });

    await setFields(version, { host_node_extract_status: 'success' });
    await follow(version);
    expect((await read(hostNodesPath('extracting', '1.0.0'))).content).toEqual({
      node_id: 'extracting',
      version: '1.0.0',
      host_node_extract_status: 'success',
      host_nodes: [{ host_node_name: 'Load / it' }],
    });

    // A ban while it is read again must not leave them there.
    const status = 'NodeVersionStatusBanned';
    await setFields(version, { host_node_extract_status: 'pending', status });
    await follow(version);
    expect((await read(hostNodesPath('extracting', '1.0.0'))).content.host_nodes).toEqual([]);
  });

  test('writes the words of host nodes and their titles into the catalog once the extraction is over', async () => {
    await addPublishedNode('searched');
    const version = nodeVersionKey('searched', '1.0.0');
    await setFields(nodeKey('searched'), { description: 'Samples latents' });
    await addHostNode('searched', 'KSampler_MaskedFill', 'Fill the mask of latents, füllen');
    await setFields(version, { host_node_extract_status: 'pending' });
    await follow(version, hostNodeKey('searched', '1.0.0', 'KSampler_MaskedFill'));
    expect((await linesOf('searched'))[0]).not.toHaveProperty('host_node_words');

    await setFields(version, { host_node_extract_status: 'success' });
    await follow(version);
    // Without "latents", which is in the description, and "mask", which "masked" begins with.
    expect(await linesOf('searched')).toMatchObject([
      { host_node_words: 'k sampler masked fill the of füllen' },
    ]);
  });

  test('follows a host node that is added later, and bounds the words of a large pack', async () => {
    await addPublishedNode('large');
    await follow(nodeKey('large'), nodeVersionKey('large', '1.0.0'));
    const names = Array.from({ length: 100 }, (_, place) => `Load${1000 + place}${'7'.repeat(20)}`);
    for (const name of names) await addHostNode('large', name);
    await follow(hostNodeKey('large', '1.0.0', String(names[0])));

    const [{ host_node_words: words } = {}] = (await linesOf('large')) as CatalogEntry[];
    expect(words).toMatch(/^load 10007{20} 10017{20} /);
    expect(words?.length).toBeGreaterThan(1970);
    expect(words?.length).toBeLessThanOrEqual(2000);
  });

  test('writes the README of the latest version, and replaces it with that of the next', async () => {
    await publishWith('readme', '1.0.0', '# One\n<script>alert(1)</script>');
    expect(await read(readmePath('readme'))).toMatchObject({
      headers: { ContentType: 'application/json' },
      content: {
        node_id: 'readme',
        version: '1.0.0',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        path: 'README.md',
        text: '# One\n<script>alert(1)</script>',
        is_cut: false,
      },
    });

    await publishWith('readme', '0.9.0', '# Older');
    expect((await read(readmePath('readme'))).content).toMatchObject({ version: '1.0.0' });
    await publishWith('readme', '1.1.0', '# Two');
    expect((await read(readmePath('readme'))).content).toMatchObject({ version: '1.1.0', text: '# Two' });
    await publishWith('readme', '1.2.0', undefined);
    const { content } = await read(readmePath('readme'));
    expect(content).toMatchObject({ version: '1.2.0', text: '' });
    expect(content).not.toHaveProperty('path');
    expect(() => IndexedReadme.parse(content)).not.toThrow();
  });

  test('empties the README of a banned version and node, and writes it again after the ban', async () => {
    await publishWith('silenced', '1.0.0', 'secret');
    for (const [ban, unban] of [
      [() => banNodeVersion('silenced', '1.0.0', 'test'), () => unbanNodeVersion('silenced', '1.0.0')],
      [() => banNode('silenced', 'test'), () => unbanNode('silenced')],
    ] as const) {
      await ban();
      await follow(nodeKey('silenced'), nodeVersionKey('silenced', '1.0.0'));
      expect((await read(readmePath('silenced'))).content).toEqual({ node_id: 'silenced', text: '' });
      await unban();
      await follow(nodeKey('silenced'), nodeVersionKey('silenced', '1.0.0'));
      expect((await read(readmePath('silenced'))).content).toMatchObject({ text: 'secret' });
    }
  });

  test('writes no README of a version that waits for its upload, and reads each archive once', async () => {
    await publish('waiting', '1.0.0');
    await follow(nodeKey('waiting'), nodeVersionKey('waiting', '1.0.0'));
    await expect(read(readmePath('waiting'))).rejects.toMatchObject({ name: 'NoSuchKey' });

    await publishWith('waiting', '1.0.0', 'Hello');
    const keys: string[] = [];
    intercept(s3(), ({ input, send }) => {
      keys.push(String(input.Key));
      return send();
    });
    await follow(nodeKey('waiting'), nodeVersionKey('waiting', '1.0.0'));
    expect(keys.filter((key) => !key.startsWith('index/'))).toEqual([]);
  });

  test.each([404, 409, 412])(
    'writes a file after a %i of S3, for which another writer may be the cause',
    async (status) => {
      const id = `refused-${status}`;
      await addPublishedNode(id);
      const refusal = Object.assign(new Error('refused'), { $metadata: { httpStatusCode: status } });
      const refused = beforeNext(s3(), /^PutObject/, () => Promise.reject(refusal));
      await follow(nodeKey(id), nodeVersionKey(id, '1.0.0'));

      expect(refused.happened()).toBe(true);
      expect((await read(nodePath(id))).content).toMatchObject({ versions: [{ version: '1.0.0' }] });
    },
  );

  test('reports the whole batch as failed if S3 fails, and logs why', async () => {
    await addPublishedNode('unlucky');
    intercept(s3(), async () => {
      throw Object.assign(new Error('S3 is down'), { $metadata: { httpStatusCode: 500 } });
    });
    const reply = await handler(streamEventOf(nodeKey('unlucky')), context);

    expect(reply).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
    expect(loggedLines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: 'error',
        event: 'index',
        function_request_id: 'an-event',
        causes: ['Error: S3 is down'],
      }),
    );
  });

  test('writes only under index/', async () => {
    const keys = await keysBelow('');
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter((key) => !/^(?:index\/v1|archives)\//.test(key))).toEqual([]);
  });
});
