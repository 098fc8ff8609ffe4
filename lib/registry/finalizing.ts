import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { log, note } from '../log.ts';
import type { NodeVersionStatus, StatusReasonCode } from '../schemas/node-version.ts';
import { dueShard, dueWork } from '../store/due.ts';
import type { Changes, Clause } from '../store/expressions.ts';
import { nodeKey, nodeVersionKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/retries.ts';
import { checking, transact, update, updating } from '../store/write.ts';
import type { Upload } from '../upload.ts';
import { forgetPending } from './publishing-limits.ts';
import { latestOf } from './latest-version.ts';
import { shownVersion } from './node-versions.ts';

import { credentialKey } from './credentials.ts';
import {
  type CredentialRecord,
  credentialRecord,
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  type PublisherRecord,
  publisherRecord,
} from './records.ts';
import { awaitsUpload, isRefused, type refusalOf, unclaimed } from './upload-checks.ts';

/*
 * What happens to a version once it is registered. *Listed* means that it is in the index `pending`, the list of
 * what is left to do:
 *
 *   pending, listed ──activateVersion──> active, listed ──completeVersion──> active, listed for its extraction
 *        │  ▲                               latest_version moves, then the version leaves the finalizer's shards
 *        └──┘ keepPending: a status_reason
 *
 * Only the upload that the latest publish named leads out of `pending`, and only while node, publisher and credential are
 * in good standing. These are read right before the write that activates, and no part of it: a transaction that checks
 * them would make all uploads of a publisher or of a token wait for each other. A ban is written before the versions that
 * it bans, each of which it takes out of `pending`, so an activation that has read the time before fails its condition or
 * is banned a moment later. A credential that is revoked, or a node that is withdrawn, in that moment is so after it.
 *
 * Each arrow is one conditional write, so it may be taken twice, late or by two at once: the second finds its condition
 * failed and changes nothing. A finalizer that dies between two arrows leaves a listed version, which the next event or
 * sweep takes further.
 */

const pending: NodeVersionStatus = 'NodeVersionStatusPending';

interface PublishedArchive {
  key: string;
  sizeBytes: number;
  sha256: string;
}

/** Why a version stays pending, for a program and for its publisher. */
export interface PendingReason {
  status_reason_code: StatusReasonCode;
  status_reason: string;
}

export type Hindrance = 'superseded' | 'published' | 'blocked' | 'unknown' | PendingReason;

export type UploadState = 'awaited' | 'refused' | Hindrance;

/**
 * `superseded`: the version was published again meanwhile, and waits for another upload. `blocked`: the version itself
 * is banned, and waits for this upload again once that is lifted. `refused`: it waits for this one, but not for the bytes
 * in this version of the object, or in any more: they were refused before.
 */
export async function findUploadState(
  context: Context,
  upload: Upload,
  objectVersion?: string,
): Promise<UploadState> {
  const read = await readUpload(context, upload);
  if (read.state !== 'awaited' || objectVersion === undefined) return read.state;
  return isRefused(read.version, objectVersion) ? 'refused' : 'awaited';
}

async function readUpload(
  context: Context,
  upload: Upload,
): Promise<{ state: Hindrance } | { state: 'awaited'; version: NodeVersionRecord }> {
  const [versionItem, node] = await get(
    context,
    nodeVersionKey(upload.nodeId, upload.version),
    nodeKey(upload.nodeId),
  );
  const version = nodeVersionRecord(versionItem);
  if (version?.id !== upload.versionId) return { state: 'unknown' };
  const { publisher_id, node_id, token_id, trust_id, status } = version;
  note({ publisher_id, node_id, version: version.version, token_id, trust_id });
  if (status !== pending && version.upload_id === undefined) return { state: 'published' };
  if (version.upload_id !== upload.uploadId) return { state: 'superseded' };
  if (status !== pending) return { state: 'blocked' };
  const [publisher, credential] = await get(context, publisherKey(publisher_id), credentialKey(version));
  const reason =
    obstacle(nodeRecord(node), publisherRecord(publisher)) ??
    revocation(version, credentialRecord(credential));
  return reason ? { state: reason } : { state: 'awaited', version };
}

/** Anything but `activated` is why the version did not become active: see findUploadState. */
export async function activateVersion(
  context: Context,
  upload: Upload,
  archive: PublishedArchive,
): Promise<'activated' | Hindrance> {
  return untilWritten(context, async () => {
    const read = await readUpload(context, upload);
    if (read.state !== 'awaited') return read.state;
    const { version } = read;
    const changes: Changes<NodeVersionRecord> = {
      status: 'NodeVersionStatusActive',
      status_reason: null,
      status_reason_code: null,
      archive_key: archive.key,
      size_bytes: archive.sizeBytes,
      sha256: archive.sha256,
      upload_id: null,
      refused_object: null,
      refusals: null,
      ...unclaimed,
      published_at: new Date().toISOString(),
    };
    const { written } = await update<NodeVersionRecord>(context, version, changes, awaitsUpload(upload));
    if (!written) return undefined;
    await forgetPending(context, { ...upload, publisherId: version.publisher_id });
    return 'activated';
  });
}

/** The version stays pending, and its publisher can read why. False if it no longer waits for this upload. */
export async function keepPending(
  context: Context,
  upload: Upload,
  reason: PendingReason | ReturnType<typeof refusalOf>,
): Promise<boolean> {
  const key = nodeVersionKey(upload.nodeId, upload.version);
  return (await update<NodeVersionRecord>(context, key, { ...reason, ...unclaimed }, awaitsUpload(upload)))
    .written;
}

/** The reasons that keep a version from becoming active, regardless of its archive. */
function obstacle(
  node: NodeRecord | undefined,
  publisher: PublisherRecord | undefined,
): PendingReason | undefined {
  if (!publisher || publisher.banned) return pendingBecause('publisher_banned', 'The publisher is banned.');
  if (!node || node.status === 'NodeStatusDeleted')
    return pendingBecause('node_deleted', 'The node is withdrawn.');
  if (node.status === 'NodeStatusBanned') return pendingBecause('node_banned', 'The node is banned.');
  return undefined;
}

function revocation(
  { trust_id }: NodeVersionRecord,
  credential: CredentialRecord | undefined,
): PendingReason | undefined {
  if (credential && credential.revoked_at === undefined) return undefined;
  return trust_id === undefined
    ? pendingBecause('token_revoked', 'The token that this version was published with is revoked.')
    : pendingBecause('trust_revoked', 'The publisher no longer trusts the workflow that published it.');
}

function pendingBecause(status_reason_code: StatusReasonCode, sentence: string): PendingReason {
  const remedy = 'Once that has changed, publish this version again.';
  return { status_reason_code, status_reason: `The archive was not published: ${sentence} ${remedy}` };
}

/** Finishes a version that is no longer pending: updates the node's latest_version, and hands it on to extraction. */
export async function completeVersion(context: Context, nodeId: string, version: string): Promise<void> {
  const versionKey = nodeVersionKey(nodeId, version);
  await untilWritten(context, async () => {
    const [versionItem, nodeItem] = await get(context, versionKey, nodeKey(nodeId));
    const record = nodeVersionRecord(versionItem);
    const shard = record?.pending_shard;
    const isLeft = shard !== undefined && dueWork(record) === 'uploads';
    if (!record || !isLeft || record.status === pending) return true;
    if (!(await moveLatest(context, record, nodeRecord(nodeItem)))) return undefined;
    const isDue = record.host_node_extract_status === 'pending';
    const listing = {
      pending_shard: isDue ? dueShard('host-nodes', shard) : null,
      pending_since: isDue ? new Date().toISOString() : null,
    };
    await update<NodeVersionRecord>(context, versionKey, listing, [
      ['id', '=', record.id],
      ['status', '=', record.status],
      ['pending_shard', '=', shard],
    ]);
    return true;
  });
}

/**
 * False if the latest version moved while this was decided, or this version or its node changed its status. Edits of
 * one moment that fit alone can leave a node without room for another latest version; it keeps the one that it has.
 */
async function moveLatest(
  context: Context,
  version: NodeVersionRecord,
  node: NodeRecord | undefined,
): Promise<boolean> {
  if (node?.status !== 'NodeStatusActive') return true;
  const latest = node.latest_version;
  if (latestOf(latest ? [latest, version] : [version]) !== version) return true;
  const seen: Clause<NodeRecord> = latest
    ? [['latest_version', 'id'], '=', latest.id]
    : ['latest_version', 'absent'];
  const failed = await transact(context, [
    // The copy must not go back behind an extraction that ended meanwhile.
    checking<NodeVersionRecord>(version, [
      ['status', '=', version.status],
      ['host_node_extract_status', '=', version.host_node_extract_status],
    ]),
    updating<NodeRecord>(node, { latest_version: shownVersion(version) }, [
      ['status', '=', 'NodeStatusActive'],
      seen,
    ]),
  ]).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'record_too_large') throw error;
    log('warn', 'latest_version_too_large', { node_id: version.node_id, version: version.version });
    return [];
  });
  return failed.length === 0;
}
