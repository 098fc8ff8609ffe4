import { beforeAll, describe, expect, test } from '@jest/globals';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../../lib/bucket/bucket.ts';
import {
  catalogPath,
  configPath,
  hostNodesPath,
  nodePath,
  pieceOf,
  readmePath,
} from '../../../lib/index/paths.ts';
import { rebuildIndex } from '../registry/index-files.ts';
import { admin, adminJson } from '../../../tests/support/admin.ts';
import { intercept } from '../../../tests/support/intercept.ts';
import { addNode, addPublisher, addVersion } from '../../../tests/support/registry.ts';

const published = {
  id: '1',
  version: '1.0.0',
  status: 'NodeVersionStatusActive',
  archive_key: 'archives/some/1.0.0/id-0.zip',
  sha256: '0'.repeat(64),
  published_at: '2026-01-01T00:00:00.000Z',
  host_node_extract_status: 'success',
};

async function put(key: string, content: object): Promise<void> {
  await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key: key, Body: JSON.stringify(content) }));
}

async function read(key: string) {
  const { Body } = await s3().send(new GetObjectCommand({ Bucket: bucketName(), Key: key }));
  const { revision: _, ...content } = JSON.parse((await Body?.transformToString()) ?? '');
  return content;
}

/** A listing of files that were written long ago. */
function longAgo(listing: { Contents?: { LastModified: Date }[] }) {
  for (const object of listing.Contents ?? []) object.LastModified = new Date(0);
  return listing;
}

beforeAll(async () => {
  await addPublisher('acme', {});
  for (const id of ['first', 'second']) {
    await addNode('acme', id, { latest_version: published });
    await addVersion('acme', id, '1.0.0', published);
  }
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
    expect(await adminJson('index', 'rebuild')).toEqual({ nodes: 2, pieces: 16, written: [], removed: [] });
    const { stdout } = await admin('index', 'rebuild');
    expect(stdout).toContain('Every file said what the table says.');
  });

  test('corrects files that differ, drops catalog lines of unknown nodes, and removes files of unknown nodes', async () => {
    await put(nodePath('first'), { id: 'first', name: 'Forged', versions: [] });
    const piece = catalogPath(16, pieceOf('ghost', 16));
    const { nodes } = await read(piece);
    await put(piece, { nodes: [...nodes, { id: 'ghost', publisher: { id: 'acme' } }] });
    await put(nodePath('ghost'), { id: 'ghost' });
    intercept(s3(), async ({ command, send }) =>
      command === 'ListObjectsV2Command' ? longAgo(await send()) : send(),
    );
    const { written, removed } = await adminJson('index', 'rebuild');

    expect(written.sort()).toEqual([piece, nodePath('first')].sort());
    expect(removed).toEqual([nodePath('ghost')]);
    expect((await read(nodePath('first'))).name).toBeUndefined();
    expect(await read(piece)).toEqual({ nodes });
  });

  test('announces more pieces, fills them, and only then sends readers there', async () => {
    const configs: object[] = [];
    const order: string[] = [];
    intercept(s3(), async ({ command, input, send }) => {
      if (command === 'ListObjectsV2Command') return longAgo(await send());
      if (command === 'PutObjectCommand') {
        order.push(String(input.Key).split('/').slice(2, 4).join('/'));
        if (input.Key === configPath) configs.push(JSON.parse(String(input.Body)));
      }
      return send();
    });
    const { pieces, removed } = await rebuildIndex({
      after: undefined,
      linesPerPiece: 1 / 16,
      progress: () => {},
    });

    expect(pieces).toBe(32);
    expect(configs).toEqual([
      expect.objectContaining({ catalog_pieces: 16, next_pieces: 32 }),
      { revision: 3, version: 1, catalog_pieces: 32, updated_at: expect.any(String) },
    ]);
    expect(order).toEqual(['config.json', ...Array.from({ length: 32 }, () => 'catalog/32'), 'config.json']);
    expect((await read(catalogPath(32, pieceOf('first', 32)))).nodes).toMatchObject([{ id: 'first' }]);
    // A reader who has read the config before still finds its pieces.
    expect(removed).toEqual([]);
    expect((await read(catalogPath(16, pieceOf('first', 16)))).nodes).toMatchObject([{ id: 'first' }]);
  });

  test('continues after the node that it is given', async () => {
    await put(nodePath('first'), { id: 'first', versions: [], name: 'Forged' });
    await put(nodePath('second'), { id: 'second', versions: [], name: 'Forged' });
    const { written } = await adminJson('index', 'rebuild', '--after', 'first');

    expect(written).toContain(nodePath('second'));
    expect(written).not.toContain(nodePath('first'));
  });
});
