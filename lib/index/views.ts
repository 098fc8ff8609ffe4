import {
  type HostNodeRecord,
  hostNodeView,
  type NodeRecord,
  type NodeVersionRecord,
  pickFields,
  type PublisherRecord,
  type VersionCopy,
} from '../registry/records.ts';
import { isDownloadable, latestOf, nodeVersionView } from '../registry/node-versions.ts';
import { numbersOf, type NumbersRecord } from '../registry/numbers.ts';
import { nodeView } from '../registry/nodes.ts';
import {
  type CatalogEntry,
  type IndexedHostNodes,
  IndexedNode,
  PublicPublisher,
  PublicVersion,
} from 'registry-rules/schemas/index-files';
import { compareVersions } from 'registry-rules/version-label';

/** The index's view of the records of the table. */

const maxDescription = 300;

/** Whether anyone may read about the versions of a node: not if banned, but a withdrawn node keeps them. */
export function showsVersions(node: NodeRecord, publisher: PublisherRecord): boolean {
  return node.status !== 'NodeStatusBanned' && !publisher.banned;
}

/** The latest version, if the index has it. */
export function latestShown(node: NodeRecord, publisher: PublisherRecord): VersionCopy | undefined {
  const { latest_version: latest } = node;
  return latest && showsVersions(node, publisher) && isDownloadable(latest) ? latest : undefined;
}

/** A version's public view; undefined if the version is pending, banned or deleted. */
export function publicVersion(version: VersionCopy): PublicVersion | undefined {
  if (!isDownloadable(version)) return undefined;
  return pickFields<PublicVersion>(nodeVersionView(version), PublicVersion);
}

export function indexedNode(
  node: NodeRecord,
  publisher: PublisherRecord,
  versions: readonly PublicVersion[],
  numbers?: NumbersRecord,
): IndexedNode {
  const { latest_version, ...view } = nodeView({ node, publisher, numbers });
  const latest = latestShown(node, publisher);
  const { downloads_90_days, versions: counts } = numbersOf(numbers);
  const counted = (version: PublicVersion | undefined): PublicVersion | undefined => {
    const downloads = counts[String(version?.version)];
    return version && { ...version, ...(downloads !== undefined && { downloads }) };
  };
  return pickFields<IndexedNode>(
    {
      ...view,
      ...(publisher.banned && { status: 'NodeStatusBanned' }),
      publisher: pickFields<PublicPublisher>(publisher, PublicPublisher),
      ...(latest && { latest_version: counted(publicVersion(latest)) }),
      ...(downloads_90_days !== undefined && { downloads_90_days }),
      versions: showsVersions(node, publisher)
        ? versions.flatMap((version) => counted(version) ?? []).sort(byPrecedence)
        : [],
    },
    IndexedNode,
  );
}

function byPrecedence(a: PublicVersion, b: PublicVersion): number {
  return (
    compareVersions(String(b.version), String(a.version)) ||
    (a.createdAt ?? '').localeCompare(b.createdAt ?? '')
  );
}

/** The node's line in the catalog; undefined if no list shows the node. */
export function catalogEntry(
  node: NodeRecord,
  publisher: PublisherRecord,
  numbers?: NumbersRecord,
): CatalogEntry | undefined {
  if (node.status !== 'NodeStatusActive' || publisher.banned) return undefined;
  const latest = node.latest_version && latestOf([node.latest_version]);
  if (!latest) return undefined;
  const { id, name, description, icon, tags, search_ranking, created_at } = node;
  const { preempted_host_node_names: preempted } = node;
  const { downloads, downloads_90_days } = numbersOf(numbers);
  return {
    id,
    ...(name && { name }),
    ...(description && { description: description.slice(0, maxDescription).toWellFormed() }),
    ...(icon && { icon }),
    ...(tags?.length && { tags }),
    publisher: { id: publisher.id, ...(publisher.name && { name: publisher.name }) },
    latest_version: latest.version,
    ...(preempted?.length && { preempted_host_node_names: preempted }),
    ...(search_ranking !== undefined && { search_ranking }),
    ...(downloads && { downloads }),
    ...(downloads_90_days && { downloads_90_days }),
    updated_at: latest.published_at ?? created_at,
  };
}

export function indexedHostNodes(
  version: NodeVersionRecord,
  isShown: boolean,
  entries: readonly HostNodeRecord[],
): IndexedHostNodes {
  const { node_id, host_node_extract_status, host_node_extract_reason } = version;
  const isOffered = isShown && isDownloadable(version);
  const host_nodes = entries.map(hostNodeView);
  return {
    node_id,
    version: version.version,
    host_node_extract_status,
    ...(host_node_extract_reason && { host_node_extract_reason }),
    host_nodes: isOffered ? host_nodes : [],
  };
}

/** Holds every word of nearly all packs. It makes a large catalog two thirds larger (docs/capacity.md). */
const maxLetters = 2000;

/**
 * The words in the names and titles of a node's host nodes, for searches. Leaves out words that the entry
 * already has or that begin another word: a search finds words by their beginning.
 */
export function hostNodeWords(entry: CatalogEntry, hostNodes: readonly HostNodeRecord[]): string {
  const { id, name = '', description = '', tags = [] } = entry;
  const known = wordsOf([id, name, description, ...tags].join(' '));
  const texts = hostNodes.flatMap(({ host_node_name = '', display_name = '' }) => [
    host_node_name,
    display_name,
  ]);
  const found = new Set(wordsOf(texts.join(' ')));
  const sorted = [...known, ...found].sort();
  // A word that the entry already has is in the list twice, so its first copy begins the second.
  const isBeginning = new Set(sorted.filter((word, place) => sorted[place + 1]?.startsWith(word)));
  let text = '';
  for (const word of found)
    if (!isBeginning.has(word) && text.length + word.length < maxLetters) text += `${text && ' '}${word}`;
  return text;
}

/** `VideoUpscaler` is two words, as in the reader's search. */
function wordsOf(text: string): string[] {
  return (text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu) ?? []).map((word) =>
    word.toLowerCase(),
  );
}
