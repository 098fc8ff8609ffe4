import {
  type NotificationRecord,
  notificationRecord,
  type TaskRecord,
} from '../../lib/notifications/records.ts';
import { listItems } from '../../packages/admin/registry/administration.ts';
import { shownCaller } from '../../packages/admin/spend/caller-name.ts';

/** A task whose caller this service notifies, with all its notifications in order. */
export interface NotifiedTask extends Pick<TaskRecord, 'at' | 'operation' | 'caller' | 'address'> {
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

export async function readNotifiedTask(task: TaskRecord): Promise<NotifiedTask> {
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
