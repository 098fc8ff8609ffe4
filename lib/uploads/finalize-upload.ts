import type { Context } from '../context.ts';
import { ArchiveProblem } from '../archives/archive-problem.ts';
import { checkArchive } from '../archives/check-archive.ts';
import { copyOnce, deleteObject, findObject, ObjectChanged, type StoredObject } from '../bucket/bucket.ts';
import { archiveKey, uploadOf } from '../bucket/object-keys.ts';
import { note } from '../log.ts';
import {
  activateVersion,
  completeVersion,
  findUploadState,
  type Hindrance,
  keepPending,
} from '../registry/finalizing.ts';
import type { NodeVersionRecord } from '../registry/records.ts';
import { claimChecks, isRefused, refusalOf, releaseChecks } from '../registry/upload-checks.ts';
import type { Upload } from '../upload.ts';

/**
 * What became of an upload. `refused` is about the archive, `blocked` about its version, node, publisher or token. The
 * rest means that there was nothing to do: another finalizer did it or is at it, the version waits for another upload,
 * there is no such version, or nothing lies under the key; or, `postponed`, that there is no time for a check.
 */
export type UploadResult =
  | 'published'
  | 'refused'
  | 'blocked'
  | 'published_before'
  | 'refused_before'
  | 'in_progress'
  | 'superseded'
  | 'unknown'
  | 'missing'
  | 'postponed';

/** After these, nothing under the key is ever published. */
const isOver: ReadonlySet<UploadResult> = new Set(['published', 'published_before', 'superseded', 'unknown']);

/** How often the upload is looked up again because the looked-up version is gone. */
const maxLooks = 5;

/**
 * Publishes the archive under a staging key, or writes down why not. It trusts nothing in the event but the key,
 * so that events may come twice, late or out of order; lib/registry/finalizing.ts has the states.
 */
export async function finalizeUpload(
  context: Context,
  key: string,
  finalizer: string,
  hasTimeFor: (sizeBytes: number) => boolean = () => true,
): Promise<UploadResult> {
  const upload = uploadOf(key);
  if (!upload) return 'unknown';
  const result = await publishOrRefuse(context, key, { upload, finalizer, hasTimeFor });
  if (isOver.has(result)) await removeAll(context, key);
  return result;
}

interface Check {
  upload: Upload;
  finalizer: string;
  hasTimeFor: (sizeBytes: number) => boolean;
}

async function publishOrRefuse(
  context: Context,
  key: string,
  { upload, finalizer, hasTimeFor }: Check,
): Promise<UploadResult> {
  let nothingThere: 'missing' | 'refused_before' | 'refused' = 'missing';
  for (let look = 1; ; look += 1) {
    const object = await findObject(key);
    const state = await findUploadState(context, upload, object?.versionId);
    if (state !== 'awaited' && state !== 'refused') return conclude(context, upload, state);
    if (!object) return nothingThere;
    if (state === 'refused') {
      await deleteObject(object);
      if (nothingThere === 'missing') nothingThere = 'refused_before';
      continue;
    }
    if (!hasTimeFor(object.sizeBytes)) return 'postponed';
    const version = await claimChecks(context, upload, finalizer);
    if (!version) return 'in_progress';
    if (isRefused(version, object.versionId)) {
      // Another finalizer refused it between the look and the claim.
      await releaseChecks(context, upload, finalizer);
      continue;
    }
    try {
      const result = await finalize(context, upload, version, object);
      if (result !== 'refused') return result;
      // The events of uploads that arrived meanwhile ended at the claim.
      nothingThere = result;
    } catch (error) {
      if (error instanceof ObjectChanged && look < maxLooks) continue;
      await releaseChecks(context, upload, finalizer);
      throw error;
    }
  }
}

/**
 * A signed address takes objects of any size as long as it lasts, so nothing stays there. Removing a version of an object
 * uncovers the one before it, and the events of what arrived during a check ended at the claim.
 */
async function removeAll(context: Context, key: string): Promise<void> {
  while (Date.now() < context.deadline) {
    const object = await findObject(key);
    if (!object) return;
    await deleteObject(object);
  }
}

async function finalize(
  context: Context,
  upload: Upload,
  version: NodeVersionRecord,
  object: StoredObject,
): Promise<UploadResult> {
  note({ size_bytes: object.sizeBytes });
  const checked = await checkArchive(object).catch(archiveProblemOnly);
  if (checked instanceof ArchiveProblem) {
    note({ reason: checked.message });
    const refusal = refusalOf(version, object.versionId, checked.message);
    if (!(await keepPending(context, upload, refusal))) return 'superseded';
    // Last, so that a deletion that fails is done by the next event, which reads in the record that it is due.
    await deleteObject(object);
    return 'refused';
  }
  const target = archiveKey(upload, checked);
  await copyOnce(object, target);
  const archive = { key: target, sizeBytes: object.sizeBytes, sha256: checked };
  const result = await activateVersion(context, upload, archive);
  if (result !== 'activated') return conclude(context, upload, result);
  await completeVersion(context, upload.nodeId, upload.version);
  return 'published';
}

/** Ends an upload that is not to be published, now or any more. */
async function conclude(context: Context, upload: Upload, state: Hindrance): Promise<UploadResult> {
  if (state === 'published') {
    await completeVersion(context, upload.nodeId, upload.version);
    return 'published_before';
  }
  if (typeof state === 'string') return state;
  note({ reason: state.status_reason_code });
  return (await keepPending(context, upload, state)) ? 'blocked' : 'superseded';
}

function archiveProblemOnly(error: unknown): ArchiveProblem {
  if (error instanceof ArchiveProblem) return error;
  throw error;
}
