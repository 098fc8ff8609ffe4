import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';
import { adminNodeFields, Node, NodeInput } from '../schemas/node.ts';
import { fromAttributes, type Item, toAttributes, visibleFields } from '../store/attribute-values.ts';
import { type Clause, update } from '../store/expressions.ts';
import { isSameNodeId, nodeKey, publisherKey } from '../store/keys.ts';
import { type PublisherRecord, publisherView, requireOwner, requirePublisher } from './publishers.ts';
import { dynamodb, readTogether, storeError, tableName } from '../store/table.ts';

/**
 * A node shares DynamoDB's 400 KB an item with the copy of its latest version, so each has its own bound:
 * were the sum open, a version could arrive that can never become the latest.
 */
export const maxNodeBytes = 260_000;

interface Editor {
  userId: string;
  isAdmin: boolean;
}

interface NodeUpdate {
  publisherId: string;
  nodeId: string;
  changes: NodeInput;
  editor: Editor;
  ifMatch: string | undefined;
  deadline: number;
}

/** How often a write that lost a race is decided anew before the caller is asked to try again. */
export const maxRounds = 20;

/**
 * Changes the named fields and nothing else, so that two writers on different fields both win. The write
 * carries what the decision rested on as its condition; where that has changed, the decision is made again.
 */
export async function changeNode({ publisherId, nodeId, changes, editor, ifMatch, deadline }: NodeUpdate) {
  for (let round = 0; round < maxRounds; round += 1) {
    const [nodeItem, publisherItem] = await readTogether(
      deadline,
      nodeKey(nodeId),
      publisherKey(publisherId),
    );
    const publisher = requirePublisher(publisherItem);
    const node = requireEditableNode(nodeItem, nodeId, publisher, editor);
    const clauses = [...nodeClauses(publisher.id, editor), ...revisionClauses(node, ifMatch)];
    const fields = nodeChanges(changes, editor);
    assertFits({ ...node, ...fields, latest_version: undefined }, maxNodeBytes);
    const written = await write(nodeId, fields, clauses);
    if (written) return { node: nodeView(written, publisher), etag: etagOf(written) };
  }
  throw new ApiError('conflict');
}

export function requireNode(item: Item | undefined, nodeId: string): Item {
  if (!item || !isSameNodeId(String(item.id), nodeId)) throw new ApiError('node_not_found');
  return item;
}

/** A node id sent in a body may be left empty, and must else be the one of the path. */
export function requireSameNode(nodeId: string, sent: string | null | undefined): void {
  if (!sent || isSameNodeId(nodeId, sent)) return;
  const message = 'must be the node id of the path';
  throw new ApiError('invalid_request', { details: [{ path: 'body.node.id', message }] });
}

/** A node that everyone but admins finds usable: neither deleted nor banned. */
export function requireLiveNode(node: Item): void {
  if (node.status === 'NodeStatusDeleted') throw new ApiError('node_not_found');
  if (node.status === 'NodeStatusBanned') throw new ApiError('node_banned');
}

function requireEditableNode(
  item: Item | undefined,
  nodeId: string,
  publisher: PublisherRecord,
  editor: Editor,
): Item {
  const node = requireNode(item, nodeId);
  if (node.publisher_id !== publisher.id) throw new ApiError('forbidden');
  requireOwner(publisher, editor);
  if (!editor.isAdmin) requireLiveNode(node);
  return node;
}

/** What must still hold when a node is written: whose it is, and for all but admins that it is in use. */
export function nodeClauses(publisherId: string, { isAdmin }: { isAdmin: boolean }): Clause[] {
  const owned: Clause = ['publisher_id', '=', publisherId];
  return isAdmin ? [owned] : [owned, ['status', '=', 'NodeStatusActive']];
}

function revisionClauses(node: Item, ifMatch: string | undefined): Clause[] {
  if (ifMatch === undefined || ifMatch.trim() === '*') return [];
  const wanted = ifMatch.split(',').map((etag) => etag.trim());
  if (!wanted.includes(etagOf(node))) throw new ApiError('precondition_failed');
  return [['revision', '=', node.revision]];
}

function etagOf(node: Item): string {
  return `"${node.revision}"`;
}

/** The attributes that an update sets or, with null, removes. Fields only for admins count only from them. */
export function nodeChanges(input: NodeInput, { isAdmin }: { isAdmin: boolean }): Record<string, unknown> {
  // A publish also carries the node's id, which the path has decided: only what a caller may say is taken.
  const { translations, status, ...rest } = visibleFields(input, NodeInput) as NodeInput;
  const fields: Record<string, unknown> = {
    ...rest,
    status: status || undefined,
    // Stored as text: DynamoDB's maps bound the depth and the size of numbers, free-form objects do not.
    translations: translations && JSON.stringify(translations),
  };
  if (!isAdmin) for (const field of adminNodeFields) delete fields[field];
  return fields;
}

export function assertFits(record: Item, maxBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(record)) > maxBytes) throw new ApiError('record_too_large');
}

async function write(
  nodeId: string,
  fields: Record<string, unknown>,
  clauses: Clause[],
): Promise<Item | undefined> {
  const write_id = randomUUID();
  try {
    const { Attributes } = await dynamodb.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: toAttributes(nodeKey(nodeId)),
        ...update({ ...fields, write_id }, ...clauses),
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return fromAttributes(Attributes ?? {});
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw storeError(error);
    // The write went through and only its answer was lost: the SDK's own retry then meets what it wrote.
    const stored = fromAttributes(error.Item ?? {});
    return stored.write_id === write_id ? stored : undefined;
  }
}

/** A node as callers see it: with its publisher, without bookkeeping. */
export function nodeView(item: Item, publisher: PublisherRecord): Node {
  const { translations, ...fields } = visibleFields(item, Node);
  return {
    ...fields,
    ...(translations !== undefined && { translations: JSON.parse(String(translations)) }),
    publisher: publisherView(publisher),
  };
}
