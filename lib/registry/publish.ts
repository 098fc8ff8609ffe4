import { randomUUID } from 'node:crypto';
import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import {
  adminVersionFields,
  NodeVersion,
  type NodeVersionInput,
} from '@node-registry/registry-rules/schemas/node-version';
import type { Upload } from '../bucket/object-keys.ts';
import { type Caller, callerName } from '../caller.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { type Decision, decide, type Found, type Once } from '../store/decide.ts';
import { absent, type Changes, type Item, onRevision, Plus, withChanges } from '../store/items.ts';
import {
  begunVersionsKey,
  nodeKey,
  nodeVersionKey,
  ownedNodeKey,
  publisherKey,
  trustKey,
} from '../store/keys.ts';
import { putting, updating, type Write } from '../store/write.ts';
import {
  type AcceptedCredential,
  acceptCredential,
  type GivenCredential,
  keyOfCredential,
  recordUse,
} from './credentials.ts';
import { describeEdit, edited, extractAgain, isEdit } from './edit-version.ts';
import { ask, blockOf, may } from './may.ts';
import {
  awaitedUpload,
  listVersions,
  maxVersionBytes,
  nodeVersionView,
  recordedChanges,
  rivalOf,
  versionFields,
  waitForUpload,
  waitingForUpload,
} from './node-versions.ts';
import { changedFields, mayChange, nodeChanges, requireFits, requireNodeFits } from './nodes.ts';
import { admit, countingNode, newNodesADay } from './pending-versions.ts';
import { memberOf, presentPublisher, underPresentId } from './publishers.ts';
import {
  begunRecord,
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  type OwnedNodeRecord,
  pending,
  pickFields,
  type PublisherRecord,
  trustRecord,
} from './records.ts';

/** A publish as requested. */
export type Publication = GivenCredential & {
  publisherId: string;
  nodeId: string;
  node: NodeInput;
  version: NodeVersionInput;
  caller: Caller | undefined;
};

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
  const uploadId = randomUUID();
  return ofPresentPublisher(publication, async (present) => {
    const following = (found: FirstFound) => moreReadsOf(context, present, found);
    const reads = { first: readsOf(present), following };
    return decide(context, reads, (found, once) => decidePublish(present, uploadId, found, once));
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
  const standing = await ofPresentPublisher(publication, (present) =>
    decide(context, { first: readsOf(present) }, (found) => ({ result: standingOf(present, found) })),
  );
  may(publication.caller, 'publish version', standing);
  const { version: registered } = standing;
  if (!registered || registered.id !== id || registered.status !== pending) return undefined;
  return awaitedUpload(registered);
}

/** A publish is of the id that its publisher has now, in what it reads, writes and logs. */
function ofPresentPublisher<Result>(
  publication: Publication,
  serve: (publication: Publication) => Promise<Result>,
): Promise<Result> {
  const { nodeId, version } = publication;
  return underPresentId(publication.publisherId, (publisherId) => {
    note({ publisher_id: publisherId, node_id: nodeId, version: version.version.normal });
    return serve({ ...publication, publisherId });
  });
}

/** Everything that it depends on, in one round trip. */
function readsOf(publication: Publication) {
  const { publisherId, nodeId, version, job, caller } = publication;
  return {
    publisher: publisherKey(publisherId),
    credential: keyOfCredential(publisherId, publication),
    node: nodeKey(nodeId),
    version: nodeVersionKey(nodeId, version.version.normal),
    trusts: { below: job && trustKey(publisherId, '') },
    // A token alone, or a job, is stopped by its own end.
    block: blockOf(caller),
    begun: begunVersionsKey(publisherId),
  };
}

type FirstFound = Found<ReturnType<typeof readsOf>>;

/** An edit may choose another latest version. */
async function moreReadsOf(context: Context, publication: Publication, found: FirstFound) {
  const version = nodeVersionRecord(found.version);
  if (!version || !isEdit(version, publication)) return { rival: undefined };
  const listed = await listVersions(context, publication.nodeId);
  return { rival: rivalOf(nodeRecord(found.node), version.id, listed) };
}

function standingOf(publication: Publication, found: FirstFound) {
  const { publisherId, nodeId, version } = publication;
  const publisher = presentPublisher(found.publisher, publisherId);
  const credential = acceptCredential(
    publication,
    { item: found.credential, trusts: found.trusts.map(trustRecord) },
    { nodeId, versionKey: nodeVersionKey(nodeId, version.version.normal) },
  );
  return {
    block: found.block,
    publisher,
    credential,
    node: nodeRecord(found.node),
    version: nodeVersionRecord(found.version),
    nodeId,
    label: version.version.sent,
  };
}

/** What a publish writes and answers. */
function decidePublish(
  publication: Publication,
  uploadId: string,
  found: FirstFound & Found<Awaited<ReturnType<typeof moreReadsOf>>>,
  once: Once,
): Decision<Registration> {
  const { publisherId, nodeId, caller } = publication;
  const standing = standingOf(publication, found);
  const { version, node } = standing;
  const isEdited = version && node && isEdit(version, publication);
  const action = isEdited ? 'edit version' : version ? 'resume version' : 'publish version';
  const allowed = ask(caller, action, standing);
  if (allowed instanceof ApiError) {
    const isPublished = version !== undefined && allowed.code === 'version_exists';
    return { error: allowed, writes: isPublished ? extractAgain(version, once) : [] };
  }
  const { credential } = allowed;
  if (isEdited) return decideEdit(publication, uploadId, { credential, node, version }, found.rival, once);
  const record = pendingVersion(publication, uploadId, { ...allowed, credential }, once);
  const nodesADay = node ? undefined : newNodesADay(allowed.publisher);
  const writes = [
    ...writeNode(publication, node, version === undefined, once),
    putting(record, version ? [['id', '=', version.id], ...onRevision(version)] : absent),
    ...credential.writes,
    ...(nodesADay === undefined ? [] : [countingNode(publisherId, nodesADay, once)]),
  ];
  const own = { publisherId, nodeId, version: record.version };
  const limits = { isPending: version !== undefined, nodesADay };
  const { before, beside = [] } = admit(own, begunRecord(found.begun), limits);
  const result = { version: pickFields(record, NodeVersion), upload: awaitedUpload(record) };
  return { before, writes, beside: [() => recordUse(credential.record), ...beside], result };
}

/** Changes what may still change of a published version. */
function decideEdit(
  publication: Publication,
  uploadId: string,
  {
    credential,
    node,
    version,
  }: { credential: AcceptedCredential; node: NodeRecord; version: NodeVersionRecord },
  rival: Item | undefined,
  once: Once,
): Decision<Registration> {
  const { deprecated, changelog } = publication.version;
  const changes = { deprecated, changelog };
  const after = edited(version, changes);
  const by = actorOf(publication.caller, credential);
  const entry = { by, action: 'node-version edit', detail: describeEdit(changes) };
  const writes = recordedChanges(node, rival, [{ before: version, changes }], entry, once);
  // No version waits for this upload, so an archive put to its URL is deleted.
  const upload = awaitedUpload({ ...after, upload_id: uploadId });
  return {
    writes: [...writes, ...credential.writes],
    beside: [() => recordUse(credential.record)],
    result: { version: nodeVersionView(after), upload },
  };
}

function actorOf(caller: Caller | undefined, { kept }: AcceptedCredential): string {
  if (caller) return callerName(caller);
  return kept.provenance ? `ci:${kept.provenance.repository}` : `token:${kept.token_id}`;
}

interface Begun {
  credential: AcceptedCredential;
  publisher: PublisherRecord;
  node: NodeRecord | undefined;
  version: NodeVersionRecord | undefined;
}

function pendingVersion(
  { publisherId, nodeId, version, caller }: Publication,
  uploadId: string,
  { credential, publisher, node, version: begun }: Begun,
  once: Once,
): NodeVersionRecord {
  const now = new Date(once.now).toISOString();
  const id = begun?.id ?? once.id;
  const isAdmin = caller?.isAdmin ?? false;
  const reserved = changedFields(adminVersionFields, version, begun);
  if (reserved.length > 0)
    may(caller, "change an admin's field", { fields: reserved.map((field) => `body.node_version.${field}`) });
  const record: NodeVersionRecord = {
    ...nodeVersionKey(nodeId, version.version.normal),
    ...versionFields(version, { isAdmin }),
    // A member who resumes a version must not remove the tags of an admin.
    ...(!isAdmin && begun?.tags_admin && { tags_admin: begun.tags_admin }),
    version: version.version.normal,
    ...(version.version.sent !== version.version.normal && { label: version.version.sent }),
    id,
    node_id: node?.id ?? nodeId,
    publisher_id: publisherId,
    createdAt: begun?.createdAt ?? now,
    status: pending,
    ...waitingForUpload,
    host_node_extract_status: 'pending',
    ...(caller && { published_by: caller.userId }),
    ...(caller && memberOf(publisher, caller.userId) && { by_member: true as const }),
    ...credential.kept,
    revision: (begun?.revision ?? 0) + 1,
    upload_id: uploadId,
    ...waitForUpload(nodeVersionKey(nodeId, version.version.normal), publisherId, once.now),
  };
  requireFits(record, maxVersionBytes);
  return record;
}

function changesOf({ node: input, caller }: Publication, node: NodeRecord | undefined): Changes<NodeRecord> {
  mayChange(caller, input, node, 'body.node');
  requireActiveStatus(input.status);
  const changes = nodeChanges(input, { isAdmin: caller?.isAdmin ?? false });
  requireNodeFits(withChanges(node ?? {}, changes));
  return changes;
}

function writeNode(
  publication: Publication,
  node: NodeRecord | undefined,
  isNewVersion: boolean,
  { now }: Once,
): Write[] {
  const { publisherId, nodeId } = publication;
  const changes = changesOf(publication, node);
  const key = nodeKey(nodeId);
  if (node) {
    // Over the owner and the status that the publish was decided on.
    const isSame = [['publisher_id', '=', node.publisher_id] as const, ['status', '=', node.status] as const];
    if (!isNewVersion) return [updating<NodeRecord>(key, changes, isSame)];
    const counted = { ...changes, versions: new Plus(1) };
    return [
      updating<NodeRecord>(key, counted, [...isSame, ['versions', 'absent or <=', roomForVersion(node)]]),
    ];
  }
  const created_at = new Date(now).toISOString();
  const born = {
    id: nodeId,
    publisher_id: publisherId,
    created_at,
    status: 'NodeStatusActive' as const,
    versions: 1,
  };
  const owned: OwnedNodeRecord = { ...ownedNodeKey(publisherId, nodeId), node_id: nodeId, created_at };
  return [updating<NodeRecord>(key, { ...changes, ...born }, absent), putting(owned, absent)];
}

/** A node's public file has all versions, and each publish reads it. */
const maxVersions = 2000;

/** The most versions that a node may have before it gets another one. */
function roomForVersion({ id, versions = 0, max_versions = maxVersions }: NodeRecord): number {
  const message = `The node "${id}" has ${versions} versions, the most that it may have. The operator can raise that.`;
  if (versions >= max_versions) throw new ApiError('record_too_large', { message });
  return max_versions - 1;
}

/** A publish is for nodes in use; members may publish, and only owners withdraw. */
function requireActiveStatus(status: NodeInput['status']): void {
  if (!status || status === 'NodeStatusActive') return;
  const message = 'cannot be changed by a publish; update the node instead';
  throw new ApiError('invalid_request', { details: [{ path: 'body.node.status', message }] });
}
