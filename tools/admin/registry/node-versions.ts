import { isDeepStrictEqual } from 'node:util';
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { NodeVersion } from '../../../lib/schemas/node-version.ts';
import { compareVersions, normalizeVersion } from '../../../lib/schemas/version-label.ts';
import { newDeadline, untilWritten } from './administration.ts';
import { type Item, toAttributes } from '../../../lib/store/attribute-values.ts';
import { update } from '../../../lib/store/expressions.ts';
import { nodeVersionKey } from '../../../lib/store/keys.ts';
import { latestOf } from '../../../lib/registry/latest-version.ts';
import { listItems } from './listing.ts';
import { noSuchVersion, readNode } from './nodes.ts';
import { nodeVersionView } from '../../../lib/registry/node-versions.ts';
import { Refusal } from './refusal.ts';
import { tableName, transact } from '../../../lib/store/table.ts';

/*
 * The states of a version as administrators move it; the way from pending to active is the upload's:
 *
 *   active  -> flagged   and back by unflag    a warning: it can still be downloaded
 *   any     -> banned    and back by unban     no downloadUrl, no upload, never the latest version
 *
 * A ban puts aside what it takes away, as `before_ban`, and unban puts exactly that back.
 */
const takenByBan = ['status', 'status_reason', 'downloadUrl', 'pending_shard', 'pending_since'];

export async function listNodeVersions(nodeId: string): Promise<NodeVersion[]> {
  await readNode(nodeId, newDeadline());
  const items = await listItems(nodeVersionKey(nodeId, ''));
  return items
    .sort((a, b) => compareVersions(String(b.version), String(a.version)))
    .map((item) => nodeVersionView(item));
}

export function flagNodeVersion(nodeId: string, version: string, reason: string): Promise<NodeVersion> {
  return changeStatus(nodeId, version, (current) => {
    requirePublished(current, 'flagged');
    if (current.status === 'NodeVersionStatusFlagged' && current.status_reason === reason) return undefined;
    return { status: 'NodeVersionStatusFlagged', status_reason: reason };
  });
}

export function unflagNodeVersion(nodeId: string, version: string): Promise<NodeVersion> {
  return changeStatus(nodeId, version, (current) => {
    requirePublished(current, 'unflagged');
    if (current.status !== 'NodeVersionStatusFlagged') return undefined;
    return { status: 'NodeVersionStatusActive', status_reason: null };
  });
}

export function banNodeVersion(nodeId: string, version: string, reason: string): Promise<NodeVersion> {
  return changeStatus(nodeId, version, (current) => {
    if (current.status === 'NodeVersionStatusBanned')
      return current.status_reason === reason ? undefined : { status_reason: reason };
    return {
      ...Object.fromEntries(takenByBan.map((field) => [field, null])),
      status: 'NodeVersionStatusBanned',
      status_reason: reason,
      before_ban: Object.fromEntries(takenByBan.map((field) => [field, current[field]])),
    };
  });
}

export function unbanNodeVersion(nodeId: string, version: string): Promise<NodeVersion> {
  return changeStatus(nodeId, version, (current) => {
    if (current.status !== 'NodeVersionStatusBanned') return undefined;
    return { status_reason: null, ...(current.before_ban as Item), before_ban: null };
  });
}

function requirePublished({ status, node_id, version }: Item, verb: string): void {
  if (status === 'NodeVersionStatusActive' || status === 'NodeVersionStatusFlagged') return;
  const state = String(status).replace('NodeVersionStatus', '').toLowerCase();
  throw new Refusal(
    `Version ${version} of "${node_id}" is ${state}; only active and flagged ones can be ${verb}.`,
  );
}

/**
 * Changes a version, and in the same transaction the node's copy of its latest version, chosen anew. The node
 * is read before the versions and its revision is a condition of the write, so no other choice is undone. One
 * thing the condition cannot see: an upload that finished meanwhile and, against the latest version of that
 * moment, had nothing to write. So what was written is looked at once more, until nothing is left to change.
 */
function changeStatus(
  nodeId: string,
  version: string,
  decide: (current: Item) => Record<string, unknown> | undefined,
): Promise<NodeVersion> {
  const normal = normalizeVersion(version);
  return untilWritten(async (deadline) => {
    const node = await readNode(nodeId, deadline);
    const versions = await listItems(nodeVersionKey(nodeId, ''));
    const current = versions.find((item) => item.version === normal);
    if (!current) throw noSuchVersion(nodeId, version);
    const changes = decide(current);
    const changed = withChanges(current, changes ?? {});
    const latest = latestOf(versions.map((item) => (item === current ? changed : item)));
    const latestVersion = latest && nodeVersionView(latest);
    if (!changes && isDeepStrictEqual(latestVersion, node.latest_version)) return nodeVersionView(current);
    const writes = [writeOnRevision(node, { latest_version: latestVersion ?? null })];
    if (changes) writes.push(writeOnRevision(current, changes));
    await transact(writes, deadline);
    return undefined;
  });
}

function writeOnRevision(item: Item, changes: Record<string, unknown>): TransactWriteItem {
  const key = toAttributes({ pk: item.pk, sk: item.sk });
  return {
    Update: { TableName: tableName, Key: key, ...update(changes, ['revision', '=', item.revision]) },
  };
}

function withChanges(item: Item, changes: Record<string, unknown>): Item {
  const present = Object.entries({ ...item, ...changes }).filter(([, value]) => value !== null);
  return Object.fromEntries(present);
}
