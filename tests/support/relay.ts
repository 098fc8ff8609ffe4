import {
  type NotificationRecord,
  notificationRecord,
  readTask,
  type TaskRecord,
  taskHash,
} from '../../lib/notifications/records.ts';
import { notificationsOf as keysOfNotifications } from '../../lib/store/keys.ts';
import { queryAll } from '../../lib/store/read.ts';
import { setVariables } from './variables.ts';

/** A test file that imports this one before any function has the service notify its callers. */
setVariables({ NOTIFICATIONS: 'relay', NOTIFICATION_URL: 'https://api.example.com/notifications/' });

const ourAddress = /^https:\/\/api\.example\.com\/notifications\/(image|video)\/([\w-]{43})$/;

/** Provider and secret of a URL that a provider was given, as the gateway finds them in the path. */
export function pathOf(address: unknown): { provider: string; task: string } {
  const [, provider, task] = ourAddress.exec(String(address)) ?? [];
  if (provider === undefined || task === undefined) throw new Error(`${address} is not one of ours.`);
  return { provider, task };
}

export async function storedTask(secret: string): Promise<TaskRecord | undefined> {
  return readTask({ deadline: Date.now() + 60_000 }, taskHash(secret));
}

/** The notifications of a task's caller, sent or waiting. */
export async function notificationsOf(secret: string): Promise<NotificationRecord[]> {
  const items = await queryAll({ deadline: Date.now() + 60_000 }, keysOfNotifications(taskHash(secret)));
  return items.map(notificationRecord);
}
