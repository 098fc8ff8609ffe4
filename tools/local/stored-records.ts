import { paginateScan, type ScanCommandOutput } from '@aws-sdk/client-dynamodb';
import {
  type AccountRecord,
  accountRecord,
  counted,
  counterName,
  limitsOf,
} from '../../lib/spend/account.ts';
import type { Limits } from '../../lib/spend/limits.ts';
import { fromAttributes, type Item } from '../../lib/store/items.ts';
import { type TaskRecord, taskRecord } from '../../lib/notifications/records.ts';
import { accountKey, ticketKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { clearLimits, setLimits } from '../../packages/admin/spend/terms.ts';
import { callerOf, shownCaller } from '../../packages/admin/spend/caller-name.ts';
import { type NotifiedTask, readNotifiedTask } from './stored-notifications.ts';

/** The records on the home page. It has to be imported after the environment is set. */
export interface StoredRecords {
  callers: CallerUsage[];
  /** Newest first; null where the providers notify callers. */
  notified: NotifiedTask[] | null;
}

export interface CallerUsage {
  user: string;
  /** One for each limit. No maximum if none is set. */
  windows: { limit: keyof Limits; used: number; max?: number }[];
  /** Whether some of the limits are the caller's own. */
  has_own_limits: boolean;
  blocked?: string;
}

const maxTasks = 8;

/** Reads the whole table, since no index lists accounts or tasks; a local table is small. */
export async function readStoredRecords({ relays }: { relays: boolean }): Promise<StoredRecords> {
  const items = await scan();
  const accounts = items.filter(({ sk }) => sk === accountKey('').sk).map((item) => accountRecord(item));
  return {
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
      FilterExpression: 'sk IN (:account, :task)',
      ExpressionAttributeValues: {
        ':account': { S: accountKey('').sk },
        ':task': { S: ticketKey('').sk },
      },
    },
  );
  const items: Item[] = [];
  for await (const { Items = [] } of pages) items.push(...Items.map(fromAttributes));
  return items;
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
