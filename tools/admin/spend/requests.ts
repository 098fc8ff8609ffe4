import { readNotification } from '../../../lib/notifications/provider-notification.ts';
import {
  type NotificationRecord,
  notificationRecord,
  readTask,
  type TaskRecord,
} from '../../../lib/notifications/records.ts';
import { idempotencyRecord } from '../../../lib/requests/idempotency-key.ts';
import type { UsageRecord } from '../../../lib/spend/usage-records.ts';
import { idempotencyKey, notificationsOf } from '../../../lib/store/keys.ts';
import { get } from '../../../lib/store/read.ts';
import { listItems, newContext } from '../registry/administration.ts';
import { findUsage, type Period } from './usage.ts';

/** What was stored for one attempt to buy something. */
export interface FoundRequest {
  usage: UsageRecord;
  /** What became of its Idempotency-Key. The answer itself is the caller's. */
  answer: { state: string; expires_at: string } | undefined;
  task: TaskRecord | undefined;
  /** The URLs of what was made, as the provider's last notification has them. */
  media: string[];
  notifications: Pick<NotificationRecord, 'id' | 'state' | 'at' | 'result' | 'attempts' | 'last_error'>[];
}

const maxAttempts = 100;
/** Four queries each, and up to 4 MB. */
export const maxPages = 1000;

interface Search {
  /** A caller may have chosen the same id for several attempts. */
  found: FoundRequest[];
  hasMore: boolean;
}

export async function findRequest(requestId: string, period: Period): Promise<Search> {
  const { records, hasMore } = await findUsage(period, { requestId }, maxAttempts, maxPages);
  return { found: await Promise.all(records.map(readAround)), hasMore };
}

async function readAround(usage: UsageRecord): Promise<FoundRequest> {
  const { key_hash, ticket_hash } = usage;
  const [answer, task, notifications] = await Promise.all([
    key_hash === undefined ? undefined : readAnswer(key_hash),
    ticket_hash === undefined ? undefined : readTask(newContext(), ticket_hash),
    ticket_hash === undefined ? [] : listItems(notificationsOf(ticket_hash)),
  ]);
  const shown = notifications.map((item) => {
    const { id, state, at, result, attempts, last_error } = notificationRecord(item);
    return { id, state, at, result, attempts, ...(last_error !== undefined && { last_error }) };
  });
  const last = notifications.map((item) => notificationRecord(item)).at(-1);
  const media = (task && last && readNotification(task.provider, last.body)?.media) ?? [];
  return { usage, answer, task, media, notifications: shown };
}

async function readAnswer(keyHash: string): Promise<FoundRequest['answer']> {
  const record = idempotencyRecord((await get(newContext(), idempotencyKey(keyHash)))[0]);
  return record && { state: record.state, expires_at: new Date(record.expires_at).toISOString() };
}
