import { readReadme } from '../archives/readme.ts';
import { findObject } from '../bucket/bucket.ts';
import { archiveKey } from '../bucket/object-keys.ts';
import { json, readFile, refreshFile, withHostNodes } from '../bucket/public-file.ts';
import type { Context } from '../context.ts';
import { eachVersion, isDownloadable, isOffered, nodeVersionView } from '../registry/node-versions.ts';
import { nodeView } from '../registry/nodes.ts';
import { numbersOf, type NumbersRecord, numbersRecord } from '../registry/numbers.ts';
import {
  type HostNodeBansRecord,
  type HostNodeRecord,
  hostNodeBansRecord,
  hostNodeRecord,
  hostNodeView,
  type NodeRecord,
  nodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  pending,
  pickFields,
  type PublisherRecord,
  publisherRecord,
  type VersionCopy,
  standingEntry,
} from '../registry/records.ts';
import {
  hostNodeBansKey,
  hostNodeKey,
  nodeKey,
  nodeVersionKey,
  numbersKey,
  publisherKey,
} from '../store/keys.ts';
import { get, query } from '../store/read.ts';
import { hostNodesPath, nodePath, readmePath } from '@node-registry/registry-rules/index-paths';
import {
  type IndexedHostNodes,
  IndexedNode,
  type IndexedReadme,
  PublicPublisher,
  PublicVersion,
} from '@node-registry/registry-rules/schemas/index-files';
import { compareVersions } from '@node-registry/registry-rules/version-label';
import { renderReadme } from '@node-registry/site/readme';

/*
 * The files of a node: its own and the host nodes of each version, from the table. Its README, its line in the
 * catalog and its pages are made from these, after them.
 */

export const nodeFile = (nodeId: string) => json<IndexedNode>(nodePath(nodeId), 'versions');
export const hostNodesFile = (nodeId: string, label: string) =>
  json<IndexedHostNodes>(hostNodesPath(nodeId, label), 'host_nodes');
export const readmeFile = (nodeId: string) => json<IndexedReadme>(readmePath(nodeId));

/**
 * Updates the file of a node: the named versions, or all of them. The other versions stay as they are in the
 * file, so a publish costs the same for any number of versions. Fails after that if some have no room.
 */
export async function refreshNode(
  context: Context,
  nodeId: string,
  labels: readonly string[] | 'all',
  onlyIfDifferent = labels === 'all',
): Promise<'written' | 'unchanged'> {
  let leftOut: string[] = [];
  const next = async (current: IndexedNode | undefined) => {
    leftOut = [];
    // A ban empties the file, so its content must be read again when the ban is lifted.
    const isWhole = current !== undefined && current.status !== 'NodeStatusBanned' && labels !== 'all';
    const named = isWhole ? labels : [];
    const keys = named.map((label) => nodeVersionKey(nodeId, label));
    const [item, numbers, ...others] = await get(context, nodeKey(nodeId), numbersKey(nodeId), ...keys);
    const node = nodeRecord(item);
    const publisher = node && publisherRecord((await get(context, publisherKey(node.publisher_id)))[0]);
    if (!publisher) return undefined;
    const kept = isWhole ? current.versions : [];
    const versions = new Map(kept.map((each) => [each.version, each]));
    let room = maxNodeCharacters - JSON.stringify(kept).length;
    let wasPublished = false;
    const show = (label: string, version: NodeVersionRecord | undefined) => {
      wasPublished ||= version?.sha256 !== undefined && version.status !== pending;
      const shown = version && publicVersion(version);
      // What becomes of a version later, such as a withdrawal, needs no room: a full file still shows it.
      const needed = shown && !versions.has(label) ? JSON.stringify(shown).length : 0;
      if (needed > room) return void leftOut.push(label);
      room -= needed;
      if (shown) versions.set(label, shown);
      else versions.delete(label);
    };
    if (isWhole) for (const [place, label] of named.entries()) show(label, nodeVersionRecord(others[place]));
    // A banned node shows none, and only its first file depends on them.
    else if (!current || showsVersions(node, publisher))
      for await (const version of eachVersion(context, nodeId)) show(version.version, version);
    // A node is public from its first published version on. If that version is banned by now, an emptied file
    // must exist before an earlier writer, which doesn't know about the ban, creates one.
    if (!current && !wasPublished) return undefined;
    return indexedNode(node, publisher, [...versions.values()], numbersRecord(numbers));
  };
  const outcome = await refreshFile(context, nodeFile(nodeId), next, onlyIfDifferent);
  if (leftOut.length > 0)
    throw new TooLargeForIndex(`${nodeId} has no room for the versions ${leftOut.slice(0, 20).join(', ')}.`);
  return outcome;
}

/** For 2,000 versions with 2 KB each. Eight nodes with eight pages each are written at once. */
const maxNodeCharacters = 5_000_000;

/**
 * Updates the host nodes of a version. During an extraction every written entry would trigger an update, so
 * this waits until the version says that the extraction is over.
 */
export function refreshHostNodes(
  context: Context,
  nodeId: string,
  label: string,
  onlyIfDifferent = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedHostNodes | undefined) => {
    const [item, bans] = await get(context, nodeVersionKey(nodeId, label), hostNodeBansKey(nodeId));
    const version = nodeVersionRecord(item);
    if (!version) return undefined;
    if (!current && version.host_node_extract_status === 'pending' && !isLong(version.changelog))
      return undefined;
    const entries = await storedHostNodes(context, version.node_id, version.version);
    return indexedHostNodes(version, entries, hostNodeBansRecord(bans));
  };
  return withHostNodes(() => refreshFile(context, hostNodesFile(nodeId, label), next, onlyIfDifferent));
}

/**
 * Twice the most that people and an extraction may write for one version. Versions that are larger fail alone: one
 * of 150 MB filled the memory, and kept every other change out of the index.
 */
const maxIndexedCharacters = 16_000_000;

export class TooLargeForIndex extends Error {
  override readonly name = 'TooLargeForIndex';
}

export async function storedHostNodes(
  context: Context,
  nodeId: string,
  label: string,
): Promise<HostNodeRecord[]> {
  const entries: HostNodeRecord[] = [];
  let characters = 0;
  for await (const page of query(context, { below: hostNodeKey(nodeId, label, '') })) {
    characters += JSON.stringify(page).length;
    if (characters > maxIndexedCharacters)
      throw new TooLargeForIndex(
        `${nodeId} ${label} has more than ${maxIndexedCharacters} characters of host nodes.`,
      );
    entries.push(...page.map((item) => hostNodeRecord(item)));
  }
  return entries;
}

/**
 * Updates the README of a node from its latest version, as its file has it. Published bytes never change, so an archive is read
 * once; with `again`, it is read even if the file already has its README.
 */
export function refreshReadme(
  context: Context,
  nodeId: string,
  again = false,
): Promise<'written' | 'unchanged'> {
  const next = async (current: IndexedReadme | undefined) => {
    const node = await readFile(context, nodeFile(nodeId));
    if (!node) return undefined;
    const { id: node_id = '', repository, latest_version: latest } = node;
    if (!latest) return { node_id, text: '' };
    const { id: versionId = '', version = '', sha256 = '', provenance } = latest;
    if (!again && current?.version === version && current.sha256 === sha256) return current;
    const archive = await findObject(archiveKey({ nodeId: node_id, version, versionId }, sha256));
    const readme = archive && (await readReadme(archive));
    if (!readme) return { node_id, version, sha256, text: '', html: '' };
    const { path, text, isCut: is_cut } = readme;
    const html = renderReadme(text, { path, repository, version: { version, provenance } });
    return { node_id, version, sha256, path, is_cut, text, html };
  };
  return refreshFile(context, readmeFile(nodeId), next, again);
}

/** Whether anyone may read about the versions of a node: not if banned, but a withdrawn node keeps them. */
function showsVersions(node: NodeRecord, publisher: PublisherRecord): boolean {
  return node.status !== 'NodeStatusBanned' && !publisher.banned;
}

/** A version's public view; undefined if the version is pending or banned. */
function publicVersion(version: VersionCopy): PublicVersion | undefined {
  if (!isOffered(version)) return undefined;
  const { changelog } = version;
  const cut = isLong(changelog) && {
    changelog: Buffer.from(changelog)
      .subarray(0, maxChangelogBytes)
      .toString()
      .replace(/\uFFFD$/, ''),
    changelog_is_cut: true,
  };
  return pickFields({ ...nodeVersionView(version), ...cut }, PublicVersion);
}

/** Every reader of a node loads the change logs of all its versions. */
const maxChangelogBytes = 2048;

function isLong(changelog: string | null | undefined): changelog is string {
  return Buffer.byteLength(changelog ?? '') > maxChangelogBytes;
}

function indexedNode(
  node: NodeRecord,
  publisher: PublisherRecord,
  versions: readonly PublicVersion[],
  numbers?: NumbersRecord,
): IndexedNode {
  const owner = pickFields(publisher, PublicPublisher);
  const { id, status_detail, created_at, latest_version } = node;
  // Nothing else that its publisher wrote.
  if (!showsVersions(node, publisher))
    return { id, status: 'NodeStatusBanned', status_detail, created_at, publisher: owner, versions: [] };
  const { versions: counts, ...sums } = numbersOf(numbers);
  const counted = (version: PublicVersion) => ({ ...version, downloads: counts[String(version.version)] });
  const latest = latest_version && isDownloadable(latest_version) ? publicVersion(latest_version) : undefined;
  const shown = {
    ...nodeView({ node, publisher, numbers }),
    ...sums,
    publisher: owner,
    latest_version: latest && counted(latest),
    versions: versions.map(counted).sort(byPrecedence),
  };
  return pickFields(shown, IndexedNode);
}

function byPrecedence(a: PublicVersion, b: PublicVersion): number {
  return (
    compareVersions(String(b.version), String(a.version)) ||
    (a.createdAt ?? '').localeCompare(b.createdAt ?? '')
  );
}

/** Shown or not by the version alone: one that a ban never reached isn't written again when the ban ends. */
function indexedHostNodes(
  version: NodeVersionRecord,
  entries: readonly HostNodeRecord[],
  bans: HostNodeBansRecord | undefined,
): IndexedHostNodes {
  const { node_id, host_node_extract_status, host_node_extract_reason, changelog } = version;
  const standing = entries.flatMap((entry) => standingEntry(entry, version) ?? []);
  const host_nodes = standing.map((entry) => hostNodeView(entry, bans));
  const isPublic = isOffered(version);
  return {
    node_id,
    version: version.version,
    host_node_extract_status,
    ...(host_node_extract_reason && { host_node_extract_reason }),
    ...(isPublic && isLong(changelog) && { changelog }),
    host_nodes: isPublic ? host_nodes : [],
  };
}
