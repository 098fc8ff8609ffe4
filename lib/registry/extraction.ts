import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ExtractedFields } from '@node-registry/registry-rules/host-node-entries';
import type { Context } from '../context.ts';
import { inParallel } from '../in-parallel.ts';
import { decide } from '../store/decide.ts';
import { type Changes, type Item, onRevision, withChanges } from '../store/items.ts';
import { hostNodeKey, type Key, nodeKey, nodeVersionKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { updating, type Write } from '../store/write.ts';
import { owesNothing } from '../work/lanes.ts';
import {
  type HostNodeRecord,
  hostNodeRecord,
  type NodeVersionRecord,
  nodeRecord,
  nodeVersionRecord,
} from './records.ts';

/*
 * Host nodes read from an archive. An extraction writes only fields that no person has edited, and never a
 * policy. It writes every entry over the revision that it was decided on, and never over a newer extractor's
 * data. So events may come twice, late or in any order, among any edits, and the entries end the same.
 */

/** Increased when an extractor finds something else in the same archive: then it may run again. */
export const extractor = 5;

/** The version and archive that host nodes were read from. */
export type ExtractedArchive = Pick<NodeVersionRecord, 'node_id' | 'version' | 'id' | 'sha256' | 'tries'>;

export interface FoundHostNodes {
  /** The extractor's version. */
  by: number;
  status: 'success' | 'failed';
  reason?: string | undefined;
  nodes: ReadonlyMap<string, ExtractedFields>;
  openFields: number;
  /** Visible to administrators. */
  tags: readonly string[];
}

const maxWritesAtOnce = 20;

/** Write units that the table limits and bills: a version takes this many at once, the rest at this pace. */
const promptUnits = 250;
const unitsPerSecond = 50;
const bytesPerUnit = 1024;

/** The work after the last entry: a read and a transaction. */
const endingMs = 2_000;

/**
 * Writes the entries of a version, a few at a time, because a large archive must leave the table room for
 * others. Returns false if there was no time for all of them; the next call writes only the rest.
 */
export async function writeHostNodes(
  context: Context,
  archive: ExtractedArchive,
  { nodes, by }: Pick<FoundHostNodes, 'nodes' | 'by'>,
): Promise<boolean> {
  const keys = [...nodes.keys()].map((name) => hostNodeKey(archive.node_id, archive.version, name));
  const items = keys.length === 0 ? [] : await get(context, ...keys);
  let units = 0;
  let isComplete = true;
  await inParallel([...nodes].entries(), maxWritesAtOnce, async ([place, [name, fields]]) => {
    const key = keys[place];
    const seen = items[place];
    const entry = { ...fields, host_node_name: name, extracted_by: by };
    if (!key || isWritten(entry, hostNodeRecord(seen))) return;
    const cost = Math.ceil(Buffer.byteLength(JSON.stringify(entry)) / bytesPerUnit);
    units += cost;
    const waitMs = units > promptUnits ? (1000 * maxWritesAtOnce * cost) / unitsPerSecond : 0;
    if (Date.now() + waitMs > context.deadline - endingMs) {
      isComplete = false;
      return;
    }
    if (waitMs > 0) await pause(waitMs);
    await writeHostNode(context, key, entry, seen);
  });
  return isComplete;
}

type Entry = ExtractedFields & { host_node_name: string; extracted_by: number };

function writeHostNode(context: Context, key: Key, entry: Entry, seen: Item | undefined): Promise<void> {
  return decide(context, { first: { item: key }, seen: { item: seen } }, ({ item }) => {
    const current = hostNodeRecord(item);
    if (isWritten(entry, current)) return { result: undefined };
    const touched = current?.touched ?? [];
    const changes = Object.entries(entry).filter(([field]) => !touched.includes(field));
    const written = { ...Object.fromEntries(changes), touched };
    return { writes: [updating<HostNodeRecord>(key, written, onRevision(current))], result: undefined };
  });
}

/** Whether an earlier run of the same extractor, or a newer extractor, has written the entry. */
function isWritten(entry: Entry, current: HostNodeRecord | undefined): boolean {
  if (Number(current?.extracted_by ?? 0) > entry.extracted_by) return true;
  if (!current) return false;
  const stored = new Map<string, unknown>(Object.entries(current));
  return Object.entries(entry).every(
    ([field, value]) =>
      current.touched.includes(field) || isDeepStrictEqual(stored.get(field) ?? null, value),
  );
}

/**
 * Records on the version, and on its node's copy, how its extraction ended; it owes none any more, unless it is listed as
 * given up. Returns false if another archive took its place, or a newer extractor was here.
 */
export function finishExtraction(
  context: Context,
  archive: ExtractedArchive,
  { by, status, reason, nodes, openFields, tags }: FoundHostNodes,
  givenUp?: Changes<NodeVersionRecord>,
): Promise<boolean> {
  const first = { version: nodeVersionKey(archive.node_id, archive.version), node: nodeKey(archive.node_id) };
  return decide(context, { first }, (found, { now }) => {
    const version = nodeVersionRecord(found.version);
    if (version?.id !== archive.id || version.sha256 !== archive.sha256) return { result: false };
    if ((version.extraction?.by ?? 0) > by) return { result: false };
    // Its publisher asked for another reading meanwhile.
    if (givenUp && version.tries !== archive.tries) return { result: false };
    // An administrator's own tags stay, even if the extraction found the same ones.
    const own = (version.tags_admin ?? []).filter((tag) => !version.extraction?.tags?.includes(tag));
    const added = tags.filter((tag) => !own.includes(tag));
    const shown = {
      host_node_extract_status: status,
      host_node_extract_reason: reason ?? null,
      tags_admin: own.length + added.length > 0 ? [...own, ...added] : null,
    };
    const at = new Date(now).toISOString();
    const extraction = { by, at, nodes: nodes.size, open_fields: openFields, tags: added };
    const changes = { ...shown, extraction, ...(givenUp ?? owesNothing) };
    const writes: Write[] = [updating(version, changes, onRevision(version))];
    const node = nodeRecord(found.node);
    if (node?.latest_version?.id === archive.id) {
      const latest_version = withChanges(node.latest_version, shown);
      writes.push(updating(node, { latest_version }, onRevision(node)));
    }
    return { writes, result: true };
  });
}

/** What its owner reads while reading an archive did not end by itself. */
export function unended(tries: number, next: string): string {
  const times = tries === 1 ? 'once' : `${tries} times`;
  return `Reading it was tried ${times} and ran out of time or memory. ${next}; publish the same version again to have it read sooner.`;
}
