import type { IncomingMessage } from 'node:http';
import { parseObject } from '../../lib/json.ts';

/** One answered request of the API, as the home page shows it. */
export interface LoggedRequest {
  at: string;
  id: string;
  method: string;
  path: string;
  /** From its token, which nothing here checks. */
  caller: string;
  status: number;
  ms: number;
  /** The body of an error, cut. */
  error: string;
}

export interface RequestLog {
  add: (request: LoggedRequest) => void;
  /** Newest first. */
  latest: () => LoggedRequest[];
}

const maxRequests = 20;
const maxErrorLength = 2000;

export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = [];
  const add = (request: LoggedRequest) => {
    requests.unshift(request);
    requests.length = Math.min(requests.length, maxRequests);
  };
  return { add, latest: () => requests };
}

interface Exchange {
  request: IncomingMessage;
  id: string;
  status: number;
  /** The body of an error. */
  received: string;
  started: number;
}

export function loggedRequest({ request, id, status, received, started }: Exchange): LoggedRequest {
  return {
    at: new Date().toISOString(),
    id,
    method: request.method ?? '',
    path: request.url ?? '/',
    caller: status === 401 ? 'unknown' : callerOf(request.headers.authorization),
    status,
    ms: Math.round(performance.now() - started),
    error: status >= 400 ? received.slice(0, maxErrorLength) : '',
  };
}

function callerOf(authorization = ''): string {
  const [, claims = ''] = authorization.split('.');
  const { sub } = parseObject(Buffer.from(claims, 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? sub : 'no access token';
}
