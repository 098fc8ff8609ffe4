import { absent, type Clause, type Condition } from '../store/expressions.ts';
import { hostNodeKey, type Key, nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/retries.ts';
import { transact, update, type Write } from '../store/write.ts';
import type { HostNode } from '../schemas/host-node.ts';
import { touchedFields } from './host-nodes.ts';
import {
  type ExtractionSummary,
  type HostNodeRecord,
  hostNodeRecord,
  nodeRecord,
  nodeVersionRecord,
} from './records.ts';

/*
 * Host nodes that were read out of an archive. An extraction writes only what no person touched, and never a policy;
 * every entry is written over the revision that it was decided on. So events may come twice, late or in any order,
 * among any edits, and the entries end the same.
 */

/** Which archive host nodes were read from. */
export interface ExtractedArchive {
  nodeId: string;
  version: string;
  versionId: string;
  sha256: string;
}

/** What an extraction says of a host node; null where it says nothing. */
export type ExtractedFields = {
  [Field in keyof Omit<HostNode, 'policy' | 'host_node_name'>]-?: HostNode[Field] | null;
};

/** `early`: the version is not active yet, or its node does not show it yet. */
export type ExtractionState = 'awaited' | 'early' | 'extracted_before' | 'unknown';

export async function findExtractionState(
  archive: ExtractedArchive,
  extractor: string,
  deadline: number,
): Promise<ExtractionState> {
  const [item] = await get(deadline, nodeVersionKey(archive.nodeId, archive.version));
  const version = nodeVersionRecord(item);
  if (version?.id !== archive.versionId) return 'unknown';
  if (version.status === 'NodeVersionStatusPending' || version.pending_shard !== undefined) return 'early';
  if (version.sha256 !== archive.sha256) return 'unknown';
  return version.extraction?.by === extractor ? 'extracted_before' : 'awaited';
}

const maxWritesAtOnce = 20;

/** Writes the entries of a version, a few at a time. */
export async function writeHostNodes(
  archive: ExtractedArchive,
  nodes: ReadonlyMap<string, ExtractedFields>,
  extractor: string,
  deadline: number,
): Promise<void> {
  const keys = [...nodes.keys()].map((name) => hostNodeKey(archive.nodeId, archive.version, name));
  const items = keys.length === 0 ? [] : await get(deadline, ...keys);
  const left = [...nodes].entries();
  const writeNext = async () => {
    for (const [place, [name, fields]] of left) {
      const key = keys[place];
      const seen = items[place];
      if (key) await writeHostNode(key, name, fields, seen && hostNodeRecord(seen), extractor, deadline);
    }
  };
  await Promise.all(Array.from({ length: maxWritesAtOnce }, writeNext));
}

async function writeHostNode(
  key: Key,
  name: string,
  fields: ExtractedFields,
  seen: HostNodeRecord | undefined,
  extracted_by: string,
  deadline: number,
): Promise<void> {
  let current = seen;
  await untilWritten(deadline, async () => {
    const touched = new Set(touchedFields(current));
    const changes = Object.entries(fields).filter(([field]) => !touched.has(field));
    const unchanged: Condition = current ? [['revision', '=', current.revision]] : absent;
    const entry = {
      ...Object.fromEntries(changes),
      host_node_name: name,
      extracted_by,
      touched: [...touched],
    };
    const result = await update(key, entry, unchanged, deadline);
    if (result.written) return true;
    current = result.found && hostNodeRecord(result.found);
    return undefined;
  });
}

/** Notes on the version how its extraction ended, and on its node's copy. False where another archive took its place. */
export async function finishExtraction(
  archive: ExtractedArchive,
  status: 'success' | 'failed',
  extraction: ExtractionSummary,
  deadline: number,
): Promise<boolean> {
  const versionKey = nodeVersionKey(archive.nodeId, archive.version);
  return untilWritten(deadline, async () => {
    const [versionItem, nodeItem] = await get(deadline, versionKey, nodeKey(archive.nodeId));
    const version = nodeVersionRecord(versionItem);
    if (version?.id !== archive.versionId || version.sha256 !== archive.sha256) return false;
    const same: Clause[] = [
      ['id', '=', archive.versionId],
      ['sha256', '=', archive.sha256],
    ];
    const writes: Write[] = [
      { update: versionKey, changes: { host_node_extract_status: status, extraction }, when: same },
    ];
    const node = nodeRecord(nodeItem);
    if (node?.latest_version?.id === archive.versionId) {
      const latest_version = { ...node.latest_version, host_node_extract_status: status };
      writes.push({ update: node, changes: { latest_version }, when: [['revision', '=', node.revision]] });
    }
    return (await transact(writes, deadline)).length === 0 ? true : undefined;
  });
}
