import type { Context } from '../context.ts';
import type { Caller } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { adminNodeFields, Node, NodeInput } from '../schemas/node.ts';
import type { Item } from '../store/attribute-values.ts';
import { type Clause, withChanges } from '../store/expressions.ts';
import { isSameNodeId, nodeKey, publisherKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { untilWritten } from '../store/retries.ts';
import { update } from '../store/write.ts';
import type { DownloadUrl } from '../upload.ts';
import { nodeVersionView } from './node-versions.ts';
import { publisherView, requireOwner, requirePublisher } from './publishers.ts';
import { type NodeRecord, nodeRecord, type PublisherRecord, shownFields } from './records.ts';

/**
 * A node shares DynamoDB's 400 KB an item with the copy of its latest version, so each has its own bound:
 * were the sum open, a version could arrive that can never become the latest.
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
}

/**
 * Changes the named fields and nothing else, so that two writers on different fields both win. The write
 * carries what the decision rested on as its condition; where that has changed, the decision is made again.
 */
export function changeNode(context: Context, request: NodeUpdate): Promise<OwnedNode> {
  const { publisherId, nodeId, changes, caller, ifMatch } = request;
  return untilWritten(context, async () => {
    const [nodeItem, publisherItem] = await get(context, nodeKey(nodeId), publisherKey(publisherId));
    const publisher = requirePublisher(publisherItem);
    const node = requireEditableNode(nodeItem, request, publisher);
    const condition = [...nodeClauses(publisherId, caller), ...revisionClauses(node, ifMatch)];
    const fields = nodeChanges(changes, caller);
    requireSameBan(node, fields.status, 'body.status');
    requireNodeFits(withChanges(node, fields));
    const result = await update<NodeRecord>(context, nodeKey(nodeId), fields, condition);
    return result.written ? { node: result.item, publisher } : undefined;
  });
}

export function requireNode(item: Item | undefined, nodeId: string): NodeRecord {
  const node = nodeRecord(item);
  if (!node || !isSameNodeId(node.id, nodeId)) throw new ApiError('node_not_found');
  return node;
}

/** A node id sent in a body may be left empty; otherwise it must be the one of the path. */
export function requireSameNode(nodeId: string, sent: string | null | undefined): void {
  if (!sent || isSameNodeId(nodeId, sent)) return;
  const message = 'must be the node id of the path';
  throw new ApiError('invalid_request', { details: [{ path: 'body.node.id', message }] });
}

/** A node that everyone but admins finds usable: neither deleted nor banned. */
export function requireLiveNode(node: NodeRecord): void {
  if (node.status === 'NodeStatusDeleted') throw new ApiError('node_not_found');
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
  if (!caller.isAdmin) requireLiveNode(node);
  return node;
}

/** What must still hold when a node is written: whose it is, and for all but admins that it is in use. */
export function nodeClauses(publisherId: string, { isAdmin }: Pick<Caller, 'isAdmin'>): Clause<NodeRecord>[] {
  const owned: Clause<NodeRecord> = ['publisher_id', '=', publisherId];
  return isAdmin ? [owned] : [owned, ['status', '=', 'NodeStatusActive']];
}

function revisionClauses(node: NodeRecord, ifMatch: string | undefined): Clause<NodeRecord>[] {
  if (ifMatch === undefined || ifMatch.trim() === '*') return [];
  const wanted = ifMatch.split(',').map((etag) => etag.trim());
  if (!wanted.includes(etagOf(node))) throw new ApiError('precondition_failed');
  return [['revision', '=', node.revision]];
}

export function etagOf(node: NodeRecord): string {
  return `"${node.revision}"`;
}

/** The attributes that an update sets or, with null, removes. Fields only for admins count only from them. */
export function nodeChanges(input: NodeInput, { isAdmin }: Pick<Caller, 'isAdmin'>) {
  // A publish also carries the node's id, which the path has decided: only what a caller may say is taken.
  const { translations, status, ...rest } = shownFields<NodeInput>(input, NodeInput);
  const fields = {
    ...rest,
    status: status || undefined,
    translations: translations && JSON.stringify(translations),
  };
  const names = Object.keys(fields).filter((name) => isAdmin || !adminNodeFields.includes(name));
  return Object.fromEntries(names.map((name) => [name, fields[name as keyof typeof fields]])) as Partial<
    typeof fields
  >;
}

/**
 * A ban also takes the downloads of a node, version by version, and leaves a history: that is the administration's.
 * Set here it would do half of that, and an admin who sends an old copy of a node back would lift one unawares.
 */
export function requireSameBan(
  node: NodeRecord | undefined,
  status: NodeRecord['status'] | undefined,
  path: string,
): void {
  const banned = 'NodeStatusBanned';
  if (status === undefined || (status === banned) === (node?.status === banned)) return;
  const message =
    'cannot set or lift a ban; the operator does that with "npm run admin -- node ban" or "unban"';
  throw new ApiError('invalid_request', { details: [{ path, message }] });
}

export function requireNodeFits({ latest_version: _, ...node }: Partial<NodeRecord>): void {
  requireFits(node, maxNodeBytes);
}

/** DynamoDB's own refusal of a large item comes only with the write, and takes a transaction with it. */
export function requireFits(record: object, maxBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(record)) > maxBytes) throw new ApiError('record_too_large');
}

/** A node as callers see it: with its publisher, without bookkeeping. */
export function nodeView({ node, publisher }: OwnedNode, downloadUrl: DownloadUrl): Node {
  const { translations, latest_version, ...fields } = node;
  return shownFields<Node>(
    {
      ...fields,
      ...(translations !== undefined && { translations: JSON.parse(translations) }),
      ...(latest_version && { latest_version: nodeVersionView(latest_version, downloadUrl) }),
      publisher: publisherView(publisher),
    },
    Node,
  );
}
