import { randomUUID } from 'node:crypto';
import { listObjects, markDenied } from '../bucket/bucket.ts';
import { archivesOf, publishedKeyOf, type Upload } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { present } from '../store/items.ts';
import { nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { update } from '../store/write.ts';
import { owesAlignment } from './intents.ts';
import { type NodeRecord, nodeVersionRecord } from './records.ts';

const maxAtOnce = 8;

/**
 * Marks the archives of banned versions below a folder, and removes the mark from the others, even after an
 * interrupted run. Lists the bucket, because a finalizer that died may have copied an archive that no record
 * names. Returns the keys of the archives that are now denied.
 */
export async function alignArchives(context: Context, folder: string): Promise<string[]> {
  const denied: string[] = [];
  const archives = await listObjects(context, folder);
  await inParallel(archives.keys(), maxAtOnce, async (key) => {
    if (await alignArchive(context, key)) denied.push(key);
  });
  return denied.sort();
}

/** For a finalizer that may have copied an archive after a ban listed the bucket. */
export async function denyIfBanned(context: Context, upload: Upload): Promise<void> {
  const [item] = await get(context, nodeVersionKey(upload.nodeId, upload.version));
  const version = nodeVersionRecord(item);
  if (version?.bans === undefined) return;
  const archives = await alignArchives(context, archivesOf(upload));
  // The published archive existed when the ban listed the bucket.
  const denied = archives.filter((key) => key !== version.archive_key);
  if (denied.length === 0) return;
  // The distribution may have copies from before the mark.
  const key = nodeKey(upload.nodeId);
  await update<NodeRecord>(context, key, owesAlignment(key, version.publisher_id, randomUUID()), present);
}

/** An administrator may ban or unban meanwhile, so the record is read again until it matches the mark. */
async function alignArchive(context: Context, key: string): Promise<boolean> {
  const { nodeId = '', version = '' } = publishedKeyOf(key) ?? {};
  let isBanned: boolean | undefined;
  for (;;) {
    const [item] = await get(context, nodeVersionKey(nodeId, version));
    const wanted = nodeVersionRecord(item)?.bans !== undefined;
    if (wanted === isBanned) return wanted;
    await markDenied(key, wanted);
    isBanned = wanted;
  }
}
