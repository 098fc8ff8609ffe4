import { type ErrorCode, RegistryError } from './registry-error.ts';
import type { Call } from './request.ts';

/**
 * The gateway's own response, `{"message": "…"}`, as a code for callers. Our gateway checks no token, so a
 * 401 or 403 in this form comes from something else.
 */
const gatewayCodes: Record<number, ErrorCode> = {
  404: 'route_not_found',
  405: 'method_not_allowed',
  413: 'request_too_large',
  429: 'too_many_requests',
  500: 'internal_error',
  503: 'unavailable',
};

/** After these a task may have started, or another attempt with the same key is starting it. */
const openCodes = new Set<ErrorCode>([
  ...['provider_failed', 'provider_invalid_reply', 'provider_timeout', 'internal_error'],
  ...['idempotency_in_flight', 'idempotency_consumed'],
]);

/** The error in a response, and whether the service itself sent it. */
export interface Rejection {
  error: RegistryError;
  isFromService: boolean;
}

interface Asked {
  baseUrl: string;
  fields: Call['answer'];
}

/** The content of a response: the body of a success, or its error. */
export function readAnswer(response: Response, text: string, asked: Asked): { data: object } | Rejection {
  const { baseUrl } = asked;
  const { ok, status, type } = response;
  // Browsers show only that it is a redirect, without its status.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) return redirectOf(response, baseUrl);
  return ok ? successOf(response, text, asked) : rejectionOf(response, text, baseUrl);
}

/** Another server responds without end, or with a file. */
export function unendingAnswer({ status }: Response, maxBytes: number): Rejection {
  const sentence = `The registry answered ${status} with more than ${maxBytes / 1_000_000} MB.`;
  const error = new RegistryError('invalid_reply', sentence, { status, mayBeDone: true });
  return { error, isFromService: false };
}

function redirectOf({ status, headers }: Response, baseUrl: string): Rejection {
  const location = headers.get('location')?.slice(0, maxLocation);
  const sentence = `The registry at ${baseUrl} redirects to ${location ?? 'another address'}.`;
  const error = new RegistryError('redirected', sentence, { status: status === 0 ? undefined : status });
  return { error, isFromService: false };
}

const maxLocation = 200;

const notOurs = 'A proxy or a sign-in page may have answered.';

function rejectionOf(response: Response, text: string, baseUrl: string): Rejection {
  const body = parsed(text);
  const ownId = response.headers.get('x-request-id');
  const requestId = ownId ?? response.headers.get('apigw-requestid');
  const facts = {
    status: response.status,
    requestId: textIn(body, 'request_id') ?? requestId ?? undefined,
    retryAfter: secondsOf(response.headers.get('retry-after')),
    statusUrl: statusUrlOf(response),
    mayBeDone: response.status >= 500,
  };
  const code = textIn(body, 'error');
  const message = textIn(body, 'message');
  // Every response of the service has this header; a proxy's own errors may also have an `error`.
  if (code !== undefined && ownId !== null) {
    const mayBeDone = openCodes.has(code) || facts.statusUrl !== undefined;
    const details = detailsIn(body);
    const error = new RegistryError(code, message ?? code, { ...facts, details, mayBeDone });
    return { error, isFromService: true };
  }
  const known = message === undefined ? undefined : gatewayCodes[response.status];
  const answered = `answered ${response.status}${message === undefined ? '' : `: ${message}`}.`;
  const isElsewhere = response.status === 404 || response.status === 405;
  const usual = message === undefined ? `${baseUrl} ${answered} ${notOurs}` : `The registry ${answered}`;
  const sentence = isElsewhere ? `There is no registry at ${baseUrl}, which ${answered}` : usual;
  return { error: new RegistryError(known ?? 'invalid_reply', sentence, facts), isFromService: false };
}

/** A proxy in between may return 200 with a page of its own, or with other JSON. */
function successOf(response: Response, text: string, asked: Asked): { data: object } | Rejection {
  const { baseUrl, fields: answer } = asked;
  if (response.status === 204) return { data: {} };
  const data = parsed(text);
  if (answer === 'list' && Array.isArray(data)) return { data };
  const fields = typeof answer === 'string' ? {} : answer;
  const missing = Object.entries(fields).find(([name, kind]) => !kinds[kind](fieldIn(data, name)))?.[0];
  if (isObject(data) && missing === undefined) return { data };
  const lacks = isObject(data) ? `the field ${missing}` : 'a JSON object';
  const error = new RegistryError(
    'invalid_reply',
    `${baseUrl} answered ${response.status} without ${lacks}. ${notOurs}`,
    {
      status: response.status,
      requestId: response.headers.get('x-request-id') ?? undefined,
      statusUrl: statusUrlOf(response),
      mayBeDone: true,
    },
  );
  return { error, isFromService: false };
}

const kinds = {
  string: (value: unknown) => typeof value === 'string',
  URL: isWebUrl,
  object: isObject,
  list: (value: unknown) => Array.isArray(value) && value.every(isObject),
};

function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldIn(body: unknown, name: string): unknown {
  return isObject(body) ? (body as Record<string, unknown>)[name] : undefined;
}

function textIn(body: unknown, name: string): string | undefined {
  const value = fieldIn(body, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function detailsIn(body: unknown): { path: string; message: string; uploadUrl?: string }[] {
  const details = fieldIn(body, 'details');
  if (!Array.isArray(details)) return [];
  return details.map((detail) => {
    const uploadUrl = fieldIn(detail, 'upload_url');
    return {
      path: textIn(detail, 'path') ?? '',
      message: textIn(detail, 'message') ?? '',
      ...(isWebUrl(uploadUrl) && { uploadUrl }),
    };
  });
}

/** Retry-After is a number of seconds or a date. */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null || retryAfter.trim() === '') return undefined;
  const seconds = Number(retryAfter);
  const wait = Number.isNaN(seconds) ? (Date.parse(retryAfter) - Date.now()) / 1000 : seconds;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/* What the headers of an answer say about a request, in a form for programs. */

/** A limit of the caller, such as `credits-per-day`. */
export interface RateLimit {
  name: string;
  limit: number | undefined;
  windowSeconds: number | undefined;
  remaining: number | undefined;
  /** After how many seconds it starts over. */
  resetSeconds: number | undefined;
}

/** The URL of a task's status; undefined if the service gave none, because it relays no notifications. */
export function statusUrlOf({ headers }: Response): string | undefined {
  return /<(https?:[^>]+)>\s*;\s*rel="?status"?/.exec(headers.get('link') ?? '')?.[1];
}

/** The fields of a request that the service didn't use, by their paths: probably they are misspelled. */
export function ignoredFieldsOf({ headers }: Response): string[] {
  return stringsIn(headers.get('x-ignored-fields')).map(({ text }) => text);
}

export function rateLimitsOf({ headers }: Response): RateLimit[] {
  const left = stringsIn(headers.get('ratelimit'));
  return stringsIn(headers.get('ratelimit-policy')).map(({ text: name, parameters: policy }) => {
    const now = left.find(({ text }) => text === name)?.parameters;
    return {
      name,
      limit: number(policy.q),
      windowSeconds: number(policy.w),
      remaining: number(now?.r),
      resetSeconds: number(now?.t),
    };
  });
}

export function creditsOf({ headers }: Response): number | undefined {
  return number(headers.get('x-credits-used'));
}

function number(text: string | null | undefined): number | undefined {
  return text && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

interface Item {
  text: string;
  parameters: Record<string, string>;
}

/** A structured-field list of strings with parameters (RFC 9651). An invalid list means nothing. */
function stringsIn(field: string | null): Item[] {
  const list = field?.trim() ?? '';
  const member = /\s*"((?:[^"\\]|\\["\\])*)"((?:;\s*[a-z*][\w.*-]*(?:=[^;,"\s]+)?)*)\s*(?:,|$)/y;
  const items: Item[] = [];
  while (member.lastIndex < list.length) {
    const found = member.exec(list);
    if (!found) return [];
    const [, text = '', rest = ''] = found;
    const pairs = [...rest.matchAll(/;\s*([^=;]+)=?([^;]*)/g)];
    const parameters = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
    items.push({ text: text.replaceAll(/\\(.)/g, '$1'), parameters });
  }
  return items;
}

/** The text of a response. Stops reading and returns undefined above a number of decompressed bytes. */
export async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** S3 answers 403 with XML for a missing file; any other 403 is a proxy's, and means nothing for the file. */
export function isAbsent({ status }: Response, text: string): boolean {
  return status === 404 || (status === 403 && /<Error>|<Error\/>/.test(text));
}

/** Undefined if it isn't JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
