import { DeleteObjectTaggingCommand, PutObjectTaggingCommand } from '@aws-sdk/client-s3';
import { bucketName, s3, statusOf } from '../../../lib/bucket/bucket.ts';
import { inParallel } from '../../../lib/in-parallel.ts';
import { type NodeVersionRecord, nodeVersionRecord } from '../../../lib/registry/records.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { newContext } from './administration.ts';

/** The mark of an archive that the bucket's policy refuses to the distribution (infra/template/archives.yml). */
export const deniedTag = { Key: 'node-registry', Value: 'denied' } as const;

const maxAtOnce = 8;

/**
 * Marks the archives of banned versions and takes the mark from the others, whatever an earlier run left behind. Returns the
 * keys of the archives that are denied now.
 */
export async function alignArchives(versions: readonly NodeVersionRecord[]): Promise<string[]> {
  const denied: string[] = [];
  await inParallel(versions.values(), maxAtOnce, async (version) => {
    if (version.archive_key === undefined) return;
    if (await alignArchive(version, version.archive_key)) denied.push(version.archive_key);
  });
  return denied.sort();
}

/** Another administrator may ban or unban meanwhile, so the record is read again until it says what was done. */
async function alignArchive({ node_id, version }: NodeVersionRecord, key: string): Promise<boolean> {
  let isBanned: boolean | undefined;
  for (;;) {
    const [item] = await get(newContext(), nodeVersionKey(node_id, version));
    const wanted = nodeVersionRecord(item)?.bans !== undefined;
    if (wanted === isBanned) return wanted;
    await mark(key, wanted);
    isBanned = wanted;
  }
}

async function mark(key: string, isDenied: boolean): Promise<void> {
  const object = { Bucket: bucketName(), Key: key };
  try {
    if (isDenied)
      await s3().send(new PutObjectTaggingCommand({ ...object, Tagging: { TagSet: [deniedTag] } }));
    else await s3().send(new DeleteObjectTaggingCommand(object));
  } catch (error) {
    // An archive that was deleted needs no mark.
    if (statusOf(error) !== 404) throw error;
  }
}
