import { listPages, bucketName, markDenied } from '../bucket/bucket.ts';
import { archivesOf, publishedKeyOf } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { nodeKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { alignLater } from './intents.ts';
import { awaitedUpload, listVersions } from './node-versions.ts';
import { type NodeVersionRecord, nodeRecord, publisherRecord } from './records.ts';

const maxAtOnce = 8;

/**
 * Marks the archives of a node, or of one of its versions, that readers are denied, and removes the mark from the others,
 * even after an interrupted run. Lists the bucket, because a finalizer that died may have copied an archive that no
 * record names. Returns the keys of the archives that are now denied.
 */
export async function alignArchives(context: Context, nodeId: string, folder: string): Promise<string[]> {
  const denied: string[] = [];
  const range = { Bucket: bucketName(), Prefix: folder, MaxKeys: 100 };
  for await (const { Contents = [] } of listPages(context, range)) {
    const marks = new Map<string, boolean>();
    // An administrator may ban or unban meanwhile, so the state is read again until it matches the marks.
    for (;;) {
      const isDenied = await readDenials(context, nodeId);
      const wrong = Contents.filter(({ Key = '' }) => marks.get(Key) !== isDenied(Key));
      if (wrong.length === 0) break;
      await inParallel(wrong.values(), maxAtOnce, async ({ Key = '' }) => {
        marks.set(Key, isDenied(Key));
        await markDenied(Key, isDenied(Key));
      });
    }
    for (const [key, isDenied] of marks) if (isDenied) denied.push(key);
  }
  return denied;
}

/**
 * Which archives are denied: those of banned versions, and all of a node that is banned, or its publisher is. What its
 * versions say follows later.
 */
async function readDenials(context: Context, nodeId: string): Promise<(key: string) => boolean> {
  const node = nodeRecord((await get(context, nodeKey(nodeId)))[0]);
  const owner = node && publisherRecord((await get(context, publisherKey(node.publisher_id)))[0]);
  if (node?.status === 'NodeStatusBanned' || owner?.banned) return () => true;
  const banned = (await listVersions(context, nodeId)).filter(({ bans }) => bans?.version !== undefined);
  const labels = new Set(banned.map(({ version }) => version));
  return (key) => labels.has(publishedKeyOf(key)?.version ?? '');
}

/** For a finalizer that may have copied an archive after a ban listed the bucket. */
export async function denyIfBanned(context: Context, version: NodeVersionRecord): Promise<void> {
  const { node_id, archive_key } = version;
  const denied = await alignArchives(context, node_id, archivesOf(awaitedUpload(version)));
  // The published archive existed when the ban listed the bucket.
  if (denied.every((key) => key === archive_key)) return;
  // The distribution may have copies from before the mark.
  await alignLater(context, node_id, { only: version.version });
}
