import { errorCatalog } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json.ts';

const text = { type: 'string' };

/**
 * Request headers, as parameters of the operations that read them. They have no examples: viewers send an
 * example with every request that a reader tries, and one common key would return the first response forever.
 */
export const headerParameters: Record<string, JsonObject> = {
  'x-request-id': parameter(
    'x-request-id',
    'Names the request in its answer and in the log; if it is absent, the service makes one up',
    '^[A-Za-z0-9._-]{1,128}$',
  ),
  'Idempotency-Key': parameter(
    'Idempotency-Key',
    'Makes a repeated request safe: for 24 hours the same key with the same request gets the first answer again, and nothing is done or billed twice',
    '^[\\x21-\\x7e]{1,255}$',
  ),
  'If-Match': parameter(
    'If-Match',
    'Changes the resource only if it still has this ETag, or one of several that commas separate; otherwise 412 precondition_failed. A weak one (W/) never matches; * always does',
  ),
};

function parameter(name: string, description: string, pattern?: string): JsonObject {
  return { name, in: 'header', description, schema: { ...text, ...(pattern && { pattern }) } };
}

function shown(description: string, example: string): JsonObject {
  return { description, schema: text, example };
}

/** Response headers, as components that the responses refer to. */
export const answerHeaders: Record<string, JsonObject> = {
  'x-request-id': {
    description: 'The name of the request in the log: the x-request-id that was sent, or a new one',
    required: true,
    schema: text,
  },
  ETag: shown('The revision of the resource, for If-Match', '"7"'),
  Deprecation: shown('Since when a field that was sent is deprecated (RFC 9745)', '@1767225600'),
  'Idempotent-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same Idempotency-Key',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': shown('After how many seconds the same request may be sent again', '2'),
  'RateLimit-Policy': shown(
    'The limits that are set for this caller (draft-ietf-httpapi-ratelimit-headers)',
    '"credits-per-day";q=2000;w=86400',
  ),
  RateLimit: shown(
    'What is left of each limit, and after how many seconds it starts over',
    '"credits-per-day";r=1980;t=43200',
  ),
  Link: shown(
    'Where the status of the task is shown, if the deployment relays notifications; with an error, if the task may have started: an unguessable address that needs no token (a `TaskStatus`; 404 until the provider has said something, gone after seven days)',
    '<https://downloads.example.com/status/3q2-7wAAq83vASNFZ4mrze8BI0V.json>; rel="status"',
  ),
  'X-Credits-Used': shown('What the task cost, if it is known', '20'),
  'X-Ignored-Fields': shown(
    'The fields of the body that are unknown here and had no effect: a list of strings (RFC 9651) with the path of each, at most 20; `more` counts the others',
    '"seed", "image_settings[1].durations"',
  ),
  'WWW-Authenticate': shown('How to authenticate', 'Bearer'),
};

/** The headers that come with an error, by the status of its code. */
export function headersOfStatus(status: number): string[] {
  const headers: Record<number, string> = {
    [errorCatalog.unauthorized.status]: 'WWW-Authenticate',
    [errorCatalog.idempotency_in_flight.status]: 'Retry-After',
    [errorCatalog.provider_busy.status]: 'Retry-After',
    [errorCatalog.unavailable.status]: 'Retry-After',
  };
  return ['x-request-id', ...(headers[status] === undefined ? [] : [headers[status]])];
}

export function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
