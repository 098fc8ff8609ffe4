import { paginateScan, type ScanCommandOutput } from '@aws-sdk/client-dynamodb';
import { downloadUrl } from '../../lib/bucket/download-url.ts';
import { nodeVersionView } from '../../lib/registry/node-versions.ts';
import { hostNodeRecord, type NodeVersionRecord, nodeVersionRecord } from '../../lib/registry/records.ts';
import type { HostNode } from '../../lib/schemas/host-node.ts';
import type { NodeVersion } from '../../lib/schemas/node-version.ts';
import {
  type AccountRecord,
  accountRecord,
  counted,
  counterName,
  limitsOf,
} from '../../lib/spend/account.ts';
import type { Limits } from '../../lib/spend/limits.ts';
import { fromAttributes, type Item } from '../../lib/store/attribute-values.ts';
import { type TaskRecord, taskRecord } from '../../lib/notifications/records.ts';
import { accountKey, hostNodeKey, nodeVersionKey, ticketKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { clearLimits, setLimits } from '../../packages/admin/spend/terms.ts';
import { listItems } from '../../packages/admin/registry/administration.ts';
import { callerOf, shownCaller } from '../../packages/admin/spend/caller-name.ts';
import { type NotifiedTask, readNotifiedTask } from './stored-notifications.ts';

/** The records on the home page. It has to be imported after the environment is set. */
export interface StoredRecords {
  /** Newest first. */
  published: PublishedVersion[];
  callers: CallerUsage[];
  /** Newest first; null where the providers notify callers. */
  notified: NotifiedTask[] | null;
}

interface PublishedVersion extends NodeVersion {
  publisher_id: string;
  host_nodes: (HostNode & { is_edited: boolean })[];
}

interface CallerUsage {
  user: string;
  /** One for each limit. No maximum if none is set. */
  windows: { limit: keyof Limits; used: number; max?: number }[];
  /** Whether some of the limits are the caller's own. */
  has_own_limits: boolean;
  blocked?: string;
}

const maxVersions = 10;
const maxTasks = 8;

/** Reads the whole table, since no index lists versions of all nodes; a local table is small. */
export async function readStoredRecords({ relays }: { relays: boolean }): Promise<StoredRecords> {
  const items = await scan();
  const versions = items
    .filter(({ sk }) => String(sk).startsWith('VERSION#'))
    .map((item) => nodeVersionRecord(item));
  const newest = versions.sort((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, maxVersions);
  const accounts = items.filter(({ sk }) => sk === accountKey('').sk).map((item) => accountRecord(item));
  return {
    published: await Promise.all(newest.map(toPublished)),
    callers: accounts.map(toUsage).sort((a, b) => a.user.localeCompare(b.user)),
    notified: relays ? await readNotified(items) : null,
  };
}

/** Without tasks that no provider has said anything about yet, such as those that it did not take. */
async function readNotified(items: readonly Item[]): Promise<NotifiedTask[]> {
  const tasks: TaskRecord[] = items
    .filter(({ sk }) => sk === ticketKey('').sk)
    .map((item) => taskRecord(item));
  const notified = tasks.filter(({ sequence }) => sequence > 0);
  const newest = notified.sort((a, b) => b.at.localeCompare(a.at)).slice(0, maxTasks);
  return Promise.all(newest.map(readNotifiedTask));
}

/** Sets the limits of a caller. A null restores a default, and only nulls remove all limits. */
export async function limitCaller(
  user: string,
  limits: { [Name in keyof Limits]?: number | null },
): Promise<void> {
  const isNone = Object.values(limits).every((value) => value === null);
  await (isNone ? clearLimits(callerOf(user)) : setLimits(callerOf(user), limits));
}

async function scan(): Promise<Item[]> {
  const pages: AsyncIterable<ScanCommandOutput> = paginateScan(
    { client: dynamodb },
    {
      TableName: tableName(),
      FilterExpression: 'begins_with(sk, :version) OR sk IN (:account, :task)',
      ExpressionAttributeValues: {
        ':version': { S: nodeVersionKey('', '').sk },
        ':account': { S: accountKey('').sk },
        ':task': { S: ticketKey('').sk },
      },
    },
  );
  const items: Item[] = [];
  for await (const { Items = [] } of pages) items.push(...Items.map(fromAttributes));
  return items;
}

async function toPublished(version: NodeVersionRecord): Promise<PublishedVersion> {
  const items = await listItems(hostNodeKey(version.node_id, version.version, ''));
  const { publisher_id } = version;
  const host_nodes = items
    .map((item) => hostNodeRecord(item))
    .map(({ host_node_name, category, function: entry, return_types, policy, touched = [] }) => ({
      ...{ host_node_name, category, function: entry, return_types, policy },
      is_edited: touched.length > 0,
    }));
  return { ...nodeVersionView(version, downloadUrl), publisher_id, host_nodes };
}

function toUsage(account: AccountRecord): CallerUsage {
  const { caller, terms } = account;
  const limits = limitsOf(terms);
  const now = Date.now();
  return {
    user: shownCaller(caller),
    windows: counted.map((each) => ({
      limit: each.limit,
      used: account[counterName(each, now)] ?? 0,
      ...(limits[each.limit] > 0 && { max: limits[each.limit] }),
    })),
    has_own_limits: Object.keys(terms?.limits ?? {}).length > 0,
    ...(terms?.blocked && { blocked: terms.blocked.reason }),
  };
}
