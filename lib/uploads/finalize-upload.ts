import type { Context } from '../context.ts';
import { ArchiveProblem } from '@node-registry/registry-rules/archives/archive-problem';
import * as config from '../config.ts';
import { checkArchive } from '@node-registry/registry-rules/archives/check-archive';
import { copyOnce, deleteObject, findObject, ObjectChanged, type StoredObject } from '../bucket/bucket.ts';
import { archiveKey, type Upload, uploadOf } from '../bucket/object-keys.ts';
import { note } from '../log.ts';
import { denyIfBanned } from '../registry/denied-archives.ts';
import {
  activate,
  beginChecks,
  close,
  endChecks,
  finishPublishing,
  readUpload,
  reject,
} from '../registry/finalizing.ts';
import type { NodeVersionRecord } from '../registry/records.ts';

/** The state of an upload for its version, as a finalizer or a sweep reports it. */
export type UploadState =
  /** The version does not exist. */
  | 'unknown'
  /** The version was published again, and waits for another upload. */
  | 'superseded'
  /** The version is banned, or its node, publisher or credential is not in good standing. */
  | 'closed'
  /** The version has this archive; `published` if this finalizer published it. */
  | 'published'
  | 'published_before'
  /** The version waits for this upload, but these bytes were rejected, or the URL is used up. */
  | 'rejected'
  | 'rejected_before'
  /** Another finalizer checks an archive of this upload. */
  | 'in_progress'
  /** The version waits for its upload; its key has no object. A sweep reports `waiting` or `abandoned`. */
  | 'missing'
  | 'waiting'
  | 'abandoned'
  /** A sweep had no time for the check. */
  | 'unvisited'
  /** A sweep found an active version, and only had to update its node's latest_version. */
  | 'completed';

/** After these, nothing under the object key is ever published. */
const isOver: ReadonlySet<UploadState> = new Set(['published', 'published_before', 'superseded', 'unknown']);

/** After these, an earlier run or this one may have copied an archive that no record names. */
const mayBeBanned: ReadonlySet<UploadState> = new Set(['closed', 'published_before', 'superseded']);

/** How often the upload is read again because the object version found before is gone. */
const maxLooks = 5;

/** A URL can be used without limit, and each use has an event of its own. */
const maxSteps = 50;

/** One finalizer's work on one upload. */
interface Finalization {
  upload: Upload;
  objectKey: string;
  finalizerId: string;
  hasTimeFor: (sizeBytes: number) => boolean;
}

/**
 * Publishes the archive under a staging key, or records why it was rejected. Trusts only the key in the
 * event, so events may come twice, late or out of order; lib/registry/finalizing.ts has the states.
 */
export async function finalizeUpload(
  context: Context,
  objectKey: string,
  finalizerId: string,
  hasTimeFor: (sizeBytes: number) => boolean = () => true,
): Promise<UploadState> {
  const upload = uploadOf(objectKey);
  if (!upload) return 'unknown';
  const result = await takeSteps(context, { upload, objectKey, finalizerId, hasTimeFor });
  if (result === 'published' || result === 'published_before')
    await finishPublishing(context, upload.nodeId, upload.version);
  if (mayBeBanned.has(result)) await denyIfBanned(context, upload);
  if (isOver.has(result)) await removeAll(context, objectKey);
  return result;
}

/** Reads the current state and takes the next step, until nothing is left to do. */
async function takeSteps(context: Context, finalization: Finalization): Promise<UploadState> {
  const { upload, objectKey, finalizerId, hasTimeFor } = finalization;
  // Events of uploads that arrive during a check end when they find it running, so after a rejection look for
  // the next upload.
  let last: UploadState = 'missing';
  for (let looks = 1; looks <= maxSteps; looks += 1) {
    const object = await findObject(objectKey);
    const found = await readUpload(context, upload, finalizerId, object?.versionId);
    if (found.state === 'closed') {
      note({ reason: found.reason?.status_reason_code });
      if (!found.reason || (await close(context, upload, found.reason))) return 'closed';
    } else if (found.state === 'rejected_before' && object) {
      await deleteObject(object);
      if (last === 'missing') last = 'rejected_before';
    } else if (found.state !== 'awaited') return found.state;
    else if (!object) return last;
    else if (!hasTimeFor(object.sizeBytes)) return 'unvisited';
    else if (await beginChecks(context, found.version, finalizerId)) {
      const publishing = publishOrReject(context, finalization, found.version, object);
      const result = await publishing.catch(async (error: unknown) => {
        if (error instanceof ObjectChanged && looks < maxLooks) return undefined;
        await endChecks(context, upload, finalizerId);
        throw error;
      });
      if (result === 'published') return result;
      last = result ?? last;
    }
  }
  return last;
}

/** Checks the archive, and copies or deletes it accordingly. Undefined if the version changed meanwhile. */
async function publishOrReject(
  context: Context,
  { upload, finalizerId }: Finalization,
  version: NodeVersionRecord,
  object: StoredObject,
): Promise<'published' | 'rejected' | undefined> {
  const { versionId, sizeBytes } = object;
  note({ size_bytes: sizeBytes });
  const checked = await checkArchive(object, config.archives().MAX_ARCHIVE_BYTES).catch(archiveProblemOnly);
  if (checked instanceof ArchiveProblem) {
    note({ reason: checked.message });
    const rejected = { finalizerId, versionId, problem: checked.message };
    if (!(await reject(context, upload, version, rejected))) return undefined;
    await deleteObject(object);
    return 'rejected';
  }
  const { sha256 } = checked;
  const archive = { key: archiveKey(upload, sha256), sizeBytes, sha256 };
  // A ban during the check marked only the archives that it found, and the publisher can compute this one's URL.
  if ((await readUpload(context, upload, finalizerId)).state !== 'awaited') return undefined;
  await copyOnce(object, archive.key);
  return (await activate(context, upload, finalizerId, archive)) ? 'published' : undefined;
}

function archiveProblemOnly(error: unknown): ArchiveProblem {
  if (error instanceof ArchiveProblem) return error;
  throw error;
}

/**
 * A signed URL accepts objects of any size until it expires, so nothing stays there. Removing a version of an
 * object uncovers the one before it, and the events of objects that arrived during a check ended when they
 * found it running.
 */
async function removeAll(context: Context, objectKey: string): Promise<void> {
  for (let steps = 0; steps < maxSteps && Date.now() < context.deadline; steps += 1) {
    const object = await findObject(objectKey);
    if (!object) return;
    await deleteObject(object);
  }
}
