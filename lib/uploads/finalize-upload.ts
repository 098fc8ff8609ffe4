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
import {
  claimChecks,
  type Finalizer,
  isRefused,
  refusalOf,
  releaseChecks,
} from '../registry/upload-checks.ts';
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

/** How often the upload is looked at again because what was looked at is gone. */
const maxLooks = 5;

/**
 * Publishes the archive under a staging key, or writes down why not. It trusts nothing in the event but the key,
 * so that events may come twice, late or out of order; lib/registry/finalizing.ts has the states.
 */
export async function finalizeUpload(
  key: string,
  finalizer: Finalizer,
  hasTimeFor: (sizeBytes: number) => boolean = () => true,
): Promise<UploadResult> {
  const upload = uploadOf(key);
  if (!upload) return 'unknown';
  const result = await publishOrRefuse(key, upload, finalizer, hasTimeFor);
  if (isOver.has(result)) await removeAll(key, finalizer.deadline);
  return result;
}

async function publishOrRefuse(
  key: string,
  upload: Upload,
  finalizer: Finalizer,
  hasTimeFor: (sizeBytes: number) => boolean,
): Promise<UploadResult> {
  const { deadline } = finalizer;
  let nothingThere: 'missing' | 'refused_before' | 'refused' = 'missing';
  for (let look = 1; ; look += 1) {
    const object = await findObject(key);
    const state = await findUploadState(upload, deadline, object?.versionId);
    if (state !== 'awaited' && state !== 'refused') return conclude(upload, state, deadline);
    if (!object) return nothingThere;
    if (state === 'refused') {
      await deleteObject(object);
      if (nothingThere === 'missing') nothingThere = 'refused_before';
      continue;
    }
    if (!hasTimeFor(object.sizeBytes)) return 'postponed';
    const version = await claimChecks(upload, finalizer);
    if (!version) return 'in_progress';
    if (isRefused(version, object.versionId)) {
      // Another finalizer refused it between the look and the claim.
      await releaseChecks(upload, finalizer);
      continue;
    }
    try {
      const result = await finalize(upload, version, object, deadline);
      if (result !== 'refused') return result;
      // The events of what arrived meanwhile ended at the claim.
      nothingThere = result;
    } catch (error) {
      if (error instanceof ObjectChanged && look < maxLooks) continue;
      await releaseChecks(upload, finalizer);
      throw error;
    }
  }
}

/**
 * A signed address takes objects of any size as long as it lasts, so nothing stays there. Removing a version of an object
 * uncovers the one before it, and the events of what arrived during a check ended at the claim.
 */
async function removeAll(key: string, deadline: number): Promise<void> {
  while (Date.now() < deadline) {
    const object = await findObject(key);
    if (!object) return;
    await deleteObject(object);
  }
}

async function finalize(
  upload: Upload,
  version: NodeVersionRecord,
  object: StoredObject,
  deadline: number,
): Promise<UploadResult> {
  note({ size_bytes: object.sizeBytes });
  const checked = await checkArchive(object).catch(archiveProblemOnly);
  if (checked instanceof ArchiveProblem) {
    note({ reason: checked.message });
    const refusal = refusalOf(version, object.versionId, checked.message);
    if (!(await keepPending(upload, refusal, deadline))) return 'superseded';
    // Last, so that a deletion that fails is done by the next event, which reads in the record that it is due.
    await deleteObject(object);
    return 'refused';
  }
  const target = archiveKey(upload, checked);
  await copyOnce(object, target);
  const archive = { key: target, sizeBytes: object.sizeBytes, sha256: checked };
  const result = await activateVersion(upload, archive, deadline);
  if (result !== 'activated') return conclude(upload, result, deadline);
  await completeVersion(upload.nodeId, upload.version, deadline);
  return 'published';
}

/** Ends an upload that is not to be published, now or any more. */
async function conclude(upload: Upload, state: Hindrance, deadline: number): Promise<UploadResult> {
  if (state === 'published') {
    await completeVersion(upload.nodeId, upload.version, deadline);
    return 'published_before';
  }
  if (typeof state === 'string') return state;
  note({ reason: state.status_reason_code });
  return (await keepPending(upload, state, deadline)) ? 'blocked' : 'superseded';
}

function archiveProblemOnly(error: unknown): ArchiveProblem {
  if (error instanceof ArchiveProblem) return error;
  throw error;
}
