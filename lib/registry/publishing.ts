import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { callerName } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { allEnded } from '../in-parallel.ts';
import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import { adminVersionFields, NodeVersion } from '@node-registry/registry-rules/schemas/node-version';
import { dueShard } from '../store/due.ts';
import { absent, type Changes, withChanges } from '../store/items.ts';
import { nodeKey, nodeVersionKey, ownedNodeKey } from '../store/keys.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { putting, transact, updating, type Write } from '../store/write.ts';
import type { Upload } from '../bucket/object-keys.ts';
import { type AcceptedCredential, recordUse } from './credentials.ts';
import {
  isDownloadable,
  maxVersionBytes,
  nodeVersionView,
  versionFields,
  waitingForUpload,
} from './node-versions.ts';
import {
  type NodeRecord,
  type NodeVersionRecord,
  type OwnedNodeRecord,
  pending,
  pickFields,
} from './records.ts';
import {
  changedFields,
  nodeChanges,
  nodeClauses,
  requireAdmin,
  requireFits,
  requireMayChange,
  requireNodeFits,
} from './nodes.ts';
import { type Publication, readStanding } from './publication.ts';
import { editVersion, extractAgain, isEdit } from './published-versions.ts';
import {
  countNewNode,
  isRecorded,
  readPendingVersions,
  recordPending,
  requireRoom,
} from './publishing-limits.ts';

interface Registration {
  version: NodeVersion;
  /** Identifies the only upload that may bring this version's archive. */
  upload: Upload;
}

/**
 * Registers a version as pending, in one read and one transaction, so that there is never a version without
 * its node or a node without its first version:
 *
 *   no such version   -> pending   the node is created with it, or takes the new metadata
 *   pending           -> pending   resumed: same id, new metadata, and only the new upload counts from here on
 *   archive arrived   -> 409       version_exists; at most its host nodes are read again. An edit of the fields that may
 *                                  still change is written instead
 *
 * Of concurrent publishes of one version, the first transaction wins. The others' condition fails; they read
 * again, and resume what the first one began.
 */
export async function registerVersion(context: Context, publication: Publication): Promise<Registration> {
  const { publisherId, nodeId, version } = publication;
  return untilWritten(context, async () => {
    const [standing, begun] = await Promise.all([
      readStanding(context, publication),
      readPendingVersions(context, publisherId),
    ]);
    if ('movedTo' in standing)
      return registerVersion(context, { ...publication, publisherId: standing.movedTo });
    const { credential, publishing, node, existing } = standing;
    if (existing && existing.status !== pending) {
      if (node && isDownloadable(existing) && isEdit(publication))
        return editPublished(context, publication, { node, existing, credential });
      await extractAgain(context, existing);
      throw versionExists(existing);
    }
    if (existing) requireSameLabel(existing, publication);
    const record = pendingVersion(publication, credential, node, existing);
    const writes = [...writeNode(publication, node), writeVersion(record, existing), ...credential.writes];
    const addition = { publisherId, nodeId, version: version.version, isNewNode: !node };
    if (!existing) await requireRoom(context, publishing, begun, addition);
    const [failed] = await allEnded([
      transact(context, writes),
      recordUse(credential.record),
      // A publish that died may have left the version without its record.
      existing && isRecorded(begun, record) ? undefined : recordPending(context, addition),
    ]);
    if (failed.length > 0) return undefined;
    if (addition.isNewNode) await countNewNode(context, addition);
    return { version: pickFields<NodeVersion>(record, NodeVersion), upload: uploadFor(record) };
  });
}

/** No version waits for the response's upload, so an archive put to its URL is deleted. */
async function editPublished(
  context: Context,
  publication: Publication,
  {
    node,
    existing,
    credential,
  }: { node: NodeRecord; existing: NodeVersionRecord; credential: AcceptedCredential },
): Promise<Registration | undefined> {
  const { version: input, caller } = publication;
  const { record, kept, writes: also } = credential;
  const nodeChanges = nodeChangesOf(publication, node);
  const [job, token] = [kept.provenance?.repository, kept.token_id];
  const actor = caller ? callerName(caller) : job === undefined ? `token:${token}` : `ci:${job}`;
  const [edited] = await allEnded([
    editVersion(context, { node, version: existing, input, nodeChanges, actor, also }),
    recordUse(record),
  ]);
  if (!edited) return undefined;
  return { version: nodeVersionView(edited), upload: uploadFor({ ...edited, upload_id: randomUUID() }) };
}

/** Two spellings of one label are most likely two versions, and the second would replace the pending one. */
function requireSameLabel({ label, version }: NodeVersionRecord, publication: Publication): void {
  const { label: sent = version } = publication;
  const begun = label ?? version;
  if (begun === sent) return;
  throw new ApiError('version_exists', {
    message: `"${sent}" is another spelling of "${begun}", which waits for its archive. Publish "${begun}" to resume it, or choose another version.`,
  });
}

/**
 * The upload that a version, registered by the same request before, waits for now; undefined if it waits for
 * none. A caller who could no longer publish it gets no URL. The upload is that of the latest publish.
 */
export async function findAwaitedUpload(
  context: Context,
  publication: Publication,
  { id }: NodeVersion,
): Promise<Upload | undefined> {
  const standing = await readStanding(context, publication);
  if ('movedTo' in standing)
    return findAwaitedUpload(context, { ...publication, publisherId: standing.movedTo }, { id });
  const { existing } = standing;
  if (!existing || existing.id !== id || existing.status !== pending) return undefined;
  return uploadFor(existing);
}

/** A version that was banned before its archive arrived has never been published, and can't be. */
function versionExists({ status }: NodeVersionRecord): ApiError {
  const message = 'This version is banned; publish a new version instead.';
  return new ApiError('version_exists', status === 'NodeVersionStatusBanned' ? { message } : {});
}

function pendingVersion(
  { publisherId, nodeId, version, label, caller }: Publication,
  { kept }: AcceptedCredential,
  node: NodeRecord | undefined,
  existing: NodeVersionRecord | undefined,
): NodeVersionRecord {
  const now = new Date().toISOString();
  const id = existing?.id ?? randomUUID();
  if (!caller?.isAdmin) {
    const reserved = changedFields(adminVersionFields, version, existing);
    requireAdmin(reserved.map((field) => `body.node_version.${field}`));
  }
  const record: NodeVersionRecord = {
    ...nodeVersionKey(nodeId, version.version),
    ...versionFields(version, { isAdmin: caller?.isAdmin ?? false }),
    // A member who resumes a version must not remove the tags of an admin.
    ...(!caller?.isAdmin && existing?.tags_admin && { tags_admin: existing.tags_admin }),
    version: version.version,
    ...(label !== version.version && { label }),
    id,
    node_id: node?.id ?? nodeId,
    publisher_id: publisherId,
    createdAt: existing?.createdAt ?? now,
    status: pending,
    ...waitingForUpload,
    host_node_extract_status: 'pending',
    ...(caller && { published_by: caller.userId }),
    ...kept,
    revision: (existing?.revision ?? 0) + 1,
    upload_id: randomUUID(),
    // Spread over sixteen partitions of the index, so that it supports as many publishes as the table does.
    pending_shard: dueShard('uploads', id),
    pending_since: now,
  };
  requireFits(record, maxVersionBytes);
  return record;
}

function uploadFor({ node_id, version, id, upload_id = '' }: NodeVersionRecord): Upload {
  return { nodeId: node_id, version, versionId: id, uploadId: upload_id };
}

function nodeChangesOf(
  { node: input, caller }: Publication,
  node: NodeRecord | undefined,
): Changes<NodeRecord> {
  const editor = { isAdmin: caller?.isAdmin ?? false };
  requireMayChange(input, node, editor, 'body.node');
  requireActiveStatus(input.status);
  const changes = nodeChanges(input, editor);
  requireNodeFits(withChanges(node ?? {}, changes));
  return changes;
}

function writeNode(publication: Publication, node: NodeRecord | undefined): Write[] {
  const { publisherId, nodeId } = publication;
  const changes = nodeChangesOf(publication, node);
  const key = nodeKey(nodeId);
  if (node) return [updating<NodeRecord>(key, changes, nodeClauses(node))];
  const created_at = new Date().toISOString();
  const born = {
    id: nodeId,
    publisher_id: publisherId,
    created_at,
    status: 'NodeStatusActive' as const,
  };
  const owned: OwnedNodeRecord = { ...ownedNodeKey(publisherId, nodeId), node_id: nodeId, created_at };
  return [updating<NodeRecord>(key, { ...changes, ...born }, absent), putting(owned, absent)];
}

/** A publish is for nodes in use; members may publish, and only owners withdraw. */
function requireActiveStatus(status: NodeInput['status']): void {
  if (!status || status === 'NodeStatusActive') return;
  const message = 'cannot be changed by a publish; update the node instead';
  throw new ApiError('invalid_request', { details: [{ path: 'body.node.status', message }] });
}

function writeVersion(record: NodeVersionRecord, existing: NodeVersionRecord | undefined): Write {
  if (!existing) return putting(record, absent);
  return putting(record, [
    ['id', '=', existing.id],
    ['status', '=', existing.status],
    ['revision', '=', existing.revision],
  ]);
}
