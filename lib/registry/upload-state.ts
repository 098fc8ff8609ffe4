import type { Context } from '../context.ts';
import { note } from '../log.ts';
import type { NodeVersionStatus, StatusReasonCode } from '../schemas/node-version.ts';
import {
  type Key,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
  publisherKey,
  trustKey,
} from '../store/keys.ts';
import { get } from '../store/read.ts';
import type { Upload } from '../bucket/object-keys.ts';
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

/** What an upload is for its version, and what a finalizer or a sweep reports about it. */
export type UploadState =
  /** The version does not exist. */
  | 'unknown'
  /** The version was published again, and waits for another upload. */
  | 'superseded'
  /** The version is banned, or its node, publisher or credential is not in good standing. */
  | 'blocked'
  /** The archive is the version's; `published` if this finalizer made it so. */
  | 'published'
  | 'published_before'
  /** The version waits for this upload, but these bytes were rejected, or the URL is used up. */
  | 'refused'
  | 'refused_before'
  /** Another finalizer checks an archive of this upload. */
  | 'in_progress'
  | 'awaited'
  /** Awaited, and nothing lies under the key; a sweep reports which of the two it is. */
  | 'missing'
  | 'waiting'
  | 'abandoned'
  /** A sweep had no time for the check. */
  | 'unvisited'
  /** A sweep found an active version, and only its node's latest_version was left to do. */
  | 'completed';

/** Why a version stays pending, for a program and for its publisher. */
export interface PendingReason {
  status_reason_code: StatusReasonCode;
  status_reason: string;
}

type FoundUpload =
  | { state: 'awaited'; version: NodeVersionRecord }
  | { state: 'blocked'; reason?: PendingReason }
  | { state: 'unknown' | 'superseded' | 'published_before' | 'refused_before' | 'in_progress' };

export const pending: NodeVersionStatus = 'NodeVersionStatusPending';

/** A person who puts a corrected archive to the same URL gets these tries; then a publish makes a new URL. */
export const maxRefusals = 5;

/** Decides by one read what an upload is, for a finalizer that found this object under its key. */
export async function readUpload(
  context: Context,
  upload: Upload,
  finalizer: string,
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
  if (status !== pending) return { state: 'blocked' };
  const [publisher, credential] = await get(context, publisherKey(publisher_id), credentialKey(version));
  const reason =
    obstacle(nodeRecord(node), publisherRecord(publisher)) ??
    revocation(version, credentialRecord(credential));
  if (reason) return { state: 'blocked', reason };
  if (isRefused(version, objectVersion)) return { state: 'refused_before' };
  const { checked_by = finalizer, checked_until = 0 } = version;
  if (checked_by !== finalizer && checked_until > Date.now()) return { state: 'in_progress' };
  return { state: 'awaited', version };
}

/** The record of the credential that a version was published with. */
function credentialKey({ publisher_id, trust_id, token_hash = '' }: NodeVersionRecord): Key {
  return trust_id === undefined
    ? personalAccessTokenKey(publisher_id, token_hash)
    : trustKey(publisher_id, trust_id);
}

/** Whether this object was rejected, or the URL that it came by is used up. */
function isRefused({ refused_objects = [] }: NodeVersionRecord, objectVersion?: string): boolean {
  if (objectVersion === undefined) return false;
  return refused_objects.includes(objectVersion) || refused_objects.length >= maxRefusals;
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
