import { parseObject } from '../json.ts';
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
 * the provider with one of their names but another meaning is replaced.
 */
export function withCommonFields(text: string, common: CommonFields): string {
  const body = parseObject(text) ?? {};
  const lacking = Object.entries(common).filter(
    ([name, value]) => value !== undefined && !isSame(body[name], value),
  );
  if (lacking.length === 0) return text;
  const added = Object.fromEntries(lacking);
  if (Object.keys(body).length === 0 || lacking.some(([name]) => name in body))
    return JSON.stringify({ ...body, ...added });
  return `${JSON.stringify(added).slice(0, -1)},${text.trimStart().slice(1)}`;
}

function isSame(theirs: unknown, ours: unknown): boolean {
  return JSON.stringify(theirs) === JSON.stringify(ours);
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
