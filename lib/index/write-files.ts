import { json, maxFilesAtOnce, refreshFile } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { allEnded, inParallel } from '../in-parallel.ts';
import { pending } from '../registry/node-versions.ts';
import {
  type HostNodeRecord,
  hostNodeRecord,
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  ownedNodeRecord,
  type PublisherRecord,
  publisherRecord,
} from '../registry/records.ts';
import type {
  CatalogEntry,
  CatalogPiece,
  IndexedHostNodes,
  IndexedNode,
} from 'registry-rules/schemas/index-files';
import { type NumbersRecord, numbersRecord } from '../registry/numbers.ts';
import type { Item } from '../store/items.ts';
import {
  hostNodeKey,
  type Key,
  nodeKey,
  nodeVersionKey,
  numbersKey,
  ownedNodesOf,
  publisherKey,
} from '../store/keys.ts';
import { get, query } from '../store/read.ts';
import { updateConfig } from './config-file.ts';
import { foldNodeId } from 'registry-rules/names';
import { catalogPath, hostNodesPath, nodePath, pieceOf } from 'registry-rules/index-paths';
import {
  catalogEntry,
  hostNodeWords,
  indexedHostNodes,
  indexedNode,
  publicVersion,
  showsVersions,
} from './views.ts';

/**
 * Brings the file of a node up to date: with the versions that are named, or with all of them. The other versions stay
 * as the file has them, so that a publish costs the same however many versions there are.
 */
export function refreshNode(
  context: Context,
  nodeId: string,
  labels: readonly string[] | 'all',
  { onlyIfDifferent = labels === 'all' }: { onlyIfDifferent?: boolean } = {},
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedNode | undefined) => {
    // A ban empties the file, so what it had must be read again when the ban is lifted.
    const isWhole = current !== undefined && current.status !== 'NodeStatusBanned' && labels !== 'all';
    const named = isWhole ? labels : [];
    const owned = await readNode(context, nodeId, ...named.map((label) => nodeVersionKey(nodeId, label)));
    if (!owned) return undefined;
    const { node, publisher, numbers, others } = owned;
    const changed: Versions = isWhole
      ? new Map(named.map((label, place) => [label, nodeVersionRecord(others[place])]))
      : await readAllVersions(context, nodeId);
    const versions = new Map(isWhole ? current.versions.map((version) => [version.version, version]) : []);
    for (const [label, version] of changed) {
      const shown = version && publicVersion(version);
      if (shown) versions.set(label, shown);
      else versions.delete(label);
    }
    // A node is public from its first published version on. If that is banned by now, an emptied file must be there
    // before an earlier writer, who knows nothing of the ban, makes one.
    const wasPublished = [...changed.values()].some(
      (version) => version?.sha256 !== undefined && version.status !== pending,
    );
    if (!current && !wasPublished) return undefined;
    return indexedNode(node, publisher, [...versions.values()], numbers);
  };
  const format = json<IndexedNode>('versions');
  return refreshFile(context, nodePath(nodeId), next, { onlyIfDifferent, format });
}

type Versions = Map<string | undefined, NodeVersionRecord | undefined>;

async function readAllVersions(context: Context, nodeId: string): Promise<Versions> {
  const versions: Versions = new Map();
  const { pk, sk } = nodeVersionKey(nodeId, '');
  for await (const items of query(context, { partition: ['pk', pk], sort: ['sk', 'begins with', sk] })) {
    for (const item of items) {
      const version = nodeVersionRecord(item);
      versions.set(version.version, version);
    }
  }
  return versions;
}

interface NodeOfPublisher {
  node: NodeRecord;
  publisher: PublisherRecord;
  numbers: NumbersRecord | undefined;
  /** The other records that were asked for, read with the node. */
  others: (Item | undefined)[];
}

export async function readNode(
  context: Context,
  nodeId: string,
  ...keys: readonly Key[]
): Promise<NodeOfPublisher | undefined> {
  const [item, numbers, ...others] = await get(context, nodeKey(nodeId), numbersKey(nodeId), ...keys);
  const node = nodeRecord(item);
  if (!node) return undefined;
  const publisher = publisherRecord((await get(context, publisherKey(node.publisher_id)))[0]);
  return publisher && { node, publisher, numbers: numbersRecord(numbers), others };
}

/**
 * Brings the host nodes of a version up to date. While an extraction is under way it would be done for each entry that
 * is written, so it waits for the version to say that the extraction is over.
 */
export function refreshHostNodes(
  context: Context,
  nodeId: string,
  label: string,
  options: { onlyIfDifferent?: boolean } = {},
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedHostNodes | undefined) => {
    const owned = await readNode(context, nodeId, nodeVersionKey(nodeId, label));
    const version = nodeVersionRecord(owned?.others[0]);
    if (!owned || !version) return undefined;
    if (!current && version.host_node_extract_status === 'pending') return undefined;
    const entries = await readHostNodes(context, version.node_id, version.version);
    return indexedHostNodes(version, showsVersions(owned.node, owned.publisher), entries);
  };
  return refreshFile(context, hostNodesPath(nodeId, label), next, options);
}

async function readHostNodes(context: Context, nodeId: string, label: string): Promise<HostNodeRecord[]> {
  const entries: HostNodeRecord[] = [];
  const { pk, sk } = hostNodeKey(nodeId, label, '');
  for await (const items of query(context, { partition: ['pk', pk], sort: ['sk', 'begins with', sk] }))
    entries.push(...items.map((item) => hostNodeRecord(item)));
  return entries;
}

/** Runs the work for some nodes, and decides what a failure means for them. */
type Attempt = (nodeIds: readonly string[]) => (work: () => Promise<unknown>) => Promise<void>;

/** Brings the catalog's lines of some nodes up to date, with one write for each piece that they are in. */
export async function refreshCatalog(
  context: Context,
  nodeIds: readonly string[],
  attempt: Attempt,
): Promise<void> {
  const { catalog_pieces, next_pieces } = await updateConfig(context);
  const sizes = next_pieces === undefined ? [catalog_pieces] : [catalog_pieces, next_pieces];
  for (const pieces of sizes) {
    const byPiece = Map.groupBy(nodeIds, (nodeId) => pieceOf(nodeId, pieces));
    await allEnded(
      [...byPiece].map(([piece, ids]) => attempt(ids)(() => refreshPiece(context, { pieces, piece }, ids))),
    );
  }
}

interface Piece {
  pieces: number;
  piece: number;
}

/** Brings some lines of a piece up to date; with `andOthers` also those that it has already. */
export function refreshPiece(
  context: Context,
  { pieces, piece }: Piece,
  nodeIds: readonly string[],
  andOthers = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: CatalogPiece | undefined) => {
    const nodes = new Map(current?.nodes.map((entry) => [foldNodeId(String(entry.id)), entry]));
    const named = new Set([...nodeIds.map(foldNodeId), ...(andOthers ? nodes.keys() : [])]);
    const entries = await readEntries(context, [...named]);
    for (const nodeId of named) {
      const entry = entries.get(nodeId);
      if (entry) nodes.set(nodeId, entry);
      else nodes.delete(nodeId);
    }
    return { nodes: [...nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
  };
  const options = { onlyIfDifferent: andOthers, format: json<CatalogPiece>('nodes') };
  return refreshFile(context, catalogPath(pieces, piece), next, options);
}

/** The lines of the nodes that have one, by folded id. */
async function readEntries(context: Context, nodeIds: readonly string[]): Promise<Map<string, CatalogEntry>> {
  const nodes = (await get(context, ...nodeIds.map(nodeKey))).flatMap((item) => nodeRecord(item) ?? []);
  const publisherIds = [...new Set(nodes.map(({ publisher_id }) => publisher_id))];
  const publishers = new Map(
    (await get(context, ...publisherIds.map(publisherKey))).map((item, place) => [
      publisherIds[place],
      publisherRecord(item),
    ]),
  );
  const numbers = await get(context, ...nodes.map(({ id }) => numbersKey(id)));
  const entries = nodes.flatMap((node, place) => {
    const publisher = publishers.get(node.publisher_id);
    return (publisher && catalogEntry(node, publisher, numbersRecord(numbers[place]))) ?? [];
  });
  const latestKeys = entries.map(({ id, latest_version = '' }) => nodeVersionKey(id, latest_version));
  const versions = (await get(context, ...latestKeys)).map((item) => nodeVersionRecord(item));
  const lines = new Map<string, CatalogEntry>();
  await inParallel(entries.entries(), maxFilesAtOnce, async ([place, entry]) => {
    lines.set(foldNodeId(entry.id), await withHostNodes(context, entry, versions[place]));
  });
  return lines;
}

async function withHostNodes(
  context: Context,
  entry: CatalogEntry,
  version: NodeVersionRecord | undefined,
): Promise<CatalogEntry> {
  // While they are being written, each of them would be a reason to read all.
  if (!version || version.host_node_extract_status === 'pending') return entry;
  const count = version.extraction?.nodes;
  const words = hostNodeWords(entry, await readHostNodes(context, entry.id, version.version));
  return {
    ...entry,
    ...(count !== undefined && { host_nodes: count }),
    ...(words && { host_node_words: words }),
  };
}

/** The ids of a publisher's nodes, page by page. */
export async function* nodesOf(context: Context, publisherId: string): AsyncGenerator<string[]> {
  const { pk, sk } = ownedNodesOf(publisherId);
  for await (const items of query(context, { partition: ['pk', pk], sort: ['sk', 'begins with', sk] }))
    yield items.map((item) => ownedNodeRecord(item).node_id);
}
