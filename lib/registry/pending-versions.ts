import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { NodeVersionStatus, StatusReasonCode } from '../schemas/node-version.ts';
import { type Key, keyName, keyOf, pendingIndex } from '../store/keys.ts';
import { query, readBatches } from '../store/read.ts';
import type { Upload } from '../upload.ts';
import { type NodeVersionRecord, nodeVersionRecord } from './records.ts';

/*
 * The index `pending` lists what is left to do. A version stands in it from its publish until its finalizer is done
 * with it, and then, in shards of their own, until its host nodes have been extracted.
 */

export type DueWork = 'upload' | 'extraction';

/** A version on the list of what is left to do; `awaits` is its upload, if it still waits for one. */
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

const shards = [...'0123456789abcdef'];
const extractionPrefix = 'extract-';
const prefixes: Record<DueWork, string> = { upload: '', extraction: extractionPrefix };

/** Where a version is listed for its extraction, once its finalizer is done with it. */
export function extractionShard(uploadShard: string): string {
  return extractionPrefix + uploadShard;
}

/** What is left to do for a version; undefined where nothing is. */
export function dueWork(version: { pending_shard?: string } | undefined): DueWork | undefined {
  const shard = version?.pending_shard;
  if (shard === undefined) return undefined;
  return shard.startsWith(extractionPrefix) ? 'extraction' : 'upload';
}

/** All that a sweep needs: a version can hold 120 KB, and a thousand of them would fill the function's memory. */
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

/** The versions listed between two times, newest first, so that old spam never delays a recent loss. */
export async function findListedVersions(
  context: Context,
  work: DueWork,
  from: string,
  to: string,
): Promise<ListedVersion[]> {
  const keys = (
    await Promise.all(shards.map((shard) => keysOf(context, prefixes[work] + shard, from, to)))
  ).flat();
  // A version that is published again while the index is read can stand on two of its pages.
  const distinct = new Map(keys.map((key) => [keyName(key), key]));
  const listed: ListedVersion[] = [];
  for await (const batch of readBatches(context, [...distinct.values()], { fields: listedFields })) {
    if (batch.unread.length > 0) throw new ApiError('unavailable');
    for (const version of batch.items.map((item) => nodeVersionRecord(item))) {
      if (version.pending_since !== undefined) listed.push(listedVersion(version, version.pending_since));
    }
  }
  return listed.sort((a, b) => b.since.localeCompare(a.since));
}

const pending: NodeVersionStatus = 'NodeVersionStatusPending';

function listedVersion(record: NodeVersionRecord, since: string): ListedVersion {
  const { id, node_id: nodeId, version, status, status_reason, status_reason_code, upload_id } = record;
  const { archive_key: archiveKey } = record;
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
    archiveKey,
  };
}

async function keysOf(context: Context, shard: string, from: string, to: string): Promise<Key[]> {
  const pages = await Array.fromAsync(
    query(context, {
      index: pendingIndex,
      partition: ['pending_shard', shard],
      sort: ['pending_since', 'between', from, to],
    }),
  );
  return pages.flat().map(keyOf);
}
