import type { ErrorCode, ErrorDetail } from '../errors.ts';
import { type HttpReply, httpRequest, TransportError } from '../outgoing/http-request.ts';
import { isObject, type JsonObject } from '../json.ts';
import { log } from '../log.ts';
import type { StoredSecret } from '../aws/stored-secret.ts';
import type { ProviderName } from '../config.ts';
import {
  idCandidates,
  readCredits,
  readErrorReply,
  readReplyObject,
  readRetryAfter,
  readTaskId,
} from './reply.ts';

/** How a provider is called. */
export interface Provider {
  name: ProviderName;
  url: string;
  key: StoredSecret;
  /** `<header>`, or `<header>: <word before the key>`. */
  keyHeader: string;
  /** Whether its replies repeat what was sent, and so may be as large as the request. */
  echoesRequest: boolean;
}

/** A task that a provider started, and the price if the provider names one. */
export interface BoughtTask {
  taskId: string;
  credits?: number | undefined;
}

/** The result of sending a request once. */
export type ExchangeResult = Taken | Refused | Unknown;

interface Taken {
  payment: 'taken';
  status: number;
  task: BoughtTask;
  reply: JsonObject;
}

interface Refused {
  payment: 'refused';
  code: ErrorCode;
  /** Undefined if nothing left this machine. */
  status?: number;
  text: string;
  details: ErrorDetail[];
  retryAfterMs: number | undefined;
  cause: unknown;
}

interface Unknown {
  payment: 'unknown';
  code: 'provider_failed' | 'provider_invalid_reply' | 'provider_timeout';
  cause: unknown;
  status?: number;
  /** A failure may name a task too. */
  task?: Partial<BoughtTask>;
}

interface OutgoingCall {
  path: string;
  body: Buffer;
  key: string;
  timeoutMs: number;
}

/** The statuses by which a provider rejects a request, with our caller's error for each. */
const rejections: Record<number, ErrorCode> = {
  400: 'provider_rejected',
  401: 'provider_credentials',
  402: 'provider_quota',
  403: 'provider_credentials',
  404: 'provider_rejected',
  409: 'provider_rejected',
  413: 'provider_rejected',
  422: 'provider_rejected',
  429: 'provider_busy',
};

const maxReplyBytes = 1024 * 1024;
/** A JSON writer may escape a character that we sent as one byte to the six of `\u003c`. */
const bytesPerEchoedByte = 6;

/** Sends one request to a provider, once. */
export async function exchange(
  provider: Provider,
  { path, body, key, timeoutMs }: OutgoingCall,
): Promise<ExchangeResult> {
  try {
    const reply = await httpRequest({
      url: new URL(provider.url.replace(/\/*$/, path)),
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...requestHeaders(provider, key),
      },
      body,
      timeoutMs,
      maxReplyBytes: maxReplyBytes + (provider.echoesRequest ? bytesPerEchoedByte * body.length : 0),
    });
    return readReply(reply, key);
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause;
    const { sent, head, reason } = cause;
    if (!sent) return { ...notSent, cause };
    const read = head && readReply(head, key);
    // The status decides even if the body was cut off. Only a success whose body stalls is a timeout.
    if (head && read && (reason !== 'timeout' || !isSuccess(head.status))) return read;
    const named = read && 'task' in read ? { task: read.task } : {};
    return { payment: 'unknown', code: 'provider_timeout', cause, ...named };
  }
}

/** The headers of every request to a provider. */
export function requestHeaders({ keyHeader }: Provider, key: string): Record<string, string> {
  const [header = '', word] = keyHeader.split(': ');
  return {
    accept: 'application/json',
    'accept-encoding': 'identity',
    [header]: word ? `${word} ${key}` : key,
  };
}

const notSent: Omit<Refused, 'cause'> = {
  payment: 'refused',
  code: 'provider_unreachable',
  text: '',
  details: [],
  retryAfterMs: undefined,
};

function readReply({ status, headers, body }: HttpReply, key: string): ExchangeResult {
  const { content, isWhole } = readReplyObject(new TextDecoder().decode(body));
  const taskId = taskIdIn(content);
  const credits = readCredits(content.credits);
  if (isSuccess(status) && isWhole && taskId !== undefined)
    return { payment: 'taken', status, task: { taskId, credits }, reply: content };

  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const { text, details, isOutOfCredits } = readErrorReply(content, key);
  const code = rejectionCode(status, isOutOfCredits, retryAfterMs);
  const cause = new Error(`the provider answered ${status}`);
  if (code !== undefined) return { payment: 'refused', status, code, text, details, retryAfterMs, cause };

  // A reply that is neither a success nor an error, such as a redirect, counts as one that cannot be read.
  if (isSuccess(status) && taskId === undefined)
    log('warn', 'task_id_missing', { candidates: idCandidates(content, headers) });
  const unknownCode = status < 400 ? 'provider_invalid_reply' : 'provider_failed';
  return {
    payment: 'unknown',
    code: unknownCode,
    cause,
    status,
    task: { ...(taskId !== undefined && { taskId }), ...(credits !== undefined && { credits }) },
  };
}

function rejectionCode(
  status: number,
  isOutOfCredits: boolean,
  retryAfterMs?: number,
): ErrorCode | undefined {
  if (status === 503 && retryAfterMs !== undefined) return 'provider_busy';
  if (status >= 400 && status < 500 && isOutOfCredits) return 'provider_quota';
  return rejections[status];
}

function taskIdIn({ task_id, data }: JsonObject): string | undefined {
  return readTaskId(task_id) ?? (isObject(data) ? readTaskId(data.task_id) : undefined);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
