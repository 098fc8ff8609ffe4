import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Fetch } from '@node-registry/registry-client';

/*
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY: Node's own fetch supports them only from version 24 on, and only with
 * an option. Written by hand, because a library for it is larger than the rest of the command.
 */

/** The proxy for a URL. Undefined if it is reached directly, as this machine always is. */
export function proxyFor(url: URL, environment: NodeJS.ProcessEnv): URL | undefined {
  const named = (name: string) => environment[name.toLowerCase()] || environment[name];
  const text = named(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') || named('ALL_PROXY');
  if (!text || isThisMachine(url) || isExcepted(url, named('NO_PROXY') ?? '')) return undefined;
  const proxy = /^[a-z0-9+.-]+:\/\//i.test(text) ? text : `http://${text}`;
  if (/^https?:/i.test(proxy) && URL.canParse(proxy)) return new URL(proxy);
  throw new TypeError('fetch failed', { cause: new ProxyFault('in the environment', 'PROXY_URL_INVALID') });
}

/** A fault of the proxy, not of the registry behind it. */
export class ProxyFault extends Error {
  readonly code: string;

  constructor(proxy: string, code: string) {
    const plain = code.replace('PROXY_', '');
    const why = reasons[plain] ?? (/^HPE_/.test(plain) ? reasons.HPE : `fails with ${plain}`);
    super(`The proxy ${proxy} ${why}. It is named by HTTPS_PROXY, HTTP_PROXY or ALL_PROXY.`);
    this.code = code;
  }
}

const reasons: Record<string, string> = {
  URL_INVALID: 'has no valid http or https URL',
  407: 'asks for a login: write it into its URL, as in http://NAME:PASSWORD@HOST',
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'has an unknown host name',
  ECONNRESET: 'ended the connection',
  HPE: 'does not answer as a proxy does',
};

function codeOf(error: unknown): string {
  return String(Object(error).code ?? 'no reason');
}

export function isThisMachine({ hostname }: URL): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** `.example.com` and `example.com` also match subdomains. */
function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, host = '', wanted] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entry === '*') return true;
      if (host === '' || (wanted !== undefined && wanted !== ownPort)) return false;
      return hostname === host || (isIP(hostname) === 0 && hostname.endsWith(`.${host}`));
    });
}

const stalled = 'the proxy stalled';

/** Node's request, through a proxy if the environment names one. */
export async function requestTo(url: URL, options: http.RequestOptions): Promise<http.ClientRequest> {
  const { request } = url.protocol === 'https:' ? https : http;
  const proxy = proxyFor(url, process.env);
  if (proxy === undefined) return request(url, options);
  const login = decodeURIComponent(`${proxy.username}:${proxy.password}`);
  const headers =
    login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
  const { request: askProxy } = proxy.protocol === 'https:' ? https : http;
  const via = {
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
  };
  if (url.protocol === 'http:')
    return askProxy({
      ...options,
      ...via,
      path: url.href,
      headers: { ...options.headers, ...headers, host: url.host },
    });
  const target = `${url.hostname}:${url.port || 443}`;
  const { signal, timeout } = options;
  const tunnel = askProxy({
    ...via,
    signal,
    timeout,
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...headers },
  });
  const socket = await new Promise<Socket>((resolve, reject) => {
    const fail = (code: string) => reject(new ProxyFault(proxy.origin, code));
    tunnel
      .on('error', (error) =>
        error.message === stalled || signal?.aborted ? reject(error) : fail(`PROXY_${codeOf(error)}`),
      )
      .on('timeout', () => tunnel.destroy(new Error(stalled)));
    tunnel.on('response', ({ statusCode }) => fail(`PROXY_${statusCode}`));
    tunnel.on('connect', ({ statusCode }, connected) => {
      if (statusCode === 200) resolve(connected);
      else fail(`PROXY_${statusCode}`);
    });
    tunnel.end();
  });
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const servername = isIP(host) === 0 ? host : '';
  // With an agent, Node would not use this connection.
  return request(url, {
    ...options,
    defaultPort: 443,
    createConnection: () => connectTls({ socket, host, servername }),
  });
}

/** The part of fetch that the client uses. Without a proxy, Node's own. */
export const proxiedFetch: Fetch = async (address, init) => {
  const url = new URL(address);
  const proxy = proxyFor(url, process.env);
  if (proxy === undefined) return fetch(address, init);
  const { method = 'GET', body, signal } = init;
  try {
    const headers = Object.fromEntries(new Headers(init.headers));
    const outgoing = await requestTo(url, { method, headers, ...(signal && { signal }) });
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const fail = (error: Error) =>
        reject(url.protocol === 'http:' ? new ProxyFault(proxy.origin, codeOf(error)) : error);
      outgoing.on('error', fail).on('response', resolve);
      outgoing.end(body === null ? undefined : body);
    });
    const { statusCode: status = 0, headers: named } = response;
    if (status === 407) throw new ProxyFault(proxy.origin, 'PROXY_407');
    const plain = Object.entries(named).map(([name, value]): [string, string] => [name, String(value)]);
    return new Response(hasBody(status) ? (Readable.toWeb(response) as ReadableStream) : null, {
      status,
      headers: plain,
    });
  } catch (cause) {
    signal?.throwIfAborted();
    // As fetch reports it.
    throw new TypeError('fetch failed', { cause });
  }
};

function hasBody(status: number): boolean {
  return ![101, 204, 205, 304].includes(status);
}
