import { closest, distance } from 'fastest-levenshtein';
import type { Context } from '../context.ts';
import { type Caller, callerName } from '../caller.ts';
import { ApiError, errorCatalog } from '../errors.ts';
import { note } from '../log.ts';
import { HostNode, type HostNodeInput } from '@node-registry/registry-rules/schemas/host-node';
import { normalizeVersionInPath } from '@node-registry/registry-rules/version-label';
import { absent, type Condition, withChanges } from '../store/items.ts';
import { hostNodeKey, nodeKey, nodeVersionKey, publisherKey } from '../store/keys.ts';
import { get, query } from '../store/read.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { update } from '../store/write.ts';
import { requireAdmin, requireFits, requireNode, requireNotBannedNode } from './nodes.ts';
import { requireOwner } from './publishers.ts';
import {
  type HostNodeRecord,
  hostNodeRecord,
  hostNodeView,
  nodeVersionRecord,
  publisherRecord,
} from './records.ts';

/** Leaves room in DynamoDB's 400 KB an item for the service's own fields. */
const maxHostNodeBytes = 300_000;

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
  return untilWritten(context, async () => {
    const { node, version, current, publisher } = await readAround(context, nodeId, normal, hostNodeName);
    if (node) note({ publisher_id: node.publisher_id });
    if (!caller.isAdmin) requireNotBannedNode(node);
    if (!version) throw new ApiError('node_version_not_found');
    const fields = {
      ...changes,
      policy: changes.policy || (changes.policy === null ? null : undefined),
      host_node_name: hostNodeName,
      touched: touchedBy(changes, current),
      edited_by: callerName(caller),
      edited_at: new Date().toISOString(),
    };
    if (!publisher && !caller.isAdmin) throw new ApiError('forbidden');
    if (publisher) requireOwner(publisher, caller);
    if (!caller.isAdmin && changesBan(current, fields.policy)) requireAdmin(['body.policy']);
    if (!caller.isAdmin && !current && version.host_node_extract_status === 'success')
      throw await unknownHostNode(context, nodeId, normal, hostNodeName);
    requireFits(withChanges(current ?? {}, fields), maxHostNodeBytes);
    const result = await update<HostNodeRecord>(context, key, fields, unchangedSince(current));
    return result.written ? hostNodeView(result.item) : undefined;
  });
}

/**
 * Holds only if there was no write since. The revision isn't enough: an entry that was removed and created
 * again meanwhile starts with the same one.
 */
export function unchangedSince(current: HostNodeRecord | undefined): Condition<HostNodeRecord> {
  if (!current) return absent;
  const { revision, write_id } = current;
  return [
    ['revision', '=', revision],
    write_id === undefined ? ['write_id', 'absent'] : ['write_id', '=', write_id],
  ];
}

/** The fields that a person has written or cleared so far, except `policy`, which no extraction writes. */
function touchedBy(changes: HostNodeInput, current: HostNodeRecord | undefined): string[] {
  const now = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  const touched = new Set(['host_node_name', ...touchedFields(current), ...now]);
  return [...touched].filter((field) => field !== 'policy').sort();
}

/** From the record; in entries older than extraction, a person wrote every field. */
export function touchedFields(current: HostNodeRecord | undefined): readonly string[] {
  if (!current) return [];
  if (current.touched) return current.touched;
  const isExtracted = current.extracted_by !== undefined;
  return isExtracted ? [] : Object.keys(HostNode.shape).filter((field) => field in current);
}

/** Once an archive has been read, its names are known, so another name is most likely misspelled. */
async function unknownHostNode(
  context: Context,
  nodeId: string,
  version: string,
  name: string,
): Promise<ApiError> {
  const { pk, sk: prefix } = hostNodeKey(nodeId, version, '');
  const names: string[] = [];
  for await (const page of query(context, { partition: ['pk', pk], sort: ['sk', 'begins with', prefix] })) {
    names.push(...page.map(({ sk }) => String(sk).slice(prefix.length)));
    // One page has more names than any known pack, and a suggestion isn't worth another read.
    break;
  }
  const meant = nearest(name, names);
  const { message } = errorCatalog.host_node_not_found;
  return new ApiError('host_node_not_found', {
    message: meant === undefined ? message : `${message} Did you mean "${meant}"?`,
  });
}

function nearest(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const found = closest(name, names);
  return distance(name, found) <= Math.max(2, name.length / 3) ? found : undefined;
}

function changesBan(current: HostNodeRecord | undefined, policy: HostNode['policy'] | null): boolean {
  const banned = 'HostNodePolicyBanned';
  return policy !== undefined && (policy === banned) !== (current?.policy === banned);
}

/** The records that decide a change of a host node. The node names its publisher: that is read after it. */
async function readAround(context: Context, nodeId: string, version: string, hostNodeName: string) {
  const [nodeItem, versionItem, current] = await get(
    context,
    nodeKey(nodeId),
    nodeVersionKey(nodeId, version),
    hostNodeKey(nodeId, version, hostNodeName),
  );
  const node = requireNode(nodeItem, nodeId);
  const [publisher] = await get(context, publisherKey(node.publisher_id));
  return {
    node,
    version: nodeVersionRecord(versionItem),
    current: hostNodeRecord(current),
    publisher: publisherRecord(publisher),
  };
}
