import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { type Caller, callerName } from '../caller.ts';
import { ApiError } from '../errors.ts';
import { adminNodeFields, Node, NodeInput } from '@node-registry/registry-rules/schemas/node';
import { isUnset } from '@node-registry/registry-rules/schemas/fields';
import { decide, type Once } from '../store/decide.ts';
import { namesIn, onRevision, withChanges } from '../store/items.ts';
import { isSameNodeId, nodeKey, numbersKey, publisherKey } from '../store/keys.ts';
import { updating, type Write } from '../store/write.ts';
import { parseAsWritten } from '../json.ts';
import { blockOf, may } from './may.ts';
import { historyOf, type NodeRecord, nodeRecord, pickFields, type PublisherRecord } from './records.ts';
import { numbersOf, type NumbersRecord, numbersRecord } from './numbers.ts';
import { nodeVersionView } from './node-versions.ts';
import { presentPublisher, publisherView, underPresentId } from './publishers.ts';

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
export async function changeNode(
  context: Context,
  { nodeId, changes, caller, ifMatch, ...request }: NodeUpdate,
): Promise<OwnedNode> {
  return underPresentId(request.publisherId, (publisherId) => {
    const first = {
      node: nodeKey(nodeId),
      publisher: publisherKey(publisherId),
      numbers: numbersKey(nodeId),
      block: blockOf(caller),
    };
    return decide(context, { first }, (found, once) => {
      const { node, publisher } = may(caller, actionOf(changes, nodeRecord(found.node)), {
        node: nodeRecord(found.node),
        publisher: presentPublisher(found.publisher, publisherId),
        nodeId,
        block: found.block,
      });
      requireMatch(node, ifMatch);
      mayChange(caller, changes, node, 'body');
      const fields = { ...nodeChanges(changes, caller), ...clearedReason(changes, node) };
      const edited_at = new Date(once.now).toISOString();
      const edited = { ...fields, edited_by: callerName(caller), edited_at };
      const after = { ...withChanges(node, edited), revision: node.revision + 1 };
      requireNodeFits(after);
      return {
        writes: [updating(node, edited, onRevision(node)), ...entryOf(node, fields, caller, once)],
        result: { node: after, publisher, numbers: numbersRecord(found.numbers) },
      };
    });
  });
}

function actionOf({ status }: NodeInput, node: NodeRecord | undefined) {
  if (!status || status === node?.status) return 'update node';
  return status === 'NodeStatusDeleted' ? 'withdraw node' : 'restore node';
}

/** The reason of a withdrawal ends with it, unless the request says another. Real clients send it back. */
function clearedReason(changes: NodeInput, node: NodeRecord): { status_detail?: null } {
  const isRestored = node.status === 'NodeStatusDeleted' && changes.status === 'NodeStatusActive';
  return isRestored && changedFields(['status_detail'], changes, node).length === 0
    ? { status_detail: null }
    : {};
}

/** An edit without any field writes no entry. */
function entryOf({ id }: NodeRecord, fields: object, caller: Caller, once: Once): Write[] {
  const edited = namesIn(fields);
  if (edited.length === 0) return [];
  const change = { of: nodeKey(id), action: 'node update', subject: id, detail: edited.join(', ') };
  return [historyOf(caller, change, once)];
}

/** A node id in a body must equal the one in the path. As elsewhere in the service, any other type is ignored. */
export function requireSameNode(nodeId: string, sent: unknown, path: string): void {
  if (typeof sent !== 'string' || sent === '' || isSameNodeId(nodeId, sent)) return;
  throw new ApiError('invalid_request', { details: [{ path, message: 'must be the node id of the path' }] });
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
  const { translations, status, id: _, ...rest } = pickFields(input, NodeInput);
  const fields = {
    ...rest,
    status: status || undefined,
    translations: translations == null ? translations : JSON.stringify(translations),
  };
  if (!isAdmin) for (const field of adminNodeFields) delete fields[field];
  return fields;
}

const banned = 'NodeStatusBanned';

/** Rejects a change of fields that the caller may not change. */
export function mayChange(
  caller: Caller | undefined,
  input: NodeInput,
  node: NodeRecord | undefined,
  path: string,
): void {
  const at = (fields: readonly string[]) => ({ fields: fields.map((field) => `${path}.${field}`) });
  const reserved = changedFields(adminNodeFields, input, node);
  if (reserved.length > 0) may(caller, "change an admin's field", at(reserved));
  const changesBan = Boolean(input.status) && (input.status === banned) !== (node?.status === banned);
  const changesReason = node?.status === banned && changedFields(['status_detail'], input, node).length > 0;
  const ofBan = [...(changesBan ? ['status'] : []), ...(changesReason ? ['status_detail'] : [])];
  if (ofBan.length > 0) may(caller, 'ban or unban node', at(ofBan));
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
  return pickFields(
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
