import { downloadUrl, type Upload } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import {
  adminVersionFields,
  NodeVersion,
  type NodeVersionInput,
  type NodeVersionStatus,
  Provenance,
} from '@node-registry/registry-rules/schemas/node-version';
import { compareVersions, isPreRelease } from '@node-registry/registry-rules/version-label';
import type { Once } from '../store/decide.ts';
import { type Changes, type Item, onRevision, withChanges } from '../store/items.ts';
import { type Key, nodeKey, nodeVersionKey } from '../store/keys.ts';
import { query } from '../store/read.ts';
import { updating, type Write } from '../store/write.ts';
import { nextLook, owe, timeText } from '../work/lanes.ts';
import {
  type Actor,
  historyOf,
  type ListedVersion,
  listedVersion,
  type NodeRecord,
  type NodeVersionRecord,
  nodeVersionRecord,
  pickFields,
  type VersionCopy,
  withdrawn,
} from './records.ts';

export const maxVersionBytes = 120_000;

/** A version as callers see it. The archive's URL is composed here, so that it can move. */
export function nodeVersionView(version: VersionCopy): NodeVersion {
  const { archive_key, provenance } = version;
  const hasUrl = archive_key !== undefined && isOffered(version);
  return pickFields(
    {
      ...version,
      ...(hasUrl && { downloadUrl: downloadUrl(archive_key) }),
      ...(provenance && { provenance: pickFields(provenance, Provenance) }),
    },
    NodeVersion,
  );
}

export const waitingForUpload = {
  status_reason: 'Waiting for the archive: PUT it to the signedUrl of the publish response.',
  status_reason_code: 'awaiting_upload',
} as const;

/** The upload that a version waits for. */
export function awaitedUpload({ node_id, version, id, upload_id = '' }: NodeVersionRecord): Upload {
  return { nodeId: node_id, version, versionId: id, uploadId: upload_id };
}

/** The fields by which a version waits for an upload from now on. A signed URL accepts it for fifteen minutes. */
export function waitForUpload(key: Key, publisherId: string, now: number) {
  const at = timeText(now);
  return { ...owe('finalize', key, publisherId, nextLook('finalize', { ...key, at }, now)), at };
}

type PublisherFields = Omit<NodeVersionInput, 'version'>;

/** A publisher's fields of a version, as attributes. Null and absent both leave a field out. */
export function versionFields(
  { version: _, ...input }: NodeVersionInput,
  { isAdmin }: { isAdmin: boolean },
): { [Field in keyof PublisherFields]: NonNullable<PublisherFields[Field]> } {
  const reserved: readonly string[] = isAdmin ? [] : adminVersionFields;
  const entries = Object.entries(input).filter(
    ([field, value]) => value !== null && !reserved.includes(field),
  );
  return Object.fromEntries(entries);
}

/** Flagged is a warning: such a version can still be downloaded, and stays the latest if it was. */
const downloadable: readonly NodeVersionStatus[] = ['NodeVersionStatusActive', 'NodeVersionStatusFlagged'];

export function isDownloadable({ status }: VersionCopy): boolean {
  return downloadable.includes(status);
}

/** Those that name a withdrawn version still get it: others depend on its bytes. */
export function isOffered(version: VersionCopy): boolean {
  return isDownloadable(version) || version.status === withdrawn;
}

/*
 * Only `versionWrites` chooses a node's copy of its latest version, in the transaction that changes a
 * version. The choice depends on the node's revision, and increases it even if the latest version stays: of
 * two concurrent changes, the second decides again, from the first one's result.
 */

interface VersionChange {
  before: NodeVersionRecord;
  changes: Changes<NodeVersionRecord>;
}

/**
 * The parts of a transaction that changes versions of a node and chooses its latest one. The one that it shows stands for
 * its others. If that may fall in rank, `others` has its rival, read after the node, or else a change between the reads
 * would be lost.
 */
export function versionWrites(
  node: NodeRecord,
  others: readonly NodeVersionRecord[],
  changed: readonly VersionChange[],
  nodeChanges: Changes<NodeRecord> = {},
): Write[] {
  const after = changed.map(({ before, changes }) => withChanges(before, changes));
  const isOther = ({ id }: VersionCopy) => !after.some((each) => each.id === id);
  const latest = latestOf([...[...shownBy(node), ...others].filter(isOther), ...after]);
  const latest_version = latest ? versionCopy(latest) : null;
  const chosen = others.find((each) => each === latest);
  return [
    updating(node, { ...nodeChanges, latest_version }, onRevision(node)),
    ...changed.map(({ before, changes }) => updating(before, changes, onRevision(before))),
    // An extraction that ends meanwhile changes the chosen version without its node.
    ...(chosen ? [updating(chosen, {}, onRevision(chosen))] : []),
  ];
}

interface Entry {
  by: Actor | string;
  action: string;
  detail?: string | undefined;
}

/** What changes versions of a node, each with its history. */
export function recordedChanges(
  node: NodeRecord,
  rival: Item | undefined,
  changed: readonly VersionChange[],
  { by, ...entry }: Entry,
  { id, now }: Once,
  nodeChanges: Changes<NodeRecord> = {},
): Write[] {
  const others = rival ? [nodeVersionRecord(rival)] : [];
  const histories = changed.map(({ before: { version } }, place) => {
    const change = { of: nodeKey(node.id), subject: `${node.id} ${version}`, ...entry };
    return historyOf(by, change, { id: `${id}-${place}`, now });
  });
  return [...versionWrites(node, others, changed, nodeChanges), ...histories];
}

function shownBy({ latest_version }: NodeRecord): VersionCopy[] {
  return latest_version ? [latest_version] : [];
}

/** Whether the node shows the latest of these versions and its own. */
export function showsLatest(node: NodeRecord, versions: readonly NodeVersionRecord[]): boolean {
  return latestOf([...shownBy(node), ...versions])?.id === node.latest_version?.id;
}

/** The version that a node should show apart from this one. Undefined if it shows it. */
export function rivalOf(
  node: NodeRecord | undefined,
  versionId: string | undefined,
  listed: readonly ListedVersion[],
): ListedVersion | undefined {
  const rival = latestOf(listed.filter(({ id }) => id !== versionId));
  return rival?.id === node?.latest_version?.id ? undefined : rival;
}

/** The version that a node shows as its latest: the highest one that can be downloaded. */
export function latestOf<Version extends VersionCopy>(versions: readonly Version[]): Version | undefined {
  return versions.filter(isDownloadable).sort((a, b) => compareForLatest(b, a))[0];
}

/** Positive if `a` comes first: not deprecated, then stable before pre-release, then precedence, time. */
function compareForLatest(a: VersionCopy, b: VersionCopy): number {
  return (
    Number(b.deprecated ?? false) - Number(a.deprecated ?? false) ||
    Number(isPreRelease(b.version)) - Number(isPreRelease(a.version)) ||
    compareVersions(a.version, b.version) ||
    (a.published_at ?? '').localeCompare(b.published_at ?? '')
  );
}

/** The copy of its latest version that a node keeps. */
export function versionCopy(version: VersionCopy): VersionCopy {
  const { archive_key, published_at, id, status } = version;
  return {
    ...pickFields(version, NodeVersion),
    id,
    version: version.version,
    status,
    ...(archive_key !== undefined && { archive_key }),
    ...(published_at !== undefined && { published_at }),
  };
}

/** All versions of a node, the oldest first, with a few fields of each: the others may have 240 MB. */
export async function listVersions(context: Context, nodeId: string): Promise<ListedVersion[]> {
  const pages = await Array.fromAsync(query(context, { versionsOf: nodeKey(nodeId) }));
  return pages.flat().map((item) => listedVersion(item));
}

/** Page by page: all of a node's may have 240 MB. */
export async function* eachVersion(context: Context, nodeId: string): AsyncGenerator<NodeVersionRecord> {
  for await (const page of query(context, { below: nodeVersionKey(nodeId, '') }))
    for (const item of page) yield nodeVersionRecord(item);
}
