import type { CancellationReason, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';
import { HostNode, type HostNodeInput } from '../schemas/host-node.ts';
import { normalizeVersion } from '../schemas/version-label.ts';
import { fromAttributes, type Item, toAttributes, visibleFields } from '../store/attribute-values.ts';
import { condition, update } from '../store/expressions.ts';
import { hostNodeKey, nodeKey, nodeVersionKey, publisherKey } from '../store/keys.ts';
import { maxRounds, requireLiveNode, requireNode } from './nodes.ts';
import { publisherOf, requireOwner } from './publishers.ts';
import { readTogether, tableName, transact } from '../store/table.ts';

interface Editor {
  userId: string;
  isAdmin: boolean;
}

interface HostNodeUpdate {
  nodeId: string;
  version: string;
  hostNodeName: string;
  changes: HostNodeInput;
  editor: Editor;
  deadline: number;
}

/**
 * Changes one host node. Who may do it stands in the publisher, and which publisher that is stands in the
 * node, so the ownership is checked by the write itself: in one transaction with the change. The change is
 * tied to the revision it was decided on, which makes the answer exact although a transaction returns nothing.
 */
export async function changeHostNode({
  nodeId,
  version,
  hostNodeName,
  changes,
  editor,
  deadline,
}: HostNodeUpdate): Promise<HostNode> {
  const normal = normalizeVersion(version);
  if (normal === undefined) throw new ApiError('node_version_not_found');
  const key = hostNodeKey(nodeId, normal, hostNodeName);
  for (let round = 0; round < maxRounds; round += 1) {
    const [nodeItem, versionItem, current] = await readTogether(
      deadline,
      nodeKey(nodeId),
      nodeVersionKey(nodeId, normal),
      key,
    );
    const node = requireNode(nodeItem, nodeId);
    if (!editor.isAdmin) requireLiveNode(node);
    if (!versionItem) throw new ApiError('node_version_not_found');
    const fields = {
      ...changes,
      policy: changes.policy || (changes.policy === null ? null : undefined),
      host_node_name: hostNodeName,
    };
    if (!editor.isAdmin && changesBan(current, fields.policy)) throw new ApiError('forbidden');
    const expression = update(fields, current ? ['revision', '=', current.revision] : ['pk', 'absent']);
    const failed = await transact(
      [
        { Update: { TableName: tableName, Key: toAttributes(key), ...expression } },
        ...ownershipCheck(String(node.publisher_id), editor),
      ],
      deadline,
    );
    if (!failed) return hostNodeView(current, fields);
    refuseUnlessOwner(failed[1], editor);
  }
  throw new ApiError('conflict');
}

function changesBan(current: Item | undefined, policy: unknown): boolean {
  const banned = 'HostNodePolicyBanned';
  return policy !== undefined && (policy === banned) !== (current?.policy === banned);
}

function ownershipCheck(publisherId: string, { userId, isAdmin }: Editor): TransactWriteItem[] {
  if (isAdmin) return [];
  const check = condition([['members', userId, 'role'], '=', 'owner'], ['banned', 'absent']);
  return [
    {
      ConditionCheck: {
        TableName: tableName,
        Key: toAttributes(publisherKey(publisherId)),
        ...check,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  ];
}

/** Says which part of the ownership check failed; returns where it was only the revision that had moved on. */
function refuseUnlessOwner(reason: CancellationReason | undefined, editor: Editor): void {
  if (reason?.Code !== 'ConditionalCheckFailed') return;
  if (!reason.Item) throw new ApiError('forbidden');
  requireOwner(publisherOf(fromAttributes(reason.Item)), editor);
}

function hostNodeView(current: Item | undefined, fields: Record<string, unknown>): HostNode {
  const view = visibleFields(current ?? {}, HostNode);
  for (const [field, value] of Object.entries(fields)) {
    if (value === null) delete view[field];
    else if (value !== undefined) view[field] = value;
  }
  return view;
}
