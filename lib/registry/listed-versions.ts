import type { Upload } from '../bucket/object-keys.ts';
import type { Context } from '../context.ts';
import type { StatusReasonCode } from 'registry-rules/schemas/node-version';
import type { DueKey } from '../store/due.ts';
import { readAll } from '../store/read.ts';
import { pending } from './node-versions.ts';
import { type NodeVersionRecord, nodeVersionRecord } from './records.ts';

/**
 * A version with work that is due: from its publish until its finalizer is done with it, and then until its host nodes
 * have been extracted. `awaits` is its upload, if it still waits for one.
 */
export interface ListedVersion {
  nodeId: string;
  version: string;
  versionId: string;
  reason: string;
  reasonCode: StatusReasonCode | undefined;
  since: string;
  awaits: Upload | undefined;
  archiveKey: string | undefined;
}

/** All that a sweep needs: a version can hold 120 KB, and a page of them would fill the function's memory. */
const listedFields = [
  'pk',
  'sk',
  'id',
  'node_id',
  'version',
  'status',
  'status_reason',
  'status_reason_code',
  'upload_id',
  'pending_since',
  'archive_key',
] as const satisfies (keyof NodeVersionRecord)[];

/** The versions under some keys of the index, newest first, without those whose work has ended meanwhile. */
export async function readListedVersions(
  context: Context,
  keys: readonly DueKey[],
): Promise<ListedVersion[]> {
  const versions = await readAll(context, keys, { fields: listedFields });
  const listed = versions
    .map((item) => nodeVersionRecord(item))
    .flatMap((version) => listedVersion(version) ?? []);
  return listed.sort((a, b) => b.since.localeCompare(a.since));
}

function listedVersion(record: NodeVersionRecord): ListedVersion | undefined {
  const { id, node_id: nodeId, version, status, status_reason, status_reason_code, upload_id } = record;
  const { pending_since: since } = record;
  if (since === undefined) return undefined;
  const awaits =
    status === pending && upload_id ? { nodeId, version, versionId: id, uploadId: upload_id } : undefined;
  return {
    nodeId,
    version,
    versionId: id,
    reason: status_reason ?? '',
    reasonCode: status_reason_code,
    since,
    awaits,
    archiveKey: record.archive_key,
  };
}
