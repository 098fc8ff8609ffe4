import { isObject, type JsonObject, parseObject, parseWithIds } from '../json.ts';
import type { TaskState } from '../schemas/video.ts';
import { isTaskId, readCredits } from '../providers/reply.ts';
import { isWebAddress } from 'registry-rules/web-address';
import type { NotifyingProvider } from './records.ts';

/** The fields that every notification has, read from the provider's own words. */
export interface ProviderNotification {
  state: TaskState;
  taskId: string | undefined;
  /** The task's price, if the provider tells it. */
  credits: number | undefined;
  media: string[];
  /** A sentence, if the task failed. */
  error: string | undefined;
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

/** Reads a provider's body; undefined if it isn't a JSON object with a known state. */
export function readNotification(
  provider: NotifyingProvider,
  text: string,
): ProviderNotification | undefined {
  const body = parseWithIds(text);
  if (body === undefined) return undefined;
  const parts = [body, body.data].filter(isObject);
  const words = parts.map((part) => part[stateFields[provider]]).filter((word) => typeof word === 'string');
  const state = words.map((word) => states[provider].get(word.toLowerCase())).find(Boolean);
  if (state === undefined) return undefined;
  const ids = parts.flatMap(({ task_id, id }) => [task_id, id]);
  return {
    state,
    taskId: ids.find(isTaskId),
    credits: parts.map(({ credits }) => readCredits(credits)).find((price) => price !== undefined),
    media: parts.flatMap(mediaIn),
    error: state === 'failed' ? errorIn(parts) : undefined,
  };
}

/** A page shows these addresses, so they must be addresses of the web. */
function mediaIn({ creations, generated }: JsonObject): string[] {
  const items = [creations, generated].flatMap((list) => (Array.isArray(list) ? list : []));
  const urls = items.map((item) => (isObject(item) ? item.url : item));
  return urls.filter((url) => typeof url === 'string' && isWebAddress(url));
}

const maxErrorLength = 500;

function errorIn(parts: readonly JsonObject[]): string {
  const texts = parts.flatMap(({ error, message, err_msg, reason, err_code }) =>
    [isObject(error) ? error.message : error, message, err_msg, reason, err_code].filter(
      (text) => typeof text === 'string' && text.trim() !== '',
    ),
  );
  const text = String(texts[0] ?? 'The provider could not finish the task.');
  return text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, maxErrorLength);
}

/**
 * Puts our four fields in front of the provider's text, which stays as it came, so that its numbers keep their digits. A
 * field of the provider with one of their names but another meaning is replaced.
 */
export function withCommonFields(
  text: string,
  { state, taskId, media, error }: ProviderNotification,
): string {
  const body = parseObject(text) ?? {};
  const common = { task_id: taskId, state, media, error };
  const lacking = Object.entries(common).filter(
    ([name, value]) => value !== undefined && !isSame(body[name], value),
  );
  if (lacking.length === 0) return text;
  const added = Object.fromEntries(lacking);
  if (lacking.some(([name]) => name in body)) return JSON.stringify({ ...body, ...added });
  return `${JSON.stringify(added).slice(0, -1)},${text.trimStart().slice(1)}`;
}

function isSame(theirs: unknown, ours: unknown): boolean {
  return JSON.stringify(theirs) === JSON.stringify(ours);
}

const ranks: Record<TaskState, number> = { created: 0, queueing: 1, processing: 2, success: 3, failed: 3 };

/** Whether a task moves on: states are never repeated or taken back, and a task ends once. */
export function isForward(from: TaskState | undefined, to: TaskState): boolean {
  return from === undefined || ranks[from] < ranks[to];
}

export function isState(value: unknown): value is TaskState {
  return typeof value === 'string' && Object.hasOwn(ranks, value);
}

export function isFinal(state: TaskState): boolean {
  return ranks[state] === ranks.success;
}
