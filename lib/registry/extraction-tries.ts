import type { Context } from '../context.ts';
import { dueWork, notDue } from '../store/due.ts';
import { type Changes, onRevision } from '../store/items.ts';
import { type Key, nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { update } from '../store/write.ts';
import { type ExtractedArchive, finishExtraction, type FoundHostNodes } from './extraction.ts';
import { type NodeVersionRecord, nodeVersionRecord, pending } from './records.ts';

/**
 * What stands in the way of reading an archive. `early`: its version is not active yet, or its node does not show it yet;
 * `exhausted`: it was tried often enough.
 */
export type ExtractionState = 'awaited' | 'exhausted' | 'early' | 'extracted_before' | 'unknown';

/** By the receives of the queue and an hour between its sweeps, they take about two and a half hours. */
const maxTries = 12;
const pauseMs = 60 * 60 * 1000;

const dueLater = () => ({ pending_since: new Date(Date.now() + pauseMs).toISOString() });

/** Marks a try before the archive is read, so that one that is killed counts, and is due again later. */
export async function beginExtraction(
  context: Context,
  archive: ExtractedArchive,
  by: number,
): Promise<ExtractionState> {
  return untilWritten(context, async () => {
    const [item] = await get(context, nodeVersionKey(archive.nodeId, archive.version));
    const version = nodeVersionRecord(item);
    const state = extractionState(version, archive, by);
    const isListed = dueWork(version) === 'host-nodes';
    if (!version || (state !== 'awaited' && !(state === 'extracted_before' && isListed))) return state;
    const changes = state === 'awaited' ? begun(version, isListed) : notDue;
    const { written } = await update<NodeVersionRecord>(context, version, changes, onRevision(version));
    return written ? state : undefined;
  });
}

function extractionState(
  version: NodeVersionRecord | undefined,
  archive: ExtractedArchive,
  by: number,
): ExtractionState {
  if (version?.id !== archive.versionId) return 'unknown';
  if (version.status === pending || dueWork(version) === 'uploads') return 'early';
  if (version.sha256 !== archive.sha256) return 'unknown';
  if (version.extraction && version.extraction.by >= by) return 'extracted_before';
  return (version.extraction_tries ?? 0) < maxTries ? 'awaited' : 'exhausted';
}

function begun({ extraction_tries = 0 }: NodeVersionRecord, isListed: boolean): Changes<NodeVersionRecord> {
  return {
    extraction_tries: extraction_tries + 1,
    ...(extraction_tries > 0 && { host_node_extract_reason: unended(extraction_tries, 'It is tried again') }),
    ...(isListed && dueLater()),
  };
}

function unended(tries: number, next: string): string {
  const times = tries === 1 ? 'once' : `${tries} times`;
  return `Reading it was tried ${times} and ran out of time or memory. ${next}; publish the same version again to have it read sooner.`;
}

/** Ends an extraction that was tried often enough. It says nothing about the pack, so a publish begins it again. */
export function giveUpExtraction(context: Context, archive: ExtractedArchive, by: number): Promise<boolean> {
  const reason = unended(maxTries, 'It is not tried again by itself');
  const found: FoundHostNodes = { by, status: 'failed', reason, nodes: new Map(), openFields: 0, tags: [] };
  return finishExtraction(context, archive, found, { tries: maxTries });
}

/** Lists a version for later, before a message about it is sent. False if it is no longer due, or was taken meanwhile. */
export async function postponeExtraction(
  context: Context,
  { pending_since, ...key }: Key & { pending_since: string },
): Promise<boolean> {
  const { written } = await update<NodeVersionRecord>(context, key, dueLater(), [
    ['pending_since', '=', pending_since],
  ]);
  return written;
}
