import { callerHash } from '../caller.ts';
import type { ProviderName } from '../config.ts';
import type { Context } from '../context.ts';
import type { TaskState } from '../schemas/video.ts';
import { always, typedRead } from '../store/items.ts';
import { type Key, namedTaskKey, notificationKey } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { putting, write } from '../store/write.ts';
import { type ProviderNotification, readNotification } from './provider-notification.ts';
import { isExpired, notificationRecord, readTask, ttlFrom } from './records.ts';

/* What is known of a task, for its buyer, who asks by the provider's id as at the provider itself. */

/** Leads from an id to the task. Its key is made of the buyer too, so another caller's task is like none. */
interface NamedTaskRecord extends Key {
  task_hash: string;
  /** In seconds, for DynamoDB. */
  ttl: number;
}

const namedTaskRecord = typedRead<NamedTaskRecord>();

/** A provider's id, and who bought the task. */
interface TaskName {
  caller: string;
  provider: ProviderName;
  taskId: string;
}

function keyOfName({ caller, provider, taskId }: TaskName): Key {
  return namedTaskKey(callerHash(caller), provider, taskId);
}

/** Written next to the end of the attempt: without it, the task only isn't found by its id. */
export async function nameTask(context: Context, name: TaskName, task_hash: string): Promise<void> {
  const record: NamedTaskRecord = { ...keyOfName(name), task_hash, ttl: ttlFrom(Date.now()) };
  await write(context, putting(record, always));
}

interface TaskResult {
  state: TaskState;
  /** The last report that has come. */
  said?: ProviderNotification | undefined;
}

export async function readTaskResult(context: Context, name: TaskName): Promise<TaskResult | undefined> {
  const named = namedTaskRecord((await get(context, keyOfName(name)))[0]);
  const task = named && (await readTask(context, named.task_hash));
  if (!named || !task || isExpired(task)) return undefined;
  const { state = 'created', sequence } = task;
  const [item] = sequence === 0 ? [] : await get(context, notificationKey(named.task_hash, sequence));
  const last = notificationRecord(item);
  return { state, said: last && readNotification(name.provider, last.body) };
}
