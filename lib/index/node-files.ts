import { readReadme } from '../archives/readme.ts';
import { findObject } from '../bucket/bucket.ts';
import { json, readText, refreshFile } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { readVersions } from '../registry/node-versions.ts';
import {
  type HostNodeRecord,
  hostNodeRecord,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  pending,
  type PublisherRecord,
  publisherRecord,
} from '../registry/records.ts';
import { type NumbersRecord, numbersRecord } from '../registry/numbers.ts';
import type { Item } from '../store/items.ts';
import { hostNodeKey, type Key, nodeKey, nodeVersionKey, numbersKey, publisherKey } from '../store/keys.ts';
import { get, queryAll } from '../store/read.ts';
import { hostNodesPath, nodePath, readmePath } from 'registry-rules/index-paths';
import type { IndexedHostNodes, IndexedNode, IndexedReadme } from 'registry-rules/schemas/index-files';
import { renderReadme } from 'site/readme';
import { indexedHostNodes, indexedNode, latestShown, publicVersion, showsVersions } from './views.ts';

/* The files of a node: its own, its README, and the host nodes of each version. */

/**
 * Updates the file of a node: the named versions, or all of them. The other versions stay as they are in the
 * file, so a publish costs the same for any number of versions.
 */
export function refreshNode(
  context: Context,
  nodeId: string,
  labels: readonly string[] | 'all',
  { onlyIfDifferent = labels === 'all' }: { onlyIfDifferent?: boolean } = {},
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedNode | undefined) => {
    // A ban empties the file, so its content must be read again when the ban is lifted.
    const isWhole = current !== undefined && current.status !== 'NodeStatusBanned' && labels !== 'all';
    const named = isWhole ? labels : [];
    const owned = await readNode(context, nodeId, ...named.map((label) => nodeVersionKey(nodeId, label)));
    if (!owned) return undefined;
    const { node, publisher, numbers, others } = owned;
    const changed: Versions = isWhole
      ? new Map(named.map((label, place) => [label, nodeVersionRecord(others[place])]))
      : new Map((await readVersions(context, nodeId)).map((version) => [version.version, version]));
    const versions = new Map(isWhole ? current.versions.map((version) => [version.version, version]) : []);
    for (const [label, version] of changed) {
      const shown = version && publicVersion(version);
      if (shown) versions.set(label, shown);
      else versions.delete(label);
    }
    // A node is public from its first published version on. If that version is banned by now, an emptied file
    // must exist before an earlier writer, which doesn't know about the ban, creates one.
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

interface NodeOfPublisher {
  node: NodeRecord;
  publisher: PublisherRecord;
  numbers: NumbersRecord | undefined;
  /** The other requested records, read with the node. */
  others: (Item | undefined)[];
}

async function readNode(
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
 * Updates the host nodes of a version. During an extraction every written entry would trigger an update, so
 * this waits until the version says that the extraction is over.
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
    const entries = await storedHostNodes(context, version.node_id, version.version);
    return indexedHostNodes(version, showsVersions(owned.node, owned.publisher), entries);
  };
  return refreshFile(context, hostNodesPath(nodeId, label), next, options);
}

export async function storedHostNodes(
  context: Context,
  nodeId: string,
  label: string,
): Promise<HostNodeRecord[]> {
  return (await queryAll(context, hostNodeKey(nodeId, label, ''))).map((item) => hostNodeRecord(item));
}

/**
 * Updates the README of a node from its latest version. Published bytes never change, so an archive is read
 * once; with `again`, it is read even if the file already has its README.
 */
export function refreshReadme(
  context: Context,
  nodeId: string,
  again = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedReadme | undefined) => {
    const owned = await readNode(context, nodeId);
    const latest = owned && latestShown(owned.node, owned.publisher);
    if (!owned) return undefined;
    // As with the node's own file, which is written first.
    if (!current && !latest && !(await readText(context, nodePath(nodeId)))) return undefined;
    const node_id = owned.node.id;
    if (!latest) return { node_id, text: '' };
    const { version, sha256 } = latest;
    // A README file of an earlier release has no HTML.
    const isKnown = current?.version === version && current.sha256 === sha256 && current.html !== undefined;
    if (!again && isKnown) return current;
    const archive = latest.archive_key === undefined ? undefined : await findObject(latest.archive_key);
    const readme = archive && (await readReadme(archive));
    const { repository } = owned.node;
    const html = readme ? renderReadme(readme.text, { path: readme.path, repository }) : '';
    return {
      node_id,
      version,
      ...(sha256 !== undefined && { sha256 }),
      ...(readme && { path: readme.path, is_cut: readme.isCut }),
      text: readme?.text ?? '',
      html,
    };
  };
  return refreshFile(context, readmePath(nodeId), next, { onlyIfDifferent: again });
}
