import { isObject, type JsonObject, parseAsWritten, parseWithIds } from '../json.ts';
import type { TaskState } from '../schemas/video.ts';
import type { ProviderName } from '../config.ts';
import { isTaskId, readCredits, readWord, stateOf } from '../providers/reply.ts';
import { isWebAddress } from '@node-registry/registry-rules/web-address';

/** The fields that every notification has, read from the provider's body. */
export interface ProviderNotification {
  /** Undefined if the provider's word is unknown, or it has none. */
  state: TaskState | undefined;
  /** The provider's word for the state, if we don't know it. */
  unknownWord: string | undefined;
  taskId: string | undefined;
  /** The task's price, if the provider gives it. */
  credits: number | undefined;
  media: string[];
  creations: Creation[];
  /** A sentence, if the task failed. */
  error: string | undefined;
  /** The provider's own word for that, if it has one. */
  errorCode: string | undefined;
}

/** A film as its provider lists it. A request to extend it names the id. */
export interface Creation {
  id: string;
  url: string;
  cover_url: string;
}

/** The field where each provider usually puts the state. */
const stateFields: Record<ProviderName, string> = { image: 'status', video: 'state' };

/** Reads a provider's body; undefined if it isn't a JSON object. */
export function readNotification(provider: ProviderName, text: string): ProviderNotification | undefined {
  const body = parseWithIds(text);
  if (body === undefined) return undefined;
  // An envelope may have a status of its own, about the call and not about the task.
  const parts = [body.data, body].filter(isObject);
  const fields = [stateFields[provider], 'state', 'status'];
  const words = fields.flatMap((field) => parts.map((part) => readWord(part[field])));
  const word = words.find((each) => each !== undefined);
  const state = word === undefined ? undefined : stateOf(word);
  const named = [body, body.data].filter(isObject);
  return {
    state,
    unknownWord: state === undefined ? word : undefined,
    // An envelope may have an ID of its own, too.
    taskId: [...named.map(({ task_id }) => task_id), ...named.map(({ id }) => id)].find(isTaskId),
    credits: parts.map(({ credits }) => readCredits(credits)).find((price) => price !== undefined),
    media: bounded(parts.flatMap(mediaIn), ({ length }) => length),
    creations: bounded(parts.flatMap(creationsIn), ({ url, cover_url }) => url.length + cover_url.length),
    error: state === 'failed' ? errorIn(parts) : undefined,
    errorCode: parts.map(({ err_code }) => readWord(err_code)).find((code) => code !== undefined),
  };
}

const maxMediaLength = 100_000;

/** One record must hold all of them. */
function bounded<Each>(all: readonly Each[], lengthOf: (each: Each) => number): Each[] {
  let length = 0;
  return all.filter((each) => {
    length += lengthOf(each);
    return length <= maxMediaLength;
  });
}

/** A page shows these URLs, so they must be web addresses. */
function mediaIn({ creations, generated }: JsonObject): string[] {
  const items = [creations, generated].flatMap((list) => (Array.isArray(list) ? list : []));
  const urls = items.map((item) => (isObject(item) ? item.url : item));
  return urls.filter((url) => typeof url === 'string' && isWebAddress(url));
}

export function creationsIn({ creations }: JsonObject): Creation[] {
  if (!Array.isArray(creations)) return [];
  return creations.filter(isObject).flatMap(({ id, url, cover_url }) => {
    if (!isTaskId(id) || typeof url !== 'string' || !isWebAddress(url)) return [];
    const cover = typeof cover_url === 'string' && isWebAddress(cover_url) ? cover_url : '';
    return { id, url, cover_url: cover };
  });
}

const maxErrorLength = 500;
const reasons = new Set(['error', 'message', 'err_msg', 'reason', 'err_code']);

function errorIn(parts: readonly JsonObject[]): string {
  const texts = parts.flatMap(({ error, message, err_msg, reason, err_code }) =>
    [isObject(error) ? error.message : error, message, err_msg, reason, err_code].filter(
      (text) => typeof text === 'string' && text.trim() !== '',
    ),
  );
  const text = String(texts[0] ?? 'The provider could not finish the task.');
  const line = text.replace(/\p{C}+/gu, ' ').trim();
  return line.slice(0, maxErrorLength);
}

const maxKeptBytes = 64 * 1024;
const maxKeptText = 1000;

/**
 * The part of a provider's body that is kept. A large one repeats the request, whose payload alone may have a million
 * characters, and an item holds 400 KB: long texts are dropped, except URLs and beginnings of reasons.
 */
export function withoutEcho(text: string, { media, creations }: ProviderNotification): string {
  if (Buffer.byteLength(text) <= maxKeptBytes) return text;
  const kept = shortened(text);
  if (kept !== undefined && Buffer.byteLength(kept) <= maxKeptBytes) return kept;
  return JSON.stringify({ generated: media, creations });
}

function shortened(text: string): string | undefined {
  try {
    return JSON.stringify(parseAsWritten(text), (name, value) => {
      if (typeof value !== 'string' || value.length <= maxKeptText || isWebAddress(value)) return value;
      return reasons.has(name) ? value.slice(0, maxKeptText) : undefined;
    });
  } catch {
    // It is too deeply nested to visit.
    return undefined;
  }
}

/** The fields that this service adds to a provider's own. */
interface CommonFields {
  task_id?: string | undefined;
  state: TaskState;
  provider_state?: string | undefined;
  media?: string[];
  /** Given only if the provider's object has no list of its own. */
  creations?: Creation[];
  error?: string | undefined;
}

/**
 * The provider's object with our fields in front, whose values replace those of the same names, or drop them if they are
 * undefined. The others keep the digits of their numbers.
 */
export function withCommonFields(text: string, common: CommonFields): string {
  try {
    return JSON.stringify({ ...common, ...Object(parseAsWritten(text)), ...common });
  } catch {
    // It is too deeply nested to visit.
    return JSON.stringify(common);
  }
}

const ranks: Record<TaskState, number> = { created: 0, queueing: 1, processing: 2, failed: 3, success: 4 };

/** Whether a task moves on: states are never repeated or reversed. Some providers finish tasks that they called expired. */
export function isForward(from: TaskState | undefined, to: TaskState): boolean {
  return from === undefined || ranks[from] < ranks[to];
}

export function isState(value: unknown): value is TaskState {
  return typeof value === 'string' && Object.hasOwn(ranks, value);
}

export function isFinal(state: TaskState | undefined): boolean {
  return state !== undefined && ranks[state] >= ranks.failed;
}
