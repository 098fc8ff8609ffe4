import { DeleteObjectTaggingCommand, PutObjectTaggingCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../../lib/bucket/bucket.ts';
import { listObjects } from '../../../lib/bucket/list-objects.ts';
import { publishedFolder, publishedKeyOf } from '../../../lib/bucket/object-keys.ts';
import { inParallel } from '../../../lib/in-parallel.ts';
import { nodeVersionRecord } from '../../../lib/registry/records.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { newContext } from './administration.ts';
import { readNode } from './records.ts';

/** The mark of an archive that the bucket's policy denies to the distribution (infra/template/archives.yml). */
export const deniedTag = { Key: 'node-registry', Value: 'denied' } as const;

const maxAtOnce = 8;

/**
 * Marks the archives of a node's banned versions and takes the mark from the others, whatever an earlier run left behind.
 * The bucket is listed, because a finalizer that died may have copied an archive that no record has. Returns the keys of
 * the archives that are denied now.
 */
export async function alignArchives(nodeId: string): Promise<string[]> {
  const { id } = await readNode(newContext(), nodeId);
  const denied: string[] = [];
  const archives = await listObjects(newContext(), publishedFolder(id));
  await inParallel(archives.keys(), maxAtOnce, async (key) => {
    if (await alignArchive(key)) denied.push(key);
  });
  return denied.sort();
}

/** Another administrator may ban or unban meanwhile, so the record is read again until it says what was done. */
async function alignArchive(key: string): Promise<boolean> {
  const { nodeId = '', version = '' } = publishedKeyOf(key) ?? {};
  let isBanned: boolean | undefined;
  for (;;) {
    const [item] = await get(newContext(), nodeVersionKey(nodeId, version));
    const wanted = nodeVersionRecord(item)?.bans !== undefined;
    if (wanted === isBanned) return wanted;
    await mark(key, wanted);
    isBanned = wanted;
  }
}

async function mark(key: string, isDenied: boolean): Promise<void> {
  const object = { Bucket: bucketName(), Key: key };
  if (isDenied) await s3().send(new PutObjectTaggingCommand({ ...object, Tagging: { TagSet: [deniedTag] } }));
  else await s3().send(new DeleteObjectTaggingCommand(object));
}
