import { paginateScan, type ScanCommandOutput } from '@aws-sdk/client-dynamodb';
import {
  type NotificationRecord,
  notificationRecord,
  type TaskRecord,
  taskRecord,
} from '../../lib/notifications/records.ts';
import {
  type AccountRecord,
  accountRecord,
  counted,
  counterName,
  type Limits,
  limitsOf,
} from '../../lib/spend/account.ts';
import { fromAttributes, type Item } from '../../lib/store/items.ts';
import { accountKey, ticketKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { listItems } from '../admin/registry/administration.ts';
import { shownCaller } from '../admin/spend/caller-name.ts';

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

/** A task whose caller this service notifies, with all its notifications in order. */
interface NotifiedTask extends Pick<TaskRecord, 'at' | 'operation' | 'caller' | 'address'> {
  task_id: string;
  state: TaskRecord['state'];
  notifications: ShownNotification[];
}

export interface ShownNotification
  extends Pick<
    NotificationRecord,
    'id' | 'state' | 'result' | 'attempts' | 'delivered_at' | 'last_error' | 'last_status'
  > {
  next_attempt_at?: string;
}

async function readNotifiedTask(task: TaskRecord): Promise<NotifiedTask> {
  const { pk, at, operation, caller, address, state, task_id = 'unknown' } = task;
  const items = await listItems({ pk, sk: 'NOTIFICATION#' });
  const notifications = items.map((item) => toShown(notificationRecord(item)));
  return { at, operation, caller: shownCaller(caller), address, state, task_id, notifications };
}

/** Without the body, which may be long. One that was given up is listed by when that was: no attempt follows. */
function toShown(record: NotificationRecord): ShownNotification {
  const { id, state, result, attempts, delivered_at, last_error, last_status, pending_since } = record;
  const next = result === 'pending' && pending_since !== undefined;
  return {
    ...{ id, state, result, attempts },
    ...(delivered_at !== undefined && { delivered_at }),
    ...(last_error !== undefined && { last_error }),
    ...(last_status !== undefined && { last_status }),
    ...(next && { next_attempt_at: pending_since }),
  };
}
