import type { StatusReasonCode } from '@node-registry/registry-rules/schemas/node-version';
import type { Upload } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { describeError, log, note } from '../log.ts';
import { decide } from '../store/decide.ts';
import { dueWork } from '../store/due.ts';
import { type Changes, type Clause, onRevision } from '../store/items.ts';
import {
  keyOf,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
  publisherKey,
  trustKey,
} from '../store/keys.ts';
import { get } from '../store/read.ts';
import { update, updating } from '../store/write.ts';
import type { Owing } from '../work/lanes.ts';
import { owe, owesNothing } from '../work/owe.ts';
import { sendSoon } from '../work/send.ts';
import { versionWrites } from './node-versions.ts';
import { type AnswerOf, closedBy } from './may.ts';
import { forgetPending } from './pending-versions.ts';
import {
  credentialRecord,
  type NodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
  pending,
  publisherRecord,
} from './records.ts';

/*
 * The states of a version once it is registered. *Listed* means that it is in the index `pending`, the list
 * of remaining work:
 *
 *   pending, listed ──activate──> active, listed ──finishPublishing──> active, listed for its extraction
 *     │  ▲ beginChecks, then reject                  one transaction moves latest_version, and moves the
 *     └──┘ or endChecks; or close                    version to the extraction's shards
 *
 * Each arrow is one function and one conditional write or transaction. If two finalizers take the same one,
 * the second one's condition fails; it changes nothing, and reads the upload's state again. A finalizer that
 * dies between two arrows leaves a listed version, which the next event or sweep continues.
 *
 * Checking an archive takes up to minutes, and each use of a signed URL is an event. So one finalizer at a
 * time checks an upload, and after some rejections its URL is used up.
 */

/** Why a version stays pending, for a program and for its publisher. */
interface PendingReason {
  status_reason_code: StatusReasonCode;
  status_reason: string;
}

type FoundUpload =
  | { state: 'awaited'; version: NodeVersionRecord }
  | { state: 'closed'; reason?: PendingReason }
  | { state: 'unknown' | 'superseded' | 'published_before' | 'rejected_before' | 'in_progress' };

/** A publisher may put this many rejected archives to one URL; then a publish makes a new URL. */
const maxRejections = 5;

/** The state of an upload, from one read, for a finalizer that found this object under its key. */
export async function readUpload(
  context: Context,
  upload: Upload,
  finalizerId: string,
  objectVersion?: string,
): Promise<FoundUpload> {
  const [versionItem, node] = await get(
    context,
    nodeVersionKey(upload.nodeId, upload.version),
    nodeKey(upload.nodeId),
  );
  const version = nodeVersionRecord(versionItem);
  if (version?.id !== upload.versionId) return { state: 'unknown' };
  const { publisher_id, node_id, token_id, trust_id, status } = version;
  note({ publisher_id, node_id, version: version.version, token_id, trust_id });
  if (status !== pending && version.upload_id === undefined) return { state: 'published_before' };
  if (version.upload_id !== upload.uploadId) return { state: 'superseded' };
  if (status !== pending) return { state: 'closed' };
  const reason = await findObstacle(context, version, nodeRecord(node));
  if (reason) return { state: 'closed', reason };
  if (wasRejected(version, objectVersion)) return { state: 'rejected_before' };
  const { checked_by = finalizerId, checked_until = 0 } = version;
  if (checked_by !== finalizerId && checked_until > Date.now()) return { state: 'in_progress' };
  return { state: 'awaited', version };
}

/** Whether this object was rejected, or its signed URL is used up. */
function wasRejected({ rejected_objects = [] }: NodeVersionRecord, objectVersion?: string): boolean {
  if (objectVersion === undefined) return false;
  return rejected_objects.includes(objectVersion) || rejected_objects.length >= maxRejections;
}

/** The reason, apart from its archive, that keeps a version from becoming active. */
async function findObstacle(
  context: Context,
  version: NodeVersionRecord,
  node: NodeRecord | undefined,
): Promise<PendingReason | undefined> {
  const { publisher_id, token_hash = '', trust_id } = version;
  const [publisher, credential] = await get(
    context,
    publisherKey(publisher_id),
    trust_id === undefined
      ? personalAccessTokenKey(publisher_id, token_hash)
      : trustKey(publisher_id, trust_id),
  );
  const usedCredential = credentialRecord(credential);
  const found = { publisher: publisherRecord(publisher), usedCredential, node, version };
  const answer = closedBy(undefined, 'activate version', found);
  return answer && pendingBecause(...obstacles[answer](trust_id === undefined));
}

type Obstacle = readonly [code: StatusReasonCode, sentence: string];

const bannedPublisher = (): Obstacle => ['publisher_banned', 'The publisher is banned.'];
const withdrawnNode = (): Obstacle => ['node_deleted', 'The node is withdrawn.'];

const obstacles = {
  'publisher gone': bannedPublisher,
  'banned publisher': bannedPublisher,
  'node gone': withdrawnNode,
  'withdrawn node': withdrawnNode,
  'banned node': () => ['node_banned', 'The node is banned.'],
  // Revoked credentials stay. They are missing only if the node moved to another publisher without them.
  'credential gone': () => [
    'transferred',
    'The node belongs to another publisher than the one that began this version.',
  ],
  'revoked credential': (isToken) => [
    isToken ? 'token_revoked' : 'trust_revoked',
    isToken
      ? 'The token that this version was published with is revoked.'
      : 'The publisher no longer trusts the workflow that published it.',
  ],
  'former member': () => ['member_removed', 'Who published it is no longer a member of the publisher.'],
} as const satisfies Record<AnswerOf<'activate version'>, (isToken: boolean) => Obstacle>;

function pendingBecause(status_reason_code: StatusReasonCode, sentence: string): PendingReason {
  const remedy = 'Once that has changed, publish this version again.';
  return { status_reason_code, status_reason: `The archive was not published: ${sentence} ${remedy}` };
}

interface PublishedArchive {
  key: string;
  sizeBytes: number;
  sha256: string;
}

const unchecked = { checked_by: null, checked_until: null };

/**
 * Keeps other finalizers from checking until this one's deadline. The id that Lambda gives an event and all
 * its retries names a finalizer. False if the version changed since it was read.
 */
export async function beginChecks(
  context: Context,
  version: NodeVersionRecord,
  finalizerId: string,
): Promise<boolean> {
  const changes = { checked_by: finalizerId, checked_until: context.deadline };
  return (await update<NodeVersionRecord>(context, version, changes, onRevision(version))).written;
}

/** After a failure that another event may get past. If it fails, retries of the same event get through. */
export async function endChecks(context: Context, upload: Upload, finalizerId: string): Promise<void> {
  await change(context, upload, unchecked, checkedBy(finalizerId)).catch((error: unknown) =>
    log('warn', 'checks_kept', describeError(error)),
  );
}

/** The version stays pending, and its publisher can read why. */
export function close(context: Context, upload: Upload, reason: PendingReason): Promise<boolean> {
  return change(context, upload, { ...reason, ...unchecked });
}

/** Rejects these bytes, and ends the checks. The reason mentions it if the URL accepts no more archives. */
export function reject(
  context: Context,
  upload: Upload,
  { rejected_objects = [] }: NodeVersionRecord,
  { finalizerId, versionId, problem }: { finalizerId: string; versionId: string; problem: string },
): Promise<boolean> {
  const rejected = [...rejected_objects, versionId];
  const usedUp = `An upload address accepts ${maxRejections} archives. Publish again for a new one.`;
  const changes: Changes<NodeVersionRecord> = {
    status_reason_code: 'archive_rejected',
    status_reason: rejected.length < maxRejections ? problem : `${problem} ${usedUp}`,
    rejected_objects: rejected,
    ...unchecked,
  };
  return change(context, upload, changes, checkedBy(finalizerId));
}

function checkedBy(finalizerId: string): Clause<NodeVersionRecord> {
  return ['checked_by', '=', finalizerId];
}

/**
 * Node, publisher and credential are read right before the write, but aren't part of it: a transaction that
 * checks them would make all uploads of a publisher or of a token wait for each other. A ban is written
 * before the versions that it bans, and removes each of those from `pending`. So an activation that read the
 * earlier state fails its condition or is banned a moment later. A credential revoked, or a node withdrawn,
 * in that moment stays so after it.
 */
export async function activate(
  context: Context,
  upload: Upload,
  finalizerId: string,
  archive: PublishedArchive,
): Promise<boolean> {
  const found = await readUpload(context, upload, finalizerId);
  if (found.state !== 'awaited') return false;
  const changes: Changes<NodeVersionRecord> = {
    status: 'NodeVersionStatusActive',
    status_reason: null,
    status_reason_code: null,
    archive_key: archive.key,
    size_bytes: archive.sizeBytes,
    sha256: archive.sha256,
    upload_id: null,
    rejected_objects: null,
    ...unchecked,
    published_at: new Date().toISOString(),
  };
  return change(context, upload, changes);
}

/** Changes a version if it still waits for this upload. */
async function change(
  context: Context,
  upload: Upload,
  changes: Changes<NodeVersionRecord>,
  ...clauses: Clause<NodeVersionRecord>[]
): Promise<boolean> {
  const key = nodeVersionKey(upload.nodeId, upload.version);
  const { written } = await update<NodeVersionRecord>(context, key, changes, [
    ['id', '=', upload.versionId],
    ['status', '=', pending],
    ['upload_id', '=', upload.uploadId],
    ...clauses,
  ]);
  return written;
}

/** Updates the node's latest_version after an upload, and has the version's host nodes read. */
export async function finishPublishing(context: Context, nodeId: string, version: string): Promise<void> {
  const owing = await moveLatest(context, nodeId, version).catch((error: unknown) => {
    // Concurrent edits that fit alone can leave no room for another latest version: the node keeps its own.
    if (!(error instanceof ApiError) || error.code !== 'record_too_large') throw error;
    log('warn', 'latest_version_too_large', { node_id: nodeId, version });
    return moveLatest(context, nodeId, version, false);
  });
  if (owing) await sendSoon(context, 'extract', owing);
}

/** The version, if it owes an extraction since then. */
function moveLatest(
  context: Context,
  nodeId: string,
  label: string,
  isShown = true,
): Promise<Owing | undefined> {
  const first = [nodeVersionKey(nodeId, label), nodeKey(nodeId)] as const;
  return decide(context, { first }, ([versionItem, nodeItem]) => {
    const [version, node] = [nodeVersionRecord(versionItem), nodeRecord(nodeItem)];
    if (!version || !node || dueWork(version) !== 'uploads' || version.status === pending)
      return { result: undefined };
    const isDue = version.host_node_extract_status === 'pending';
    const owing = isDue ? owe('extract', version, version.publisher_id) : undefined;
    const changes = owing ?? owesNothing;
    const writes = isShown
      ? versionWrites(node, undefined, [{ before: version, changes }])
      : [updating<NodeVersionRecord>(version, changes, onRevision(version))];
    const upload = { publisherId: version.publisher_id, nodeId, version: label };
    const beside = [() => forgetPending(context, upload)];
    return { writes, beside, result: owing && { ...keyOf(version), ...owing } };
  });
}
