import { isObject, type JsonObject } from '../json-object.ts';
import type { TaskState } from '../schemas/video.ts';
import { isTaskId } from '../task-id.ts';
import type { NotifyingProvider } from './records.ts';

/** What a provider says about a task. */
interface ProviderNotification {
  state: TaskState;
  taskId: string | undefined;
}

const stateFields = { image: 'status', video: 'state' } as const;

/** The words of each provider for the states of a task, in lowercase. */
const states: Record<NotifyingProvider, ReadonlyMap<string, TaskState>> = {
  image: new Map([
    ['created', 'created'],
    ['in_progress', 'processing'],
    ['completed', 'success'],
    ['failed', 'failed'],
  ]),
  video: new Map([
    ['created', 'created'],
    ['queueing', 'queueing'],
    ['processing', 'processing'],
    ['success', 'success'],
    ['failed', 'failed'],
  ]),
};

/** Reads a provider's body; undefined if it is no JSON object with a state that is known. */
export function readNotification(
  provider: NotifyingProvider,
  text: string,
): ProviderNotification | undefined {
  const body = parseObject(text);
  if (body === undefined) return undefined;
  const parts = [body, body.data].filter(isObject);
  const words = parts.map((part) => part[stateFields[provider]]).filter((word) => typeof word === 'string');
  const state = words.map((word) => states[provider].get(word.toLowerCase())).find(Boolean);
  const ids = parts.flatMap(({ task_id, id }) => [task_id, id]);
  return state && { state, taskId: ids.find(isTaskId) };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const ranks: Record<TaskState, number> = { created: 0, queueing: 1, processing: 2, success: 3, failed: 3 };

/** Whether a task moves on: states are never repeated or taken back, and a task ends once. */
export function isForward(from: TaskState | undefined, to: TaskState): boolean {
  return from === undefined || ranks[from] < ranks[to];
}

export function isFinal(state: TaskState): boolean {
  return ranks[state] === ranks.success;
}
