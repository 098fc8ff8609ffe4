import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, parseAsWritten, parseObject } from '../json.ts';
import type { TaskState } from '../schemas/video.ts';

/** The fields that this service adds to a provider's own. */
interface CommonFields {
  task_id?: string | undefined;
  state: TaskState;
  provider_state?: string | undefined;
  media?: string[];
  error?: string | undefined;
}

/**
 * Puts our fields in front of the provider's text, which stays as it came, so that its numbers keep their digits. A field of
 * the provider with one of their names but another meaning is replaced, or left out where ours is undefined.
 */
export function withCommonFields(text: string, common: CommonFields): string {
  const body = parseObject(text) ?? {};
  const changes = Object.entries(common).filter(([name, value]) => !isDeepStrictEqual(body[name], value));
  if (changes.length === 0) return text;
  const changed = Object.fromEntries(changes);
  if (changes.some(([name]) => name in body)) return withChanges(text, changed) ?? JSON.stringify(common);
  if (Object.keys(body).length === 0) return JSON.stringify(changed);
  return `${JSON.stringify(changed).slice(0, -1)},${text.trimStart().slice(1)}`;
}

/** Undefined if the text is nested too deep to be visited. */
function withChanges(text: string, changed: object): string | undefined {
  try {
    return JSON.stringify({ ...(parseAsWritten(text) as JsonObject), ...changed });
  } catch {
    return undefined;
  }
}

const ranks: Record<TaskState, number> = { created: 0, queueing: 1, processing: 2, failed: 3, success: 4 };

/** Whether a task moves on: states are never repeated or taken back. Some providers finish a task that they called expired. */
export function isForward(from: TaskState | undefined, to: TaskState): boolean {
  return from === undefined || ranks[from] < ranks[to];
}

export function isState(value: unknown): value is TaskState {
  return typeof value === 'string' && Object.hasOwn(ranks, value);
}

export function isFinal(state: TaskState): boolean {
  return ranks[state] >= ranks.failed;
}
