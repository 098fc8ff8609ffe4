import { beforeAll, describe, expect, test } from '@jest/globals';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import {
  catalogPath,
  configPath,
  hostNodesPath,
  nodePath,
  pieceOf,
  readmePath,
} from '@node-registry/registry-rules/index-paths';
import { rebuildIndex } from '../../tools/admin/commands/index-files.ts';
import { admin, adminJson } from '../support/admin.ts';
import { readIndexFile } from '../support/bucket-objects.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { nodeKey } from '../../lib/store/keys.ts';
import { addPublishedNode, follow, published } from '../support/index-nodes.ts';
import { addPublisher, addVersion } from '../support/registry.ts';
import { asFunction } from '../support/roles.ts';
import { setVariables } from '../support/variables.ts';
import '../support/in-order.ts';

const rebuild = (options = {}) =>
  asFunction('administration', () => rebuildIndex({ progress: () => {}, ...options }));

async function put(key: string, content: object): Promise<void> {
  await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key: key, Body: JSON.stringify(content) }));
}

async function read(key: string) {
  return (await readIndexFile(key)).content;
}

/** A listing in which the file of the ghost was written long ago, and the newcomer's then. */
function longAgo(listing: { Contents?: { Key: string; LastModified: Date }[] }, then = Date.now()) {
  const times = new Map([
    [nodePath('ghost'), 0],
    [nodePath('newcomer'), then],
  ]);
  for (const object of listing.Contents ?? [])
    object.LastModified = new Date(times.get(object.Key) ?? object.LastModified);
  return listing;
}

beforeAll(async () => {
  await addPublisher('acme', {});
  for (const id of ['first', 'second']) await addPublishedNode(id);
});

describe('index rebuild', () => {
  test('writes every file of the index, names them, and finds nothing to write in a second run', async () => {
    const { nodes, pieces, written } = await adminJson('index', 'rebuild');

    expect({ nodes, pieces }).toEqual({ nodes: 2, pieces: 16 });
    expect(written).toEqual(
      expect.arrayContaining([
        ...['first', 'second'].flatMap((id) => [nodePath(id), readmePath(id), hostNodesPath(id, '1.0.0')]),
        catalogPath(16, pieceOf('first', 16)),
      ]),
    );
    expect(await read(nodePath('second'))).toMatchObject({ versions: [{ version: '1.0.0' }] });
    expect(await adminJson('index', 'rebuild')).toEqual({
      nodes: 2,
      pieces: 16,
      written: [],
      removed: [],
      too_large: [],
    });
    const { stdout } = await admin('index', 'rebuild');
    expect(stdout).toContain('Every file was up to date.');
  });

  test('corrects files that differ, drops catalog lines of unknown nodes, and removes files of unknown nodes', async () => {
    await put(nodePath('ghost'), { ...(await read(nodePath('first'))), id: 'ghost' });
    await put(nodePath('first'), { id: 'first', name: 'Forged', versions: [] });
    const piece = catalogPath(16, pieceOf('ghost', 16));
    const { nodes } = await read(piece);
    await put(piece, { nodes: [...nodes, { id: 'ghost', publisher: { id: 'acme' } }] });
    // As of a node that is published while the index is rebuilt. An hour is for clocks that differ.
    await put(nodePath('newcomer'), { id: 'newcomer' });
    let halfway = 0;
    intercept(s3(), async ({ command, send }) =>
      command === 'ListObjectsV2Command' ? longAgo(await send(), halfway - 3_600_000) : send(),
    );
    const progress = () => {
      halfway = Date.now();
    };
    const { written, removed } = await rebuild({ progress });

    expect(written.sort()).toEqual([piece, nodePath('first')].sort());
    expect(removed).toEqual([nodePath('ghost')]);
    expect((await read(nodePath('first'))).name).toBe('Node first');
    expect(await read(piece)).toEqual({ nodes });
  });

  test('announces more pieces, fills them, and only then sends readers there', async () => {
    const configs: object[] = [];
    const order: string[] = [];
    beforeNext(s3(), /^PutObjectCommand$/, async () => {
      await addPublishedNode('meanwhile');
      await follow(nodeKey('meanwhile'));
      order.length = 0;
    });
    intercept(s3(), async ({ command, input, send }) => {
      if (command === 'ListObjectsV2Command') return longAgo(await send());
      if (command === 'PutObjectCommand') {
        order.push(String(input.Key).split('/').slice(2, 4).join('/'));
        if (input.Key === configPath) configs.push(JSON.parse(String(input.Body)));
      }
      return send();
    });
    const { pieces, removed } = await rebuild({ linesPerPiece: 1 / 16 });

    expect(pieces).toBe(32);
    expect(configs).toEqual([
      expect.objectContaining({ catalog_pieces: 16, next_pieces: 32 }),
      { revision: 3, version: 1, catalog_pieces: 32, updated_at: expect.any(String) },
    ]);
    expect(order.filter((path) => !/^nodes\/|\.html$/.test(path))).toEqual([
      'config.json',
      ...Array.from({ length: 32 }, () => 'catalog/32'),
      'config.json',
    ]);
    for (const id of ['first', 'meanwhile'])
      expect((await read(catalogPath(32, pieceOf(id, 32)))).nodes).toMatchObject([{ id }]);
    // A reader who has read the config before still finds its pieces.
    expect(removed).toEqual([]);
    expect((await read(catalogPath(16, pieceOf('first', 16)))).nodes).toMatchObject([{ id: 'first' }]);
  });

  test('has changes in the pieces of both sizes meanwhile', async () => {
    const config = await read(configPath);
    await put(configPath, { ...config, next_pieces: 64 });
    const paths = [32, 64].map((pieces) => catalogPath(pieces, pieceOf('first', pieces)));
    for (const path of paths) await put(path, { nodes: [] });
    await follow(nodeKey('first'));
    await put(configPath, config);

    for (const path of paths) expect((await read(path)).nodes).toMatchObject([{ id: 'first' }]);
  });

  test('leaves readers in a larger catalog that another run has filled meanwhile', async () => {
    beforeNext(s3(), /^ListObjectsV2Command$/, () => rebuild({ linesPerPiece: 3 / 128 }));
    await rebuild({ linesPerPiece: 3 / 64 });

    expect(await read(configPath)).toMatchObject({ catalog_pieces: 128 });
  });

  test('finds host nodes up to date in a file that was written often', async () => {
    const path = hostNodesPath('first', '1.0.0');
    await rebuild();
    await put(path, { revision: 1000, ...(await read(path)) });

    expect((await rebuild()).written).toEqual([]);
  });

  test('names a bucket that is not there', async () => {
    setVariables({ BUCKET_NAME: 'mistyped' });
    const { status, stderr } = await admin('index', 'rebuild');

    expect(status).toBe(1);
    expect(stderr).toContain('The bucket mistyped answered 404 (NoSuchBucket): check its name');
  });

  test('goes on after a node that has no room for all of its versions, and names its file', async () => {
    await addPublishedNode('a-large-one');
    const dependencies = ['\u0001'.repeat(290_000)];
    for (const label of ['1.0.0', '1.0.1', '1.0.2'])
      await addVersion('acme', 'a-large-one', label, { ...published, dependencies });
    await put(nodePath('second'), { id: 'second', versions: [], name: 'Forged' });
    const { stdout } = await admin('index', 'rebuild');

    expect(stdout).toMatch(/a-large-one\.json +too_large/);
    expect((await read(nodePath('second'))).name).toBe('Node second');
  });
});
