import type { ErrorDetail } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';

/** A provider's reason for not accepting a request, cleaned for our caller. */
interface ErrorReply {
  text: string;
  details: ErrorDetail[];
  isOutOfCredits: boolean;
}

const maxDetails = 20;
/** As of the details that are our own; see lib/validation-issues.ts. */
const maxDetailLength = 200;

/** Providers send `{message}` with or without `invalid_params`, or `{code, reason, message}`, perhaps in `error` or `problem`. */
export function readErrorReply(body: JsonObject, key: string): ErrorReply {
  const parts = withNested(body);
  const texts = [
    ...parts.flatMap(({ message, detail, title }) => [message, detail, title]),
    ...parts.flatMap(({ reason, error, problem, code }) => [reason, error, problem, code]),
  ];
  return {
    text: texts.map((text) => cleanText(text, key)).find((text) => text !== '') ?? '',
    details: parts.flatMap(readInvalidParams).slice(0, maxDetails).map(cleanedBy(key)),
    isOutOfCredits: parts.some((part) => [part.reason, part.code].includes('CreditInsufficient')),
  };
}

/** The body itself and its wrapped parts. No provider was seen to send more than two layers. */
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
      return { path: path === undefined ? 'body' : `body.${path}`, message: String(reason ?? message ?? '') };
    });
}

function cleanedBy(key: string): (detail: ErrorDetail) => ErrorDetail {
  const clean = (text: string) => cleanText(text, key, maxDetailLength);
  return ({ path, message }) => ({
    path: clean(path),
    message: clean(message) || 'was rejected by the provider',
  });
}

const maxTextLength = 300;

/** Cleans a provider's text for our caller: one short line, without our key or an image that it may repeat. */
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

/** A Retry-After header, which is a number of seconds or a date, as milliseconds from now. */
export function readRetryAfter(header: string | undefined): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]{2},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
