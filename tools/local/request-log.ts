import type { IncomingMessage } from 'node:http';
import { parseObject } from '../../lib/json.ts';

/** One answered request of the API, as the studio shows it, with the lines that its function has logged. */
export type LoggedRequest = ReturnType<typeof loggedRequest> & { lines: Record<string, unknown>[] };

export type RequestLog = ReturnType<typeof createRequestLog>;

const maxRequests = 50;
const maxLines = 200;
const maxTextLength = 2000;

/** `output` is where functions log: its lines are kept with the requests that they name. */
export function createRequestLog(output: Pick<NodeJS.WriteStream, 'write'> = process.stdout) {
  const requests: LoggedRequest[] = [];
  const listeners = new Set<() => void>();
  const lines: Record<string, unknown>[] = [];
  const write = output.write.bind(output) as (...all: unknown[]) => boolean;
  output.write = (text: unknown, ...rest: unknown[]) => {
    const line = typeof text === 'string' && text.startsWith('{"level"') ? parseObject(text) : undefined;
    if (line) lines.push(line);
    lines.splice(0, lines.length - maxLines);
    return write(text, ...rest);
  };
  const add = (request: ReturnType<typeof loggedRequest>) => {
    requests.unshift({ ...request, lines: lines.filter(({ request_id }) => request_id === request.id) });
    requests.length = Math.min(requests.length, maxRequests);
    for (const listener of listeners) listener();
  };
  /** Calls with each change, until the returned function is called. */
  const listen = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  /** Newest first. */
  const latest = () => requests;
  return { add, latest, listen };
}

interface Exchange {
  request: IncomingMessage;
  id: string;
  status: number;
  /** What was sent, and the body of an error. */
  sent: string;
  received: string;
  started: number;
}

export function loggedRequest(exchange: Exchange) {
  const { request, id, status, sent, received, started } = exchange;
  return {
    at: new Date().toISOString(),
    id,
    method: request.method ?? '',
    path: request.url ?? '/',
    /** From its token, which nothing here checks. */
    caller: callerOf(request, status),
    status,
    ms: Math.round(performance.now() - started),
    body: sent.slice(0, maxTextLength),
    error: status >= 400 ? received.slice(0, maxTextLength) : '',
  };
}

function callerOf({ url = '', headers: { authorization = '' } }: IncomingMessage, status: number): string {
  if (status === 401) return 'unknown';
  if (url.startsWith('/notifications/')) return 'provider';
  const [, claims = ''] = authorization.split('.');
  const { sub } = parseObject(Buffer.from(claims, 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? sub : 'no access token';
}
