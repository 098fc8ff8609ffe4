import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { type Caller, callerName } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { adminNodeFields, Node, NodeInput } from '@node-registry/registry-rules/schemas/node';
import { isUnset } from '@node-registry/registry-rules/schemas/fields';
import { type Clause, type Item, onRevision, withChanges } from '../store/items.ts';
import { isSameNodeId, nodeKey, numbersKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/dynamodb.ts';
import { transact, updating, type Write } from '../store/write.ts';
import { parseAsWritten } from '../json.ts';
import { historyOf, type NodeRecord, nodeRecord, pickFields, type PublisherRecord } from './records.ts';
import { numbersOf, type NumbersRecord, numbersRecord } from './numbers.ts';
import { nodeVersionView } from './node-versions.ts';
import { movedTo, publisherView, requireOwner, requirePublisher } from './publishers.ts';

/**
 * A node shares DynamoDB's 400 KB an item with the copy of its latest version, so each has its own limit:
 * with only a common one, a version could be published that can never become the latest.
 */
const maxNodeBytes = 260_000;

interface NodeUpdate {
  publisherId: string;
  nodeId: string;
  changes: NodeInput;
  caller: Caller;
  ifMatch: string | undefined;
}

interface OwnedNode {
  node: NodeRecord;
  publisher: PublisherRecord;
  numbers: NumbersRecord | undefined;
}

/**
 * Changes only the named fields, so that two writers of different fields both win. The decision holds for the
 * revision that was read; if the revision has changed, it is made again.
 */
export function changeNode(context: Context, request: NodeUpdate): Promise<OwnedNode> {
  const { publisherId, nodeId, changes, caller, ifMatch } = request;
  return untilWritten(context, async () => {
    const [nodeItem, publisherItem, numbersItem] = await get(
      context,
      nodeKey(nodeId),
      publisherKey(publisherId),
      numbersKey(nodeId),
    );
    const moved = movedTo(publisherItem, publisherId);
    if (moved !== undefined) return changeNode(context, { ...request, publisherId: moved });
    const publisher = requirePublisher(publisherItem);
    const node = requireEditableNode(nodeItem, request, publisher);
    requireMatch(node, ifMatch);
    requireMayChange(changes, node, caller, 'body');
    const fields = nodeChanges(changes, caller);
    const edited = { ...fields, edited_by: callerName(caller), edited_at: new Date().toISOString() };
    const after = { ...withChanges(node, edited), revision: node.revision + 1 };
    requireNodeFits(after);
    const edit = updating<NodeRecord>(node, edited, onRevision(node));
    const failed = await transact(context, [edit, ...entryOf(node, fields, caller)]);
    const numbers = numbersRecord(numbersItem);
    return failed.length === 0 ? { node: after, publisher, numbers } : undefined;
  });
}

/** An edit without any field writes no entry. */
function entryOf({ id }: NodeRecord, fields: object, caller: Caller): Write[] {
  const edited = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (edited.length === 0) return [];
  const change = { of: nodeKey(id), action: 'node update', subject: id, detail: edited.join(', ') };
  return [historyOf(callerName(caller), change)];
}

export function requireNode(item: Item | undefined, nodeId: string): NodeRecord {
  const node = nodeRecord(item);
  if (!node || !isSameNodeId(node.id, nodeId)) throw new ApiError('node_not_found');
  return node;
}

/** A node id in a body must equal the one in the path. As elsewhere in the service, any other type is ignored. */
export function requireSameNode(nodeId: string, sent: unknown, path: string): void {
  if (typeof sent !== 'string' || sent === '' || isSameNodeId(nodeId, sent)) return;
  throw new ApiError('invalid_request', { details: [{ path, message: 'must be the node id of the path' }] });
}

export function requireNotBannedNode(node: NodeRecord): void {
  if (node.status === 'NodeStatusBanned') throw new ApiError('node_banned');
}

function requireEditableNode(
  item: Item | undefined,
  { nodeId, caller }: NodeUpdate,
  publisher: PublisherRecord,
): NodeRecord {
  const node = requireNode(item, nodeId);
  if (node.publisher_id !== publisher.id) throw new ApiError('forbidden');
  requireOwner(publisher, caller);
  if (!caller.isAdmin) requireNotBannedNode(node);
  return node;
}

/** The condition of a publish on its node: its owner, and the status that the change was decided on. */
export function nodeClauses({ publisher_id, status }: NodeRecord): Clause<NodeRecord>[] {
  return [
    ['publisher_id', '=', publisher_id],
    ['status', '=', status],
  ];
}

function requireMatch(node: NodeRecord, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const wanted = ifMatch.split(',').map((etag) => etag.trim());
  if (!wanted.includes(etagOf(node))) throw new ApiError('precondition_failed');
}

export function etagOf(node: NodeRecord): string {
  return `"${node.revision}"`;
}

/** The attributes that an update sets or, with null, removes. */
export function nodeChanges(input: NodeInput, { isAdmin }: Pick<Caller, 'isAdmin'>) {
  // The path has decided the node's id.
  const { translations, status, id: _, ...rest } = pickFields<NodeInput>(input, NodeInput);
  const fields = {
    ...rest,
    status: status || undefined,
    translations: translations == null ? translations : JSON.stringify(translations),
  };
  if (!isAdmin) for (const field of adminNodeFields) delete fields[field];
  return fields;
}

const banned = 'NodeStatusBanned';

/**
 * Rejects a change that the caller may not make. A ban also blocks the downloads of a node, version by
 * version, and leaves a history: only the administration does all of that. A status set here would do half of
 * it, and an admin who sends an old copy of a node back would lift a ban by accident.
 */
export function requireMayChange(
  input: NodeInput,
  node: NodeRecord | undefined,
  { isAdmin }: Pick<Caller, 'isAdmin'>,
  path: string,
): void {
  if (!isAdmin) requireAdmin(changedFields(adminNodeFields, input, node).map((field) => `${path}.${field}`));
  const changesBan = Boolean(input.status) && (input.status === banned) !== (node?.status === banned);
  const changesReason = node?.status === banned && changedFields(['status_detail'], input, node).length > 0;
  const fields = [...(changesBan ? ['status'] : []), ...(changesReason ? ['status_detail'] : [])];
  if (fields.length === 0) return;
  const message =
    'cannot set or lift a ban; the operator does that with "npm run admin -- node ban" or "unban"';
  throw new ApiError('invalid_request', {
    details: fields.map((field) => ({ path: `${path}.${field}`, message })),
  });
}

/** The fields whose sent value differs from the stored one; null, "" and [] count as unset. */
export function changedFields<Field extends string>(
  fields: readonly Field[],
  sent: Partial<Record<Field, unknown>>,
  stored: Partial<Record<Field, unknown>> | undefined,
): Field[] {
  return fields.filter((field) => {
    const [a, b] = [sent[field], stored?.[field]];
    return a !== undefined && !(isUnset(a) && isUnset(b)) && !isDeepStrictEqual(a, b);
  });
}

export function requireAdmin(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const details = paths.map((path) => ({ path, message: 'can be changed only by an admin' }));
  throw new ApiError('forbidden', { details });
}

export function requireNodeFits({ latest_version: _, ...node }: Partial<NodeRecord>): void {
  requireFits(node, maxNodeBytes);
}

/** DynamoDB's own rejection of a large item comes only with the write, and cancels the whole transaction. */
export function requireFits(record: object, maxBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(record)) > maxBytes) throw new ApiError('record_too_large');
}

/** A node as callers see it: with its publisher, without bookkeeping. */
export function nodeView({ node, publisher, numbers }: OwnedNode): Node {
  const { translations, latest_version, ...fields } = node;
  return pickFields<Node>(
    {
      ...fields,
      ...numbersOf(numbers),
      ...(translations !== undefined && { translations: parseAsWritten(translations) }),
      ...(latest_version && { latest_version: nodeVersionView(latest_version) }),
      publisher: publisherView(publisher),
    },
    Node,
  );
}
