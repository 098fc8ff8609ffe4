import type { Context } from '../context.ts';
import { dueShard } from '../store/due.ts';
import { type Changes, onRevision } from '../store/items.ts';
import { update } from '../store/write.ts';
import { isDownloadable } from './node-versions.ts';
import type { NodeVersionRecord } from './records.ts';

/**
 * Has a version read again whose archive could not be read to its end. Its publisher asks for it by publishing it again,
 * which changes nothing else: the archive is the same forever.
 */
export async function extractAgain(context: Context, version: NodeVersionRecord): Promise<void> {
  if (version.extraction_tries === undefined || !isDownloadable(version)) return;
  const changes: Changes<NodeVersionRecord> = {
    host_node_extract_status: 'pending',
    host_node_extract_reason: null,
    extraction: null,
    extraction_tries: null,
    pending_shard: dueShard('host-nodes', version.id),
    pending_since: new Date().toISOString(),
  };
  await update<NodeVersionRecord>(context, version, changes, onRevision(version));
}
