import { ArchiveProblem } from '@node-registry/registry-rules/archives/archive-problem';
import { checkArchive } from '@node-registry/registry-rules/archives/check-archive';
import * as config from '../config.ts';
import { copyOnce, deleteObject, findObject, ObjectChanged, type StoredObject } from '../bucket/bucket.ts';
import { archiveKey, decodeKey, stagingKey, uploadOf } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { isObject, type JsonObject } from '../json.ts';
import { log, note } from '../log.ts';
import { denyIfBanned } from '../registry/denied-archives.ts';
import {
  activate,
  dropVersion,
  isOverdue,
  obstacleTo,
  type PendingReason,
  reject,
  wasRejected,
  waitOn,
} from '../registry/finalizing.ts';
import { awaitedUpload } from '../registry/node-versions.ts';
import { type NodeVersionRecord, nodeVersionRecord, pending } from '../registry/records.ts';
import { onRevision } from '../store/items.ts';
import { type Key, nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { updating, write } from '../store/write.ts';
import { owesNothing } from '../work/lanes.ts';
import { type Outcome, worker } from '../work/worker.ts';

/** Publishes archives that arrived. S3's messages come with each use of a signed URL; lib/registry/finalizing.ts has the states. */
export const finalizeUploads = worker<NodeVersionRecord>('finalize', {
  handle: finalizeUpload,
  itemsOf: versionsOf,
  // It is looked at again until it is dropped: its check must not keep the label taken.
  giveUp: (context, version, { last_error }) =>
    version.status === pending && isOverdue(version)
      ? dropVersion(context, version, 'check failed')
      : waitOn(context, version, { last_error }),
});

/** How a look at a version ended. */
type UploadResult =
  /** It waits for its archive, or keeps it until its node, publisher or credential is in good standing. */
  | 'waiting'
  | 'closed'
  /** It has waited for a day. */
  | 'dropped'
  | 'published'
  /** These bytes were rejected, now or before, or the URL is used up. Another archive may have arrived meanwhile. */
  | 'rejected'
  | 'rejected_before'
  /** It is about to follow its publisher. */
  | 'moving'
  /** It has changed meanwhile. */
  | 'superseded';

const isOver: ReadonlySet<UploadResult> = new Set(['waiting', 'closed', 'dropped', 'published']);

/** Publishes the archive that a version waits for, or records why it was rejected. Several may do so at the same time. */
export async function finalizeUpload(context: Context, version: NodeVersionRecord): Promise<Outcome> {
  const { publisher_id, node_id, version: label, token_id, trust_id } = version;
  note({ publisher_id, node_id, version: label, token_id, trust_id });
  if (version.bans) return endBanned(context, version);
  const started = performance.now();
  const object = await findObject(stagingKey(awaitedUpload(version)));
  const outcome = await finalize(context, version, object);
  const ms = Math.round(performance.now() - started);
  log('info', 'upload', { outcome, ms, ...(object && { lag_ms: Date.now() - object.arrivedAt }) });
  if (outcome === 'moving') return { again: {} };
  return isOver.has(outcome) ? 'done' : 'more';
}

/** A finalizer that died may have copied its archive after the ban looked for it. */
async function endBanned(context: Context, version: NodeVersionRecord): Promise<Outcome> {
  await denyIfBanned(context, version);
  await write(context, updating(version, owesNothing, onRevision(version)));
  return 'done';
}

async function finalize(
  context: Context,
  version: NodeVersionRecord,
  object: StoredObject | undefined,
): Promise<UploadResult> {
  if (!object) return wait(context, version, 'waiting');
  note({ key: object.key, size_bytes: object.sizeBytes });
  if (wasRejected(version, object.versionId)) {
    await deleteObject(object);
    return 'rejected_before';
  }
  try {
    return await publish(context, version, object);
  } catch (error) {
    if (error instanceof ObjectChanged) return 'superseded';
    if (!(error instanceof ArchiveProblem)) throw error;
    note({ reason: error.message });
    if (!(await reject(context, version, object.versionId, error.message))) return 'superseded';
    await deleteObject(object);
    return 'rejected';
  }
}

/** Until the next look, or not any longer. */
async function wait(
  context: Context,
  version: NodeVersionRecord,
  outcome: 'waiting' | 'closed',
  reason?: PendingReason,
): Promise<UploadResult> {
  const why = reason?.status_reason_code;
  if (isOverdue(version)) return (await dropVersion(context, version, why)) ? 'dropped' : 'superseded';
  note({ reason: why });
  return (await waitOn(context, version, reason)) ? outcome : 'superseded';
}

/** Throws what is wrong with the archive. */
async function publish(
  context: Context,
  version: NodeVersionRecord,
  object: StoredObject,
): Promise<UploadResult> {
  const { sha256 } = await checkArchive(object, config.archives().MAX_ARCHIVE_BYTES);
  // After the check: a ban meanwhile marked only the archives that it found, and the publisher can compute this one's URL.
  const obstacle = await obstacleTo(context, version);
  if (typeof obstacle === 'string') return obstacle;
  if (obstacle) return wait(context, version, 'closed', obstacle);
  const archive_key = archiveKey(awaitedUpload(version), sha256);
  await copyOnce(object, archive_key);
  if (!(await activate(context, version, { archive_key, size_bytes: object.sizeBytes, sha256 }))) {
    await denyIfBanned(context, version);
    return 'superseded';
  }
  await removeAll(context, object.key);
  return 'published';
}

/**
 * The versions that S3's message is about, in the groups of their publishers, or one's flood would delay all others. A
 * signed URL accepts objects of any size until it expires, so what comes for an upload that is over is deleted.
 */
async function versionsOf(context: Context, { Records, Event }: JsonObject) {
  if (!Array.isArray(Records)) return Event === 's3:TestEvent' ? [] : undefined;
  const versions: (Key & { group: string })[] = [];
  for (const record of Records) {
    const objectKey = decodeKey(String(isObject(record) && keyIn(record)));
    const upload = uploadOf(objectKey);
    if (!upload) continue;
    const key = nodeVersionKey(upload.nodeId, upload.version);
    const version = nodeVersionRecord((await get(context, key))[0]);
    if (version?.id === upload.versionId && version.upload_id === upload.uploadId) {
      // A banned one is looked at when no other finalizer can run.
      if (!version.bans) versions.push({ ...key, group: version.publisher_id });
      continue;
    }
    await removeAll(context, objectKey);
    log('info', 'upload', { outcome: 'superseded', node_id: upload.nodeId, version: upload.version });
  }
  return versions;
}

function keyIn({ s3 }: JsonObject): unknown {
  return isObject(s3) && isObject(s3.object) ? s3.object.key : undefined;
}

/** A URL can be used without limit. */
const maxRemovals = 50;

/** Removing a version of an object uncovers the one before it. */
async function removeAll(context: Context, objectKey: string): Promise<void> {
  for (let steps = 0; steps < maxRemovals && Date.now() < context.deadline; steps += 1) {
    const object = await findObject(objectKey);
    if (!object) return;
    await deleteObject(object);
  }
}
