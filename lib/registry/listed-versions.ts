import type { Upload } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import type { DueKey } from '../store/due.ts';
import { readAll } from '../store/read.ts';
import { pending } from './node-versions.ts';
import { type NodeVersionRecord, nodeVersionRecord } from './records.ts';

/** All that a sweep needs: a version can hold 120 KB, and a page of them would fill the function's memory. */
const listedFields = [
  ...(['pk', 'sk', 'id', 'node_id', 'version', 'status', 'status_reason'] as const),
  ...(['upload_id', 'pending_since', 'archive_key'] as const),
] satisfies (keyof NodeVersionRecord)[];

/** A version with work that is due: until its finalizer is done with it, and then until its host nodes are read. */
export type ListedVersion = Pick<NodeVersionRecord, (typeof listedFields)[number]> & {
  pending_since: string;
};

/** The versions under some keys of the index, newest first, without those whose work has ended meanwhile. */
export async function readListedVersions(
  context: Context,
  keys: readonly DueKey[],
): Promise<ListedVersion[]> {
  const versions = (await readAll(context, keys, { fields: listedFields })).flatMap((item) => {
    const { pending_since, ...version } = nodeVersionRecord(item);
    return pending_since === undefined ? [] : [{ ...version, pending_since }];
  });
  return versions.sort((a, b) => b.pending_since.localeCompare(a.pending_since));
}

/** The upload that a version still waits for, if it does. */
export function awaitedUpload(listed: ListedVersion): Upload | undefined {
  const { node_id: nodeId, version, id: versionId, upload_id: uploadId, status } = listed;
  return status === pending && uploadId ? { nodeId, version, versionId, uploadId } : undefined;
}
