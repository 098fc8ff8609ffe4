import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { updateConfig } from '../../lib/index/config-file.ts';
import * as paths from 'registry-rules/index-paths';
import type { HostNodeRecord } from '../../lib/registry/records.ts';
import type { CatalogEntry } from 'registry-rules/schemas/index-files';
import { absent } from '../../lib/store/items.ts';
import { hostNodeKey, type Key, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { put as putRecord } from '../../lib/store/write.ts';
import { banNode } from '../../tools/admin/registry/nodes.ts';
import { seed } from '../../tools/local/seed.ts';
import { limitPages } from '../support/admin.ts';
import { keysBelow, readIndexFile as read, readObject } from '../support/bucket-objects.ts';
import { stopDate } from 'testing/clock';
import { beforeNext, intercept } from '../support/intercept.ts';
import { lines } from '../support/logged-lines.ts';
import { addNode, addPublisher, addVersion, setFields, setPublisherFields } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { drainQueue, eventOf } from '../../tools/local/consume-queue.ts';
import { indexChanges } from '../support/queue.ts';
import { setVariables } from '../support/variables.ts';
import { finalize, publish, put, putObject } from '../support/uploads.ts';
import { zip } from 'testing/zip';

const { catalogPath, configPath, hostNodesPath, nodePath, pieceOf, readmePath } = paths;

/** The distribution and then a browser keep a file this long, so that a ban shows within a minute. */
const cacheControl = 'public, max-age=30';
const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 120_000 };
const published = {
  ...{ archive_key: 'archives/some/1.0.0/id-0.zip', sha256: '0'.repeat(64), size_bytes: 10 },
  ...{ published_at: '2026-01-01T00:00:00.000Z', createdAt: '2026-01-01T00:00:00.000Z' },
  host_node_extract_status: 'success',
};
const active = { status: 'NodeVersionStatusActive', version: '1.0.0' };

async function follow(...keys: Key[]): Promise<void> {
  expect(await handler(streamEventOf(...keys), context)).toEqual({ batchItemFailures: [] });
}

const own = (id: string): Key[] => [nodeKey(id), nodeVersionKey(id, '1.0.0')];

const messageOf = (keys: Key[]) => eventOf([{ MessageId: 'a-message', Body: JSON.stringify({ keys }) }]);

async function addPublishedNode(id: string, publisherId = 'acme'): Promise<void> {
  await addNode(publisherId, id, {
    name: `Node ${id}`,
    latest_version: { ...published, id: '1', ...active },
  });
  await addVersion(publisherId, id, '1.0.0', published);
}

async function addHostNode(nodeId: string, host_node_name: string, display_name?: string): Promise<void> {
  const fields = { host_node_name, ...(display_name && { display_name }) };
  const record: HostNodeRecord = { ...hostNodeKey(nodeId, '1.0.0', host_node_name), revision: 1, ...fields };
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

/** What the first publisher brings. */
const first = new Map<string, Awaited<ReturnType<typeof read>>>();

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
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
    expect([...first].filter(([key]) => key.startsWith('index/v1/catalog/'))).toHaveLength(16);
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
      ],
    });
    expect(headers).toMatchObject({ ContentType: 'application/json', CacheControl: cacheControl });
    expect(await linesOf('written')).toEqual([
      {
        ...{ ...shown, id: 'written', name: 'Node written', description: `${'x'.repeat(299)}\ufffd` },
        publisher: { id: 'acme', name: 'acme' },
        ...{ latest_version: '1.0.0', host_nodes: 0, updated_at: published_at },
      },
    ]);
  });

  test('writes the catalog in both sizes while it grows, since readers use either', async () => {
    const soon = { deadline: Date.now() + 10_000 };
    await addPublishedNode('both');
    await updateConfig(soon, (config) => ({ ...config, next_pieces: 2 }));
    await follow(nodeKey('both'));
    await updateConfig(soon, ({ next_pieces: _, ...config }) => config);

    expect(await linesOf('both')).toHaveLength(1);
    expect(await linesOf('both', 2)).toHaveLength(1);
  });

  test('sorts the lines of a piece, whatever the order in which they came', async () => {
    const names = Array.from({ length: 200 }, (_, place) => `sorted-${place}`);
    const ids = names.filter((id) => pieceOf(id, 16) === 7).slice(0, 3);
    for (const id of ids.toReversed()) {
      await addPublishedNode(id);
      await follow(nodeKey(id));
    }

    const { nodes } = (await read(catalogPath(16, 7))).content;
    const sorted = nodes.map(({ id }: CatalogEntry) => id);
    expect(sorted).toEqual([...sorted].sort());
    expect(sorted).toEqual(expect.arrayContaining(ids));
  });

  test('reads every page of the versions, the host nodes and the nodes of a publisher', async () => {
    await addPublisher('paged', {});
    for (const id of ['paged-1', 'paged-2', 'paged-3']) await addPublishedNode(id, 'paged');
    for (const label of ['1.1.0', '1.2.0']) await addVersion('paged', 'paged-2', label, published);
    for (const name of ['A', 'B', 'C']) await addHostNode('paged-2', name);
    limitPages(1);
    const shown = async (...followed: Key[]) => {
      await follow(...followed, publisherKey('paged'));
      const files = await Promise.all([1, 2, 3].map((place) => read(nodePath(`paged-${place}`))));
      const { host_nodes } = (await read(hostNodesPath('paged-2', '1.0.0'))).content;
      return [
        ...files.map(({ content }) =>
          content.versions.map((each: { version: string }) => each.version).join(),
        ),
        host_nodes.map((each: HostNodeRecord) => each.host_node_name).join(),
        ...new Set(files.map(({ content }) => `${content.publisher.name} ${content.status}`)),
      ];
    };
    const first = nodeVersionKey('paged-2', '1.0.0');
    const all = ['1.0.0', '1.2.0,1.1.0,1.0.0', '1.0.0', 'A,B,C', 'paged NodeStatusActive'];
    expect(await shown(first)).toEqual(all);
    await setPublisherFields('paged', { banned: true });
    expect(await shown(first)).toEqual(['', '', '', '', 'paged NodeStatusBanned']);
    await setPublisherFields('paged', { banned: null });
    await setFields(nodeVersionKey('paged-2', '1.1.0'), { status: 'NodeVersionStatusBanned' });
    expect(await shown(first)).toEqual(all.with(1, '1.2.0,1.0.0'));
    await setPublisherFields('paged', { name: 'Renamed' });
    await setFields(nodeVersionKey('paged-2', '1.2.0'), { status: 'NodeVersionStatusBanned' });
    const last = [...all.with(1, '1.0.0').slice(0, 4), 'Renamed NodeStatusActive'];
    expect(await shown(nodeVersionKey('paged-2', '1.2.0'))).toEqual(last);
  });

  test('brings eight nodes up to date at the same time, and no more', async () => {
    const ids = Array.from({ length: 20 }, (_, place) => `crowd-${place}`);
    await Promise.all(ids.map((id) => addPublishedNode(id)));
    const eight = Promise.withResolvers<void>();
    let [running, most] = [0, 0];
    const begun = new Set<unknown>();
    intercept(s3(), async ({ command, input, send }) => {
      const isOwn = ids.some((id) => input.Key === nodePath(id));
      // Once more for its pages.
      if (isOwn && command === 'GetObjectCommand' && !begun.has(input.Key)) {
        begun.add(input.Key);
        running += 1;
        most = Math.max(most, running);
        // Others have time to begin before the first goes on.
        if (running === 8) setTimeout(eight.resolve, 100);
        await eight.promise;
      }
      const output = await send();
      if (isOwn && command === 'PutObjectCommand') running -= 1;
      return output;
    });
    await follow(...ids.map(nodeKey));

    expect(most).toBe(8);
  });

  test('writes nothing about a node before its first published version', async () => {
    await addNode('acme', 'unpublished');
    await addVersion('acme', 'unpublished', '1.0.0', { ...published, status: 'NodeVersionStatusPending' });
    await follow(...own('unpublished'));

    await expect(read(nodePath('unpublished'))).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(await linesOf('unpublished')).toEqual([]);
  });

  test.each([
    ['the node', 'late-node', nodePath],
    ['the catalog', 'late-line', (id: string) => catalogPath(16, pieceOf(id, 16))],
    ['the README', 'late-readme', readmePath],
    ['the host nodes', 'late-host-nodes', (id: string) => hostNodesPath(id, '1.0.0')],
  ])('does not let a late writer of %s undo that a ban was lifted', async (_, id, pathOf) => {
    await addPublishedNode(id);
    await addHostNode(id, 'Load');
    const keys = own(id);
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
      await follow(...own('banned-early'));
    });
    await follow(...own('banned-early'));

    const { status, versions } = (await read(nodePath('banned-early'))).content;
    expect([happened(), status, versions]).toEqual([true, 'NodeStatusBanned', []]);
    expect((await read(readmePath('banned-early'))).content).toEqual({ node_id: 'banned-early', text: '' });
  });

  test('reads and writes each file once for all records of a node, and its own before the others', async () => {
    await addPublishedNode('unchanged');
    await follow(...own('unchanged'));
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
    expect(commands.filter((command) => command === 'GetObjectCommand')).toHaveLength(14);
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
  });

  test('writes the words of host nodes and their titles into the catalog once the extraction is over', async () => {
    await addPublishedNode('searched');
    const version = nodeVersionKey('searched', '1.0.0');
    await setFields(nodeKey('searched'), { description: 'Samples latents', tags: ['fill'] });
    await addHostNode('searched', 'KSampler_MaskedFill', 'Fill the mask of latents, füllen');
    await setFields(version, { host_node_extract_status: 'pending' });
    await follow(version, hostNodeKey('searched', '1.0.0', 'KSampler_MaskedFill'));
    expect((await linesOf('searched'))[0]).not.toHaveProperty('host_node_words');

    await setFields(version, { host_node_extract_status: 'success', extraction: { nodes: 1 } });
    await follow(version);
    // Without "latents" of the description, "fill" of the tags, and "mask", which "masked" begins with.
    expect(await linesOf('searched')).toMatchObject([
      { host_nodes: 1, host_node_words: 'k sampler masked the of füllen' },
    ]);
  });

  test('follows a host node that is added later, and bounds the words of a large pack', async () => {
    await addPublishedNode('large');
    await follow(...own('large'));
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
      ...{ text: '# One\n<script>alert(1)</script>', html: '<h3>One</h3>\n' },
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

  test.each([404, 409, 412])(
    'writes a file after a %i of S3, for which another writer may be the cause',
    async (status) => {
      const id = `refused-${status}`;
      await addPublishedNode(id);
      const refusal = Object.assign(new Error('refused'), { $metadata: { httpStatusCode: status } });
      const refused = beforeNext(s3(), /^PutObject/, () => Promise.reject(refusal));
      await follow(...own(id));

      expect(refused.happened()).toBe(true);
      expect((await read(nodePath(id))).content).toMatchObject({ versions: [{ version: '1.0.0' }] });
    },
  );

  const keysOf = async () => {
    const bodies: string[] = [];
    await drainQueue(indexChanges, async ({ Records }) => {
      bodies.push(...Records.map(({ body }) => body));
      return undefined;
    });
    return bodies.map((body) => JSON.parse(body).keys as Key[]);
  };
  const fail = async () => {
    throw Object.assign(new Error('S3 is down'), { $metadata: { httpStatusCode: 500 } });
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

  test('hands on the nodes of a large publisher in parts', async () => {
    await addPublisher('huge', {});
    const ids = Array.from({ length: 41 }, (_, place) => `huge-${place}`);
    await Promise.all(ids.map((id) => addPublishedNode(id, 'huge')));
    await follow(publisherKey('huge'));
    const parts = (await keysOf()).filter(([key]) => key?.pk.includes('huge'));

    expect(parts.map(({ length }) => length)).toEqual([20, 20, 1]);
    expect(parts.flat()).toEqual(ids.sort().map(nodeKey));
    for (const keys of parts)
      expect(await handler(messageOf(keys), context)).toEqual({ batchItemFailures: [] });
    expect((await read(nodePath('huge-40'))).content).toMatchObject({ publisher: { id: 'huge' } });
  });

  test('fails as a whole only if the queue takes nothing either, and logs why', async () => {
    await addPublishedNode('stuck');
    const INDEX_QUEUE_URL = String(process.env.INDEX_QUEUE_URL);
    setVariables({ INDEX_QUEUE_URL: 'http://localhost:1/none' });
    intercept(s3(), fail);
    const event = streamEventOf(...own('stuck'));

    expect(await handler(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
    expect(lines()).toMatchObject([
      { level: 'error', event: 'index', function: 'writeIndex', of: 'stuck', causes: ['Error: S3 is down'] },
      { level: 'error', event: 'index', function_request_id: 'an-event', records: 2 },
    ]);
    // Without a place in the stream, only an error makes Lambda send the records again.
    for (const { dynamodb } of event.Records) delete dynamodb?.SequenceNumber;
    await expect(handler(event, context)).rejects.toThrow();
    setVariables({ INDEX_QUEUE_URL });
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
    // Only the node's own record changes, and the first try ends between its pages.
    await setFields(nodeKey('Paged_Node'), { status: 'NodeStatusBanned' });
    const failing = intercept(s3(), ({ command, input, send }) =>
      command === 'PutObjectCommand' && input.Key === paths[0] ? fail() : send(),
    );
    await follow(nodeKey('Paged_Node'));
    failing();
    await follow(nodeKey('Paged_Node'));

    for (const path of paths) {
      expect(await page(path)).toContain('This node is banned. Do not install it.');
      expect(await page(path)).toContain('<meta name="robots" content="noindex">');
      expect(await page(path)).not.toContain('curl');
    }
  });

  test('writes only under index/ and pages/', async () => {
    const keys = await keysBelow('');
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter((key) => !/^(?:index\/v1|pages\/nodes|archives)\//.test(key))).toEqual([]);
  });
});
