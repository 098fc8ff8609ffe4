import type { ExtractedArchive } from '../../../lib/registry/extraction.ts';
import { touchedFields, unchangedSince } from '../../../lib/registry/host-nodes.ts';
import { type HostNodeRecord, hostNodeRecord } from '../../../lib/registry/records.ts';
import { HostNode } from '../../../lib/schemas/host-node.ts';
import { hostNodeKey } from '../../../lib/store/keys.ts';
import { untilWritten } from '../../../lib/store/retries.ts';
import { remove, update } from '../../../lib/store/write.ts';
import { listItems } from './administration.ts';

/** Of entries that an extraction does not find any more, only what a person wrote stays. */
export async function removeOtherHostNodes(
  { nodeId, version }: ExtractedArchive,
  names: ReadonlySet<string>,
  deadline: number,
): Promise<string[]> {
  const removed: string[] = [];
  for (const item of await listItems(hostNodeKey(nodeId, version, ''))) {
    const entry = hostNodeRecord(item);
    if (names.has(entry.host_node_name) || entry.extracted_by === undefined) continue;
    await removeExtracted(entry, deadline);
    removed.push(entry.host_node_name);
  }
  return removed;
}

async function removeExtracted(entry: HostNodeRecord, deadline: number): Promise<void> {
  let current: HostNodeRecord | undefined = entry;
  await untilWritten(deadline, async () => {
    if (current?.extracted_by === undefined) return true;
    const unchanged = unchangedSince(current);
    const touched = touchedFields(current);
    const result =
      touched.length === 0
        ? await remove(current, unchanged, deadline)
        : await update(current, { ...cleared(touched), extracted_by: null }, unchanged, deadline);
    if (result.written) return true;
    current = result.found && hostNodeRecord(result.found);
    return undefined;
  });
}

function cleared(touched: readonly string[]): object {
  const kept = [...touched, 'policy'];
  const extracted = Object.keys(HostNode.shape).filter((field) => !kept.includes(field));
  return Object.fromEntries(extracted.map((field) => [field, null]));
}
