import type * as z from 'zod/mini';
import type { RelightStatus } from '../contracts/relight-image.ts';
import type { ErrorDetail } from '../errors.ts';
import { isObject, type JsonObject, parseWithIds } from '../json.ts';
import * as config from '../config.ts';
import type { TaskState } from '../schemas/video.ts';

/** The image provider's names for the states of a task. */
export const relightStatusOf: Record<TaskState, RelightStatus> = {
  created: 'CREATED',
  queueing: 'CREATED',
  processing: 'IN_PROGRESS',
  success: 'COMPLETED',
  failed: 'FAILED',
};

/** Printable, so that an operator may see it. A longer text is not an id, and would not fit into a log line. */
const taskId = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,1024}$/u;

/** The task is paid for, so its id may have nearly any form. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && taskId.test(value);
}

/**
 * Reads the fields of a shape. Providers send "", 0, null or [] for unset fields, and sometimes change a
 * type. Drops such values, except a 0 that was in the request.
 */
export function readFields(
  shape: Record<string, z.ZodMiniType>,
  reply: JsonObject,
  sent: JsonObject = {},
): JsonObject {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const value = schema.safeParse(withoutUnset(reply[name], sent[name])).data;
    return [name, value];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/**
 * The object in a reply. Of a list, the first object that names a task. Of text that was cut off (`isWhole`
 * is false), the fields that identify the purchase: a paid task must not be lost with the end of its reply.
 */
export function readReplyObject(text: string): { content: JsonObject; isWhole: boolean } {
  const list = text.trimStart().startsWith('[') ? parseWithIds(`{"list":${text}}`)?.list : undefined;
  if (Array.isArray(list)) {
    const named = list.filter(isObject).find(({ task_id }) => readTaskId(task_id));
    return { content: named ?? {}, isWhole: true };
  }
  const whole = parseWithIds(text);
  if (whole !== undefined) return { content: whole, isWhole: true };
  const fields = [...text.matchAll(wholeField)].map(({ groups = {} }) => [
    groups.name,
    groups.text ?? groups.number,
  ]);
  // The first of each name: later ones are deeper.
  return { content: Object.fromEntries(fields.reverse()), isWhole: false };
}

/** Doesn't match inside a string that is itself JSON: there, quotes are escaped. */
const wholeField =
  /(?<!\\)"(?<name>task_id|credits|state|status)"\s{0,9}:\s{0,9}(?:"(?<text>[^"\\]{1,1024})"|(?<number>[\d.eE+-]{1,40})(?=\s{0,9}[,}\]]))/g;

/** Undefined for an invalid id: something must have gone wrong in such a reply. */
export function readTaskId(value: unknown): string | undefined {
  const id = typeof value === 'number' ? String(value) : value;
  return isTaskId(id) ? id : undefined;
}

const timestamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?\d*(Z|[+-]\d\d:\d\d)$/;

/** The provider's creation time, or ours. Clients accept up to six fractional digits; providers send nine. */
export function readCreatedAt(value: unknown): string {
  const [, seconds, fraction = '', zone] = (typeof value === 'string' && timestamp.exec(value)) || [];
  const time = `${seconds}${fraction}${zone}`;
  return Number.isNaN(Date.parse(time)) ? new Date().toISOString() : time;
}

function withoutUnset(value: unknown, sent: unknown): unknown {
  if (!Array.isArray(value)) return isSet(value, sent) ? value : undefined;
  const others: readonly unknown[] = Array.isArray(sent) ? sent : [];
  const items = value
    .map((item, index) => (isObject(item) ? fieldsThatAreSet(item, others[index]) : item))
    .filter((item, index) => isSet(item, others[index]));
  return items.length > 0 ? items : undefined;
}

function fieldsThatAreSet(item: JsonObject, sent: unknown): JsonObject {
  const others = isObject(sent) ? sent : {};
  return Object.fromEntries(Object.entries(item).filter(([name, value]) => isSet(value, others[name])));
}

function isSet(value: unknown, sent: unknown): boolean {
  if (value === 0) return sent === 0;
  return value !== undefined && value !== null && value !== '';
}

/** As in JSON, with or without a sign and digits before the point. */
const decimal = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** A price in whole credits, from a number or a string, rounded up; undefined if there is no price. */
export function readCredits(value: unknown): number | undefined {
  const isDecimal = typeof value === 'string' && decimal.test(value);
  const number = Number(isDecimal || typeof value === 'number' ? value : Number.NaN);
  const credits = Math.ceil(number);
  return Number.isSafeInteger(credits) && number >= 0 ? credits : undefined;
}

/** Providers' known words for each state. An operator adds words with the parameter `providerStates`. */
export const knownWords: Record<TaskState, string> = {
  created: 'created accepted submitted received',
  queueing: 'queueing queuing queued in_queue enqueued pending waiting scheduled throttled',
  processing: 'processing in_progress running started starting preparing generating rendering executing',
  success: 'success succeeded succeed successful completed complete done finished',
  failed:
    'failed fail failure error errored cancelled canceled aborted rejected terminated timeout timed_out expired',
};

const states = /* @__PURE__ */ config.configured(() => {
  const known = Object.entries(knownWords).flatMap(([state, words]) =>
    words.split(' ').map((word) => ({ word, state })),
  );
  const all = [...known, ...config.taskWords().PROVIDER_STATES];
  return new Map(all.map(({ word, state }) => [lettersOf(word), state as TaskState]));
});

const maxWordLength = 100;

/** Reads a provider's word for the state of a task, which may be a number; undefined if it sent nothing. */
export function readWord(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  const word = value
    .slice(0, 2 * maxWordLength)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return word.slice(0, maxWordLength).toWellFormed() || undefined;
}

/** The state for a provider's word; undefined if the word is unknown. */
export function stateOf(word: string): TaskState | undefined {
  return states().get(lettersOf(word));
}

/** Providers differ in case and separators: IN_PROGRESS, InProgress, in-progress. */
function lettersOf(word: string): string {
  return word.toLowerCase().replace(/[\s_-]+/g, '');
}

/** A provider's reason for rejecting a request, cleaned for our caller. */
interface ErrorReply {
  text: string;
  details: ErrorDetail[];
  isOutOfCredits: boolean;
}

const maxDetails = 20;
/** As for our own details; see lib/http/read-request.ts. */
const maxDetailLength = 200;

/** Providers send `message` with or without `invalid_params`, `code` and `reason`, at times in a wrapper. */
export function readErrorReply(body: JsonObject, key: string): ErrorReply {
  const parts = withNested(body);
  const clean = (text: string) => cleanText(text, key, maxDetailLength);
  const texts = [
    ...parts.flatMap(({ message, detail, title }) => [message, detail, title]),
    ...parts.flatMap(({ reason, error, problem, code }) => [reason, error, problem, code]),
  ];
  return {
    text: texts.map((text) => cleanText(text, key)).find((text) => text !== '') ?? '',
    details: parts
      .flatMap(readInvalidParams)
      .slice(0, maxDetails)
      .map(({ path, message }) => ({
        path: clean(path),
        message: clean(message) || 'was rejected by the provider',
      })),
    isOutOfCredits: parts.some((part) => [part.reason, part.code].includes('CreditInsufficient')),
  };
}

/** The body itself and its wrapped parts. No provider is known to send more than two layers. */
function withNested(body: JsonObject): JsonObject[] {
  const inner = wrappedIn(body);
  return [body, ...inner, ...inner.flatMap(wrappedIn)];
}

function wrappedIn({ error, problem }: JsonObject): JsonObject[] {
  return [error, problem].filter(isObject);
}

function readInvalidParams({ invalid_params }: JsonObject): ErrorDetail[] {
  if (!Array.isArray(invalid_params)) return [];
  return invalid_params
    .slice(0, maxDetails)
    .filter(isObject)
    .map(({ name, field, reason, message }) => {
      const path = [name, field].find((value) => typeof value === 'string' && value !== '');
      const text = [reason, message].find((value) => ['string', 'number'].includes(typeof value)) ?? '';
      return { path: path === undefined ? 'body' : `body.${path}`, message: String(text) };
    });
}

const maxTextLength = 300;

/** Cleans a provider's text for our caller: one short line, without our key or an image that it repeats. */
export function cleanText(text: unknown, key: string, maxLength = maxTextLength): string {
  if (typeof text !== 'string') return '';
  const line = text
    .replaceAll(key, '…')
    .slice(0, 100 * maxLength)
    .replace(/[\w+/=-]{64,}/g, '…')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  const shown = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
  return shown.toWellFormed();
}

/** A Retry-After header, in seconds or as a date, converted to milliseconds from now. */
export function readRetryAfter(header: string | undefined): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]{2},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
