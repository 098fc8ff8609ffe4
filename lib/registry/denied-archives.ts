import { listObjects, markDenied } from '../bucket/bucket.ts';
import { archivesOf, publishedKeyOf, type Upload } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { log } from '../log.ts';
import { nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { nodeVersionRecord } from './records.ts';

const maxAtOnce = 8;

/**
 * Marks the archives of banned versions below a folder, and removes the mark from the others, even after an
 * interrupted run. Lists the bucket, because a finalizer that died may have copied an archive that no record
 * names. Returns the keys of the archives that are now denied.
 */
export async function alignArchives(newContext: () => Context, folder: string): Promise<string[]> {
  const denied: string[] = [];
  const archives = await listObjects(newContext(), folder);
  await inParallel(archives.keys(), maxAtOnce, async (key) => {
    if (await alignArchive(newContext, key)) denied.push(key);
  });
  return denied.sort();
}

/** For a finalizer that may have copied an archive after a ban listed the bucket. */
export async function denyIfBanned(context: Context, upload: Upload): Promise<void> {
  const [item] = await get(context, nodeVersionKey(upload.nodeId, upload.version));
  const version = nodeVersionRecord(item);
  if (version?.bans === undefined) return;
  const archives = await alignArchives(() => context, archivesOf(upload));
  // The published archive existed when the ban listed the bucket.
  const denied = archives.filter((key) => key !== version.archive_key);
  // Only the ban's command makes the distribution drop copies cached before the mark. An alarm watches this
  // line.
  if (denied.length > 0) log('warn', 'copied_during_ban', { denied, remedy: 'Run the ban again.' });
}

/** An administrator may ban or unban meanwhile, so the record is read again until it matches the mark. */
async function alignArchive(newContext: () => Context, key: string): Promise<boolean> {
  const { nodeId = '', version = '' } = publishedKeyOf(key) ?? {};
  let isBanned: boolean | undefined;
  for (;;) {
    const [item] = await get(newContext(), nodeVersionKey(nodeId, version));
    const wanted = nodeVersionRecord(item)?.bans !== undefined;
    if (wanted === isBanned) return wanted;
    await markDenied(key, wanted);
    isBanned = wanted;
  }
}
