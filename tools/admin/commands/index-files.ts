import { command } from '../command.ts';
import { findStage } from '../target.ts';
import { tableOf } from '../view.ts';
import { bucketName, deleteAt, listPages } from '../../../lib/bucket/bucket.ts';
import {
  catalogPath,
  configPath,
  hostNodesPath,
  nodePagePath,
  nodePath,
  pieceOf,
  publishersPath,
  readmePath,
  topPath,
  versionPagePath,
} from '@node-registry/registry-rules/index-paths';
import { inParallel } from '../../../lib/in-parallel.ts';
import { refreshPiece, updateConfig } from '../../../lib/index/catalog-files.ts';
import {
  refreshHostNodes,
  refreshNode,
  refreshReadme,
  TooLargeForIndex,
} from '../../../lib/index/node-files.ts';
import { refreshPublishers } from '../../../lib/index/publisher-files.ts';
import { refreshPages } from '../../../lib/index/page-files.ts';
import { nodeRecord, publisherRecord } from '../../../lib/registry/records.ts';
import { foldNodeId } from '@node-registry/registry-rules/names';
import { nodeKey, publisherKey } from '../../../lib/store/keys.ts';
import { newContext, scanFor } from '../registry/administration.ts';
import { listVersions } from '../../../lib/registry/node-versions.ts';

const nodesPerLine = 100;

export const rebuild = command({
  parameters: [],
  summary: 'Rebuild the public index from the whole table, and list the files that differed',
  notes:
    'The function that follows the table keeps the index up to date. Run this if it gave up on changes, or to give a\nlarge registry a catalog of more pieces. It is safe to run at any time.',
  examples: ['index rebuild'],
  async run() {
    await findStage();
    const data = await rebuildIndex({
      progress: (done, all) => {
        if (done % nodesPerLine === 0 || done === all) process.stderr.write(`${done} of ${all} nodes\n`);
      },
    });
    const files = (['written', 'removed', 'too_large'] as const).flatMap((change) =>
      data[change].map((file) => ({ file, change })),
    );
    const changes = tableOf(files, 'Every file was up to date.');
    return { data, text: `${data.nodes} nodes, ${data.pieces} pieces of the catalog.\n${changes}` };
  },
});

/* Rebuilds the public index from the whole table while `writeIndex` continues: both overwrite only the file they read. */

/** The schedule writes the lists that span nodes. */
const prefixes = ['index/v1/', 'pages/nodes/'];

/** They mostly wait for the stores. */
const nodesAtOnce = 20;

interface Options {
  /** With this many lines, a piece of the catalog has a good size for downloads. */
  linesPerPiece?: number;
  progress: (done: number, all: number) => void;
}

/**
 * The files that differed from the table or were missing, those without anything in it, and those without room for all
 * that it has.
 */
export async function rebuildIndex({ linesPerPiece = 500, progress }: Options) {
  const began = Date.now();
  const listed = await listIds();
  const written: string[] = [];
  const too_large: string[] = [];
  const expected = new Set([configPath, topPath]);
  const write = async (path: string, refresh: Promise<'written' | 'unchanged'>) => {
    expected.add(path);
    const outcome = await refresh.catch((error: unknown) => {
      if (!(error instanceof TooLargeForIndex)) throw error;
      too_large.push(path);
    });
    if (outcome === 'written') written.push(path);
  };
  // From now on the function writes into the catalog of both sizes. Another run may have announced a larger one.
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, listed.length / linesPerPiece)));
  const { catalog_pieces, next_pieces: pieces = catalog_pieces } = await updateConfig(
    newContext(),
    (config) => {
      const next_pieces = Math.max(wanted, config.next_pieces ?? 0);
      return next_pieces > config.catalog_pieces ? { ...config, next_pieces } : config;
    },
  );
  // A node that was published before then is only in the old size, and may not be listed yet.
  const nodeIds = pieces > catalog_pieces ? await listIds() : listed;
  // Readers whose config is a minute old still look into the old size; the next rebuild removes it.
  for (const size of [catalog_pieces, pieces])
    for (let piece = 0; piece < size; piece += 1) expected.add(catalogPath(size, piece));

  const writeNode = async (nodeId: string) => {
    const versions = await listVersions(newContext(), nodeId);
    const files = versions.map(({ version }) => hostNodesPath(nodeId, version));
    const pages = versions.map(({ version }) => versionPagePath(nodeId, version));
    const own = [nodePath(nodeId), readmePath(nodeId), nodePagePath(nodeId)];
    for (const path of [...own, ...files, ...pages]) expected.add(path);
    await write(nodePath(nodeId), refreshNode(newContext(), nodeId, 'all'));
    await write(readmePath(nodeId), refreshReadme(newContext(), nodeId, true));
    const labels = versions.map(({ version }) => version);
    for (const label of labels)
      await write(hostNodesPath(nodeId, label), refreshHostNodes(newContext(), nodeId, label, true));
    written.push(...(await refreshPages(contextOfAll(), nodeId, labels, true)));
  };
  let done = 0;
  await inParallel(nodeIds.values(), nodesAtOnce, async (nodeId) => {
    await writeNode(nodeId);
    done += 1;
    progress(done, nodeIds.length);
  });
  await write(publishersPath, refreshPublishers(newContext(), await listPublishers(), true));
  // Lines are made from the files of nodes.
  const removed = await removeOthers(expected, began);
  const byPiece = Map.groupBy(nodeIds, (nodeId) => pieceOf(nodeId, pieces));
  for (let piece = 0; piece < pieces; piece += 1) {
    const path = catalogPath(pieces, piece);
    await write(path, refreshPiece(newContext(), path, byPiece.get(piece) ?? [], true));
  }
  await updateConfig(newContext(), ({ next_pieces, ...config }) =>
    next_pieces === pieces
      ? { ...config, catalog_pieces: pieces, updated_at: new Date().toISOString() }
      : { ...config, ...(next_pieces && { next_pieces }) },
  );
  return { nodes: nodeIds.length, written, removed, too_large, pieces };
}

/** For 2,000 versions and their pages. */
const contextOfAll = () => ({ deadline: Date.now() + 10 * 60_000 });

async function listIds(): Promise<string[]> {
  const nodes = scanFor(nodeKey('').sk, { fields: ['id'] });
  return Array.fromAsync(nodes, (item) => foldNodeId(nodeRecord(item).id));
}

async function listPublishers(): Promise<string[]> {
  const publishers = scanFor(publisherKey('').sk, { fields: ['id'] });
  return Array.fromAsync(publishers, (item) => publisherRecord(item).id);
}

/** Files of nodes that were published meanwhile are newer than the list, and stay. */
async function removeOthers(expected: ReadonlySet<string>, began: number): Promise<string[]> {
  const removed: string[] = [];
  const Bucket = bucketName();
  for (const Prefix of prefixes)
    for await (const { Contents = [] } of listPages(contextOfAll(), { Bucket, Prefix }))
      for (const { Key = '', LastModified } of Contents) {
        if (expected.has(Key) || Number(LastModified) > began - quietMs) continue;
        await deleteAt(newContext(), { Bucket, Key });
        removed.push(Key);
      }
  return removed;
}

const quietMs = 60 * 60 * 1000;
