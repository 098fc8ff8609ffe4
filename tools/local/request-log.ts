import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { parseObject } from '../../lib/json.ts';

/** One request that the API answered, as the home page shows it. */
export interface LoggedRequest {
  at: string;
  id: string;
  method: string;
  path: string;
  /** As its token names it; nothing here checks the token. */
  caller: string;
  status: number;
  ms: number;
  code?: string;
  message?: string;
  details?: { path: string; message: string }[];
  /** The cost of a paid task. */
  credits?: string;
  replayed?: true;
}

export interface RequestLog {
  add: (request: LoggedRequest) => void;
  /** Newest first. */
  latest: () => LoggedRequest[];
}

const maxRequests = 20;
const maxDetails = 10;

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
  status: number;
  answered: IncomingHttpHeaders;
  /** The body of an error. */
  received: string;
  started: number;
}

export function loggedRequest(exchange: Exchange): LoggedRequest {
  const { request, status, answered, received, started } = exchange;
  const credits = answered['x-credits-used'];
  return {
    at: new Date().toISOString(),
    id: String(answered['x-request-id'] ?? ''),
    method: request.method ?? '',
    path: request.url ?? '/',
    caller: status === 401 ? 'unknown' : callerOf(request.headers.authorization),
    status,
    ms: Math.round(performance.now() - started),
    ...(status >= 400 && errorIn(received)),
    ...(credits !== undefined && { credits: String(credits) }),
    ...(answered['idempotent-replayed'] === 'true' && { replayed: true }),
  };
}

function errorIn(received: string): Pick<LoggedRequest, 'code' | 'message' | 'details'> {
  const body = parseObject(received) ?? {};
  const details = Array.isArray(body.details) ? body.details.slice(0, maxDetails) : [];
  return {
    ...(typeof body.error === 'string' && { code: body.error }),
    ...(typeof body.message === 'string' && { message: body.message }),
    ...(details.length > 0 && { details }),
  };
}

function callerOf(authorization = ''): string {
  const [, claims = ''] = authorization.split('.');
  const { sub } = parseObject(Buffer.from(claims, 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? sub : 'no access token';
}
