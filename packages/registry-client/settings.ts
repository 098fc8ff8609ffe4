import type { OrderStore } from './order-store.ts';
import { RegistryError } from './registry-error.ts';

/** The used part of `fetch`: a replacement may have a cache, a proxy or a trace. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A wait before the same call is sent again. */
export interface Retry {
  /** How often it has been sent. */
  attempt: number;
  waitMs: number;
  error: RegistryError;
}

/** How calls are sent; a single call may have its own. `undefined` means the default. */
export interface SendOptions {
  /** How long one attempt may take, including reading its response. */
  timeoutMs?: number | undefined;
  /** How often a call is sent at most; by default as often as `patienceMs` allows. */
  attempts?: number | undefined;
  /** From the first attempt to the start of the last one. */
  patienceMs?: number | undefined;
  /** Called before each wait. */
  onRetry?: ((retry: Retry) => void) | undefined;
  fetch?: Fetch | undefined;
  /** Sent with each request to the registry; never to another host. */
  headers?: Record<string, string> | undefined;
}

export interface ClientOptions extends SendOptions {
  baseUrl: string;
  /** The registry's URL for files, for calls that only read: every `downloadUrl` begins with it. */
  downloadsUrl?: string | undefined;
  /**
   * An access token, or a function that fetches one for each call within its signal and `timeoutMs`. It is
   * asked once more if the registry rejects its token.
   */
  accessToken?: AccessToken | undefined;
  /** Keeps the `order` of paid calls; without one, they are known as long as the client. */
  orders?: OrderStore | undefined;
}

export type AccessToken = string | ((signal: AbortSignal) => string | Promise<string>);

/** The options of a call with all defaults. */
export interface Settings {
  baseUrl: string;
  accessToken: AccessToken | undefined;
  timeoutMs: number;
  attempts: number | undefined;
  patienceMs: number;
  onRetry: ((retry: Retry) => void) | undefined;
  fetch: Fetch;
  headers: Record<string, string>;
}

const standard: Settings = {
  baseUrl: '',
  accessToken: undefined,
  // Longer than the gateway's 30 seconds, so that the service's own response ends an attempt.
  timeoutMs: 35_000,
  attempts: undefined,
  patienceMs: 60_000,
  onRetry: undefined,
  // Looked up for each request, so that a later replacement is used.
  fetch: (url, init) => fetch(url, init),
  headers: {},
};

export function clientSettings({ baseUrl, accessToken, ...options }: ClientOptions): Settings {
  const address = requireAddress('baseUrl', baseUrl);
  return settingsWith({ ...standard, baseUrl: address, accessToken }, options);
}

export function readerSettings(options: SendOptions): Settings {
  return settingsWith(standard, options);
}

/** The settings of a single call. */
export function settingsWith(settings: Settings, given: SendOptions): Settings {
  return {
    ...settings,
    timeoutMs: milliseconds('timeoutMs', given.timeoutMs ?? settings.timeoutMs, 1),
    attempts: wholeNumber('attempts', given.attempts ?? settings.attempts),
    patienceMs: milliseconds('patienceMs', given.patienceMs ?? settings.patienceMs),
    onRetry: given.onRetry ?? settings.onRetry,
    fetch: given.fetch ?? settings.fetch,
    headers: { ...settings.headers, ...given.headers },
  };
}

/** Without a trailing slash, because paths begin with one. */
export function requireAddress(name: string, address: unknown): string {
  if (typeof address !== 'string' || address === '')
    throw new RegistryError('invalid_request', `The option ${name} is missing.`);
  if (!isWebAddress(address)) {
    // Not shown: it may contain a password.
    const details = [{ path: name, message: 'is not an http or https address without a password' }];
    throw new RegistryError('invalid_request', 'The client has nowhere to send calls.', { details });
  }
  return address.replace(/\/+$/, '');
}

function isWebAddress(address: string): boolean {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username === '' && password === '';
}

/** Timers accept no more, and would end at once. */
const maxMs = 2 ** 31 - 1;

export function milliseconds(name: string, value: number, least = 0): number {
  if (typeof value === 'number' && value >= least && value <= maxMs) return value;
  throw invalidNumber(name, `a number of milliseconds from ${least} to ${maxMs}`);
}

function wholeNumber(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return value;
  throw invalidNumber(name, 'a whole number above 0');
}

function invalidNumber(name: string, kind: string): RegistryError {
  return new RegistryError('invalid_request', `The option ${name} must be ${kind}.`);
}
