import { type Continuation, RegistryError } from './registry-error.ts';
import type { Settings } from './settings.ts';
import type { CallOptions } from './types.ts';

/** The required type of a response's field. */
type FieldKind = 'string' | 'URL' | 'object' | 'list';

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether the same request may be repeated if the outcome of the first is unknown. */
  isRepeatable: boolean;
  /** Whether to ask again with the same key, after whatever failure, until the answer leads to the task. */
  asksForStatus?: boolean;
  /** The fields that a response to this call must have, or that it is a bare list. */
  answer: Record<string, FieldKind> | 'list';
}

/**
 * The request of a call, if `fetch` can send it. Otherwise `fetch` would throw the same TypeError as for a
 * lost connection, with a message that may show a token.
 */
export function requestOf(
  { baseUrl, headers: given }: Pick<Settings, 'baseUrl' | 'headers'>,
  token: string | undefined,
  call: Call,
  options: CallOptions,
): { url: string; init: RequestInit } {
  const headers = {
    ...lowerCased(given),
    'content-type': 'application/json',
    ...(token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...(options.requestId === undefined ? {} : { 'x-request-id': options.requestId }),
    ...call.headers,
  };
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw invalid(`headers.${name}`, 'has characters that a header cannot contain');
    }
  }
  const url = `${baseUrl}${call.path}`;
  // A redirect could carry tokens elsewhere, and the service sends none.
  return { url, init: { method: call.method, headers, body: jsonOf(call.body), redirect: 'manual' } };
}

/** With two spellings of a header, both would be sent. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

export function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw invalid('body', 'cannot be written as JSON', cause);
  }
}

/** A part of a path. */
export function segment(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw invalid('path', 'has half of a surrogate pair', cause);
  }
}

/** Gateways decode once, some before they choose the route; the service decodes these four once more. */
export function hostNodeSegment(name: string): string {
  if (name === '.' || name === '..')
    throw invalid('path', `cannot end with "${name}", which clients take out of a URL`);
  return segment(name.replaceAll(/[%/?#]/g, encodeURIComponent));
}

export function invalid(path: string, message: string, cause?: unknown): RegistryError {
  const details = [{ path, message }];
  return new RegistryError('invalid_request', 'The request cannot be sent.', { details, cause });
}

/** `crypto.randomUUID` is missing on pages that came over plain http. */
export function freshKey(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

/** Older Workers throw for options that they lack. */
export function supported(options: RequestInit): RequestInit {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name in Request.prototype));
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** In a browser only on pages that came over https or from this machine. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/* How the caller of a failed call goes on. */

/** Adds facts to an error that only its callers know. */
export function addFacts(error: RegistryError, facts: Continuation): RegistryError {
  return Object.assign(error, facts);
}

/** Nothing left this machine, and nothing will. */
export function isUnsent({ code, status }: RegistryError): boolean {
  return status === undefined && /^(?:invalid_request|idempotency_mismatch|order_expired)$/.test(code);
}

/** A read changes nothing, so a lost one leaves nothing open. */
export async function readOnly<Result>(call: Promise<Result>): Promise<Result> {
  return call.catch((error: unknown) => {
    throw error instanceof RegistryError ? addFacts(error, { mayBeDone: false }) : error;
  });
}

/** The errors of a call retry the whole of it. */
export async function retriedWhole<Result>(call: () => Promise<Result>): Promise<Result> {
  return call().catch((error: unknown) => {
    if (!(error instanceof RegistryError) || isUnsent(error)) throw error;
    throw addFacts(error, { retry: () => retriedWhole(call) });
  });
}
