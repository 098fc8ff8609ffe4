import { randomUUID } from 'node:crypto';
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';
import type { NodeInput } from '../schemas/node.ts';
import type { NodeVersion, NodeVersionInput } from '../schemas/node-version.ts';
import { type Item, toAttributes } from '../store/attribute-values.ts';
import { type Clause, condition, update } from '../store/expressions.ts';
import {
  isSameNodeId,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
  publisherKey,
} from '../store/keys.ts';
import { maxVersionBytes, nodeVersionView, versionFields, waitingForUpload } from './node-versions.ts';
import { assertFits, maxNodeBytes, maxRounds, nodeChanges, nodeClauses, requireLiveNode } from './nodes.ts';
import { requireMember, requireNotBanned, requirePublisher } from './publishers.ts';
import { readTogether, tableName, transact } from '../store/table.ts';

interface Publication {
  publisherId: string;
  nodeId: string;
  node: NodeInput;
  version: NodeVersionInput;
  /** The SHA-256 of the personal access token. */
  tokenHash: string;
  caller: { userId: string; isAdmin: boolean } | undefined;
  deadline: number;
}

interface Registration {
  version: NodeVersion;
  /** Names the one upload that may bring this version's archive. */
  upload: { nodeId: string; version: string; versionId: string; uploadId: string };
}

/**
 * Registers a version as pending, in one read and one transaction, so that there is never a version without
 * its node or a node without its first version:
 *
 *   no such version   -> pending   the node is created with it, or takes the new metadata
 *   pending           -> pending   resumed: same id, new metadata, and only the new upload counts from here on
 *   archive arrived   -> refused   version_exists, and nothing changes
 *
 * Of concurrent publishes of one version the first one's transaction wins; the others find their condition
 * failed, read again, and resume what the first one began.
 */
export async function registerVersion(publication: Publication): Promise<Registration> {
  const { publisherId, nodeId, version, tokenHash, deadline } = publication;
  for (let round = 0; round < maxRounds; round += 1) {
    const [publisher, token, node, existing] = await readTogether(
      deadline,
      publisherKey(publisherId),
      personalAccessTokenKey(publisherId, tokenHash),
      nodeKey(nodeId),
      nodeVersionKey(nodeId, version.version),
    );
    guard(publication, publisher, token, node, existing);
    const record = versionRecord(publication, node, existing);
    const failed = await transact(
      [writeNode(publication, node), writeVersion(record, existing), noteUse(publisherId, tokenHash)],
      deadline,
    );
    if (!failed) return { version: nodeVersionView(record), upload: uploadOf(record) };
  }
  throw new ApiError('conflict');
}

function guard(
  { publisherId, nodeId, caller }: Publication,
  publisherItem: Item | undefined,
  token: Item | undefined,
  node: Item | undefined,
  existing: Item | undefined,
): void {
  const publisher = requirePublisher(publisherItem);
  if (!token || token.revoked_at !== undefined || String(token.expires_at) <= new Date().toISOString()) {
    throw new ApiError('invalid_personal_access_token');
  }
  if (caller) requireMember(publisher, caller.userId);
  requireNotBanned(publisher);
  if (node) {
    if (!isSameNodeId(String(node.id), nodeId)) throw new ApiError('node_id_taken');
    if (node.publisher_id !== publisherId) throw new ApiError('forbidden');
    if (node.status === 'NodeStatusDeleted') throw new ApiError('node_id_taken');
    requireLiveNode(node);
  }
  if (existing && existing.status !== 'NodeVersionStatusPending') throw new ApiError('version_exists');
}

function versionRecord(
  { publisherId, nodeId, version, caller }: Publication,
  node: Item | undefined,
  existing: Item | undefined,
) {
  const now = new Date().toISOString();
  const id = existing ? String(existing.id) : randomUUID();
  const record = {
    ...nodeVersionKey(nodeId, version.version),
    ...versionFields(version, { isAdmin: caller?.isAdmin ?? false }),
    version: version.version,
    id,
    node_id: node ? String(node.id) : nodeId,
    publisher_id: publisherId,
    createdAt: existing ? String(existing.createdAt) : now,
    status: 'NodeVersionStatusPending',
    status_reason: waitingForUpload,
    host_node_extract_status: 'pending',
    revision: existing ? Number(existing.revision) + 1 : 1,
    upload_id: randomUUID(),
    // Spread over sixteen partitions of the index, so that it carries as many publishes as the table does.
    pending_shard: id.slice(0, 1),
    pending_since: now,
  };
  assertFits(record, maxVersionBytes);
  return record;
}

function uploadOf(record: ReturnType<typeof versionRecord>): Registration['upload'] {
  const { node_id, version, id, upload_id } = record;
  return { nodeId: node_id, version, versionId: id, uploadId: upload_id };
}

function writeNode(
  { publisherId, nodeId, node: input, caller }: Publication,
  node: Item | undefined,
): TransactWriteItem {
  const editor = { isAdmin: caller?.isAdmin ?? false };
  const changes = nodeChanges(input, editor);
  const born = {
    id: nodeId,
    publisher_id: publisherId,
    created_at: new Date().toISOString(),
    status: 'NodeStatusActive',
  };
  assertFits({ ...node, ...changes, latest_version: undefined }, maxNodeBytes);
  const absent: Clause[] = [['pk', 'absent']];
  const expression = node
    ? update(changes, ...nodeClauses(publisherId, editor))
    : update({ ...changes, ...born, status: changes.status ?? born.status }, ...absent);
  return { Update: { TableName: tableName, Key: toAttributes(nodeKey(nodeId)), ...expression } };
}

function writeVersion(record: Item, existing: Item | undefined): TransactWriteItem {
  const clauses: Clause[] = existing
    ? [
        ['id', '=', existing.id],
        ['status', '=', 'NodeVersionStatusPending'],
      ]
    : [['pk', 'absent']];
  return { Put: { TableName: tableName, Item: toAttributes(record), ...condition(...clauses) } };
}

function noteUse(publisherId: string, tokenHash: string): TransactWriteItem {
  const key = toAttributes(personalAccessTokenKey(publisherId, tokenHash));
  const expression = update(
    { last_used_at: new Date().toISOString() },
    ['pk', 'exists'],
    ['revoked_at', 'absent'],
  );
  return { Update: { TableName: tableName, Key: key, ...expression } };
}
