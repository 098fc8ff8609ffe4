import { closest, distance } from 'fastest-levenshtein';
import type { Context } from '../context.ts';
import { type Caller, callerName } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import type { HostNode, HostNodeInput } from '@node-registry/registry-rules/schemas/host-node';
import { normalizeVersionInPath } from '@node-registry/registry-rules/version-label';
import { type Condition, namesIn, onRevision, Plus, withChanges } from '../store/items.ts';
import {
  hostNodeBansKey,
  hostNodeKey,
  hostNodeTotalsKey,
  type Key,
  nodeKey,
  nodeVersionKey,
  publisherKey,
} from '../store/keys.ts';
import { decide, type Found } from '../store/decide.ts';
import { updating, type Write } from '../store/write.ts';
import { blockOf, may } from './may.ts';
import { requireFits } from './nodes.ts';
import {
  type HostNodeBansRecord,
  type HostNodeRecord,
  type HostNodeTotalsRecord,
  hostNodeBansRecord,
  hostNodeRecord,
  hostNodeTotalsRecord,
  hostNodeView,
  nodeRecord,
  nodeVersionRecord,
  publisherRecord,
  standingEntry,
} from './records.ts';

/** Leaves room in DynamoDB's 400 KB an item for the service's own fields. */
const maxHostNodeBytes = 300_000;

/** More than any known pack has: a suggestion is worth one read. */
const maxNames = 5000;

/** What people may write for one version: the index reads all of it for each change. */
const maxWritten = { bytes: 2_000_000, names: 10_000 };

interface HostNodeUpdate {
  nodeId: string;
  version: string;
  hostNodeName: string;
  changes: HostNodeInput;
  caller: Caller;
}

/**
 * Changes one host node. The write depends only on the revision that it was decided on: a check of the
 * publisher inside the write would make all host nodes of a publisher wait for each other.
 */
export function changeHostNode(
  context: Context,
  { nodeId, version, hostNodeName, changes, caller }: HostNodeUpdate,
): Promise<HostNode> {
  const normal = normalizeVersionInPath(version);
  if (normal === undefined) throw new ApiError('node_version_not_found');
  const key = hostNodeKey(nodeId, normal, hostNodeName);
  const names = hostNodeKey(nodeId, normal, '');
  const totalsKey = hostNodeTotalsKey(nodeId, normal);
  const bansKey = hostNodeBansKey(nodeId);
  const first = {
    node: nodeKey(nodeId),
    version: nodeVersionKey(nodeId, normal),
    entry: key,
    totals: totalsKey,
    bans: bansKey,
    block: blockOf(caller),
  };
  const following = ({ node, version, entry }: Found<typeof first>) => {
    const isNamed = entry !== undefined || nodeVersionRecord(version)?.host_node_extract_status !== 'success';
    return {
      publisher: node && publisherKey(nodeRecord(node).publisher_id),
      page: { below: isNamed || caller.isAdmin ? undefined : names, limit: maxNames },
    };
  };
  return decide(
    context,
    { first, following },
    ({ node, version, entry, totals, block, publisher, page, ...others }, { now }) => {
      const [stored, bans] = [hostNodeRecord(entry), hostNodeBansRecord(others.bans)];
      const policy = changes.policy || (changes.policy === null ? null : undefined);
      const found = {
        block,
        node: nodeRecord(node),
        version: nodeVersionRecord(version),
        publisher: publisherRecord(publisher),
        nodeId,
      };
      const current = stored && standingEntry(stored, { ...found.version });
      if (found.node) note({ publisher_id: found.node.publisher_id });
      may(caller, 'update host node', found);
      const banning = changeOfBans(bansKey, bans, hostNodeName, policy);
      if (banning) may(caller, 'ban or unban host node', { ...found, fields: ['body.policy'] });
      // Once an archive has been read, its names are known, so another name is most likely misspelled.
      const known = page.map(({ sk }) => String(sk).slice(names.sk.length));
      if (!current) may(caller, 'add host node', { ...found, meant: nearest(hostNodeName, known) });
      const fields = {
        ...changes,
        // The node keeps its bans.
        policy: policy === banned ? undefined : policy,
        host_node_name: hostNodeName,
        touched: touchedBy(changes, current),
        edited_by: callerName(caller),
        edited_at: new Date(now).toISOString(),
      };
      requireFits(withChanges(current ?? {}, fields), maxHostNodeBytes);
      const before = current ?? { ...key, host_node_name: hostNodeName, touched: [], revision: 0 };
      const after = withChanges<HostNodeRecord>(before, fields);
      const counted = countWritten(totalsKey, hostNodeTotalsRecord(totals), current, after);
      const write = updating<HostNodeRecord>(key, fields, onRevision(stored));
      return {
        writes: [write, ...counted, ...(banning?.writes ?? [])],
        result: hostNodeView(after, banning ? banning.after : bans),
      };
    },
  );
}

/** Counts what a person adds to a version, or rejects what is too much. Nothing to write if both are of one size. */
function countWritten(
  key: Key,
  totals: Partial<HostNodeTotalsRecord> = {},
  before: HostNodeRecord | undefined,
  after: HostNodeRecord,
): Write[] {
  const bytes = writtenBytes(after) - writtenBytes(before);
  const names = before?.touched.length ? 0 : 1;
  if (bytes === 0 && names === 0) return [];
  const room = { bytes: maxWritten.bytes - Math.max(0, bytes), names: maxWritten.names - names };
  if ((bytes > 0 && (totals.bytes ?? 0) > room.bytes) || (names > 0 && (totals.names ?? 0) > room.names))
    throw new ApiError('record_too_large', { message: tooMuchWritten });
  const isRoom: Condition<HostNodeTotalsRecord> = [
    ...(bytes > 0 ? [['bytes', 'absent or <=', room.bytes] as const] : []),
    ...(names > 0 ? [['names', 'absent or <=', room.names] as const] : []),
  ];
  const changes = { bytes: new Plus(bytes), names: new Plus(names) };
  return [updating<HostNodeTotalsRecord>(key, changes, isRoom)];
}

const tooMuchWritten =
  'The host nodes that people have written for this version would have more than 2 MB, or more than 10,000 names.';

function writtenBytes(entry: HostNodeRecord | undefined): number {
  if (!entry) return 0;
  const written = entry.touched.map((field) => entry[field as keyof HostNodeRecord]);
  return Buffer.byteLength(JSON.stringify(written));
}

/** The fields that a person has written or cleared so far, except `policy`, which no extraction writes. */
function touchedBy(changes: HostNodeInput, current: HostNodeRecord | undefined): string[] {
  const touched = new Set(['host_node_name', ...(current?.touched ?? []), ...namesIn(changes)]);
  return [...touched].filter((field) => field !== 'policy').sort();
}

function nearest(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const found = closest(name, names);
  return distance(name, found) <= Math.max(2, name.length / 3) ? found : undefined;
}

const banned = 'HostNodePolicyBanned';

/** A ban holds for a name in every version, or an owner could publish it again. Undefined if none changes. */
function changeOfBans(
  key: Key,
  bans: HostNodeBansRecord | undefined,
  name: string,
  policy: HostNode['policy'] | null | undefined,
): { after: HostNodeBansRecord; writes: Write[] } | undefined {
  const others = bans?.names.filter((each) => each !== name) ?? [];
  const isBanned = others.length !== (bans?.names.length ?? 0);
  if (policy === undefined || (policy === banned) === isBanned) return undefined;
  const names = isBanned ? others : [...others, name];
  const after = { ...key, revision: 0, ...bans, names };
  requireFits(after, maxHostNodeBytes);
  return { after, writes: [updating<HostNodeBansRecord>(key, { names }, onRevision(bans))] };
}
