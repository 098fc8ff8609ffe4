import { checkArchive } from '../archives/check-archive.ts';
import { ArchiveProblem } from '../archives/archive-problem.ts';
import { copyOnce, findObject, ObjectChanged } from '../bucket/bucket.ts';
import { downloadUrl } from '../bucket/download-url.ts';
import { archiveKey, type Upload, uploadOf } from '../bucket/object-keys.ts';
import { note } from '../log.ts';
import { activateVersion, findUploadState, refuseUpload, settleVersion } from '../registry/finalizing.ts';

/**
 * What became of an upload. All but the first two mean that there was nothing to do: another finaliser did it,
 * the version waits for another upload, there is no such version, or nothing lies under the key.
 */
export type Outcome = 'published' | 'refused' | 'published_before' | 'superseded' | 'unknown' | 'missing';

/** How often the archive is looked at anew because its URL was used again meanwhile. */
const maxLooks = 5;

/**
 * Publishes the archive under a staging key, or writes down why not. It trusts nothing in the event but the key,
 * so that events may come twice, late or out of order; lib/registry/finalizing.ts has the states.
 */
export async function finalizeUpload(key: string, deadline: number): Promise<Outcome> {
  const upload = uploadOf(key);
  if (!upload) return 'unknown';
  for (let look = 1; ; look += 1) {
    const state = await findUploadState(upload, deadline);
    if (state === 'published') {
      await settleVersion(upload.nodeId, upload.version, deadline);
      return 'published_before';
    }
    if (state !== 'awaited') return state;
    try {
      return await finalize(upload, key, deadline);
    } catch (error) {
      if (!(error instanceof ObjectChanged) || look === maxLooks) throw error;
    }
  }
}

async function finalize(upload: Upload, key: string, deadline: number): Promise<Outcome> {
  const object = await findObject(key);
  if (!object) return 'missing';
  note({ size_bytes: object.sizeBytes });
  const judged = await checkArchive(object).catch(archiveProblemOnly);
  if (judged instanceof ArchiveProblem) {
    note({ reason: judged.message });
    return (await refuseUpload(upload, judged.message)) ? 'refused' : 'superseded';
  }
  const target = archiveKey(upload, judged);
  await copyOnce(object, target);
  const archive = { downloadUrl: downloadUrl(target), sizeBytes: object.sizeBytes, sha256: judged };
  const won = await activateVersion(upload, archive);
  await settleVersion(upload.nodeId, upload.version, deadline);
  return won ? 'published' : 'published_before';
}

function archiveProblemOnly(error: unknown): ArchiveProblem {
  if (error instanceof ArchiveProblem) return error;
  throw error;
}
