import type { StoredSecret } from '../aws/stored-secret.ts';
import type { ProviderName } from '../config.ts';
import { calling, type Context } from '../context.ts';
import { ApiError, type ErrorCode, errorCatalog } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import { note } from '../log.ts';
import { type HttpReply, type HttpRequest, httpRequest, TransportError } from '../outgoing/http-request.ts';
import { readCredits, readErrorReply, readReplyObject, readRetryAfter, readTaskId } from './reply.ts';

export interface Provider {
  name: ProviderName;
  url: string;
  key: StoredSecret;
  /** `<header>`, or `<header>: <word before the key>`. */
  keyHeader: string;
  /** Whether its replies repeat the request, and so may be as large. */
  echoesRequest: boolean;
}

/** A task that a provider started, and the price if the provider names one. */
export interface BoughtTask {
  taskId: string;
  credits?: number | undefined;
}

/** The interface makes a response's credits an int32; the ledger counts the whole price. */
export const maxInt32 = 2 ** 31 - 1;

export interface StartedTask {
  task: BoughtTask;
  reply: JsonObject;
}

type SendResult = (StartedTask & { status: number; error?: undefined }) | Failure;

interface Failure {
  /** For our caller. An error with unknown payment may also name a task. */
  error: ApiError;
  /** Undefined if no reply came. */
  status?: number;
  retryAfterMs?: number | undefined;
}

/** The reply must arrive by then, even if the invocation has more time left. */
const maxReplyMs = 25_000;

/** With less time than this, a task would more likely be paid for than answered. */
const minReplyMs = 1000;

/** A longer wait is left to the caller, who gets the Retry-After. */
const maxRetryAfterMs = 3000;
const retryJitterMs = 400;

const maxReplyBytes = 1024 * 1024;
/** A JSON writer may escape a character that we sent as one byte to the six of `\u003c`. */
const bytesPerEchoedByte = 6;

/** Does everything of a paid call that can fail at no cost, and returns the rest: what starts the task. */
export async function prepareTask(
  context: Context,
  provider: Provider,
  path: string,
  request: object,
): Promise<() => Promise<StartedTask>> {
  const body = Buffer.from(JSON.stringify(request));
  const key = await provider.key.read(context);
  return () => startTask({ context, provider, path, body, key });
}

interface PaidCall {
  context: Context;
  provider: Provider;
  path: string;
  body: Buffer;
  key: string;
}

/**
 * A second request is sent only if the first can't have bought anything: no connection was made, or a 429 asked for a
 * short wait. After a rejected key, the next request reads it again.
 */
async function startTask(call: PaidCall): Promise<StartedTask> {
  const { deadline } = call.context;
  if (deadline - Date.now() < minReplyMs)
    throw new ApiError('unavailable', { payment: 'rejected', reason: 'too little time to send' });
  const started = Date.now();
  const replyBy = Math.min(deadline, started + maxReplyMs);
  let result = await send(call, replyBy);
  const wait = waitBeforeRetry(result);
  const isRepeated = wait !== undefined && Date.now() + wait + minReplyMs <= replyBy;
  if (isRepeated) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    result = await send(call, replyBy);
  }
  if (result.error?.code === 'provider_credentials') call.provider.key.forget();
  noteCall(call.provider, result, { isRepeated, ms: Date.now() - started });
  if (result.error) throw result.error;
  return result;
}

async function send({ context, provider, path, body, key }: PaidCall, replyBy: number): Promise<SendResult> {
  const timeoutMs = replyBy - Date.now();
  const maxEchoBytes = provider.echoesRequest ? bytesPerEchoedByte * body.length : 0;
  const request = { method: 'POST', body, timeoutMs, maxReplyBytes: maxReplyBytes + maxEchoBytes } as const;
  try {
    return readReply(await exchange(context, provider, key, path, request), key);
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause;
    return readBrokenReply(cause, key);
  }
}

/** One exchange with a provider, at a path below its URL. */
export function exchange(
  context: Context,
  { name, url, keyHeader }: Provider,
  key: string,
  path: string,
  request: Omit<HttpRequest, 'url' | 'headers'>,
): Promise<HttpReply> {
  const [header = '', word] = keyHeader.split(': ');
  const headers = {
    ...(request.body && { 'content-type': 'application/json' }),
    accept: 'application/json',
    'accept-encoding': 'identity',
    [header]: word ? `${word} ${key}` : key,
  };
  const whole = { ...request, url: new URL(url.replace(/\/*$/, path)), headers };
  return calling(context, `${name} provider`, () => httpRequest(whole));
}

/** Logs every task id, so a task can be found even if its response never reached the caller. */
function noteCall(
  { name }: Provider,
  result: SendResult,
  { isRepeated, ms }: { isRepeated: boolean; ms: number },
) {
  const task = result.error ? result.error.task : result.task;
  note({
    provider: name,
    provider_ms: ms,
    provider_payment: result.error?.payment ?? 'taken',
    ...(result.status !== undefined && { provider_status: result.status }),
    ...(task?.taskId !== undefined && { provider_task_id: task.taskId }),
    ...(isRepeated && { provider_attempts: 2 }),
  });
}

/** Milliseconds to wait before the second request; undefined if there must be none. */
function waitBeforeRetry(result: SendResult): number | undefined {
  if (!result.error) return undefined;
  const { error, status, retryAfterMs } = result;
  const jitter = Math.random() * retryJitterMs;
  if (error.code === 'provider_unreachable') return jitter;
  const isShortWait = retryAfterMs !== undefined && retryAfterMs <= maxRetryAfterMs;
  return status === 429 && error.code === 'provider_busy' && isShortWait ? retryAfterMs + jitter : undefined;
}

function readReply(answer: HttpReply, key: string): SendResult {
  const { status, body } = answer;
  const { content, isWhole } = readReplyObject(new TextDecoder().decode(body));
  const taskId = taskIdIn(content);
  const credits = readCredits(content.credits);
  if (isSuccess(status) && isWhole && taskId !== undefined)
    return { status, task: { taskId, credits }, reply: content };
  return readFailure(answer, content, { taskId, credits }, key);
}

function readFailure(
  { status, headers }: HttpReply,
  content: JsonObject,
  task: ApiError['task'],
  key: string,
): Failure {
  const cause = new Error(`the provider answered ${status}`);
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const { text, details, isOutOfCredits } = readErrorReply(content, key);
  const code = rejectionCode(status, isOutOfCredits, retryAfterMs);
  if (code !== undefined) {
    const isBusy = code === 'provider_busy' && retryAfterMs !== undefined;
    const error = new ApiError(code, {
      ...(code === 'provider_rejected' && { details, ...(text && { message: rejectionMessage(text) }) }),
      ...(isBusy && { headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } }),
      cause,
      payment: 'rejected',
    });
    return { error, status, retryAfterMs };
  }

  // A reply that is neither a success nor an error, such as a redirect, counts as unreadable.
  const failure = status < 400 ? 'provider_invalid_reply' : 'provider_failed';
  return { error: unknownPayment(failure, cause, task), status };
}

/** Reads a reply that broke off or never came. */
function readBrokenReply(cause: TransportError, key: string): SendResult {
  const { sent, head, reason } = cause;
  if (!sent) return { error: new ApiError('provider_unreachable', { cause, payment: 'rejected' }) };
  const read = head && readReply(head, key);
  // The status decides even if the body was cut off. Only a success whose body stalls is a timeout.
  if (head && read && (reason !== 'timeout' || !isSuccess(head.status))) return read;
  return { error: unknownPayment('provider_timeout', cause, read?.error ? read.error.task : read?.task) };
}

const connectionLost =
  'The connection to the provider was lost before its reply came, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.';

function unknownPayment(code: ErrorCode, cause: Error, task: ApiError['task']): ApiError {
  const isLost = cause instanceof TransportError && cause.reason !== 'timeout';
  const text = isLost ? connectionLost : errorCatalog[code].message;
  const message = task?.taskId === undefined ? text : `${text} The reply named the task ${task.taskId}.`;
  return new ApiError(code, { message, cause, payment: 'unknown', task });
}

/** The errors for a provider's rejections. Any other 4xx is `provider_rejected`. */
const rejections: Record<number, ErrorCode | undefined> = {
  401: 'provider_credentials',
  402: 'provider_quota',
  403: 'provider_credentials',
  // A request that took too long may still be carried out.
  408: undefined,
  429: 'provider_busy',
};

function rejectionCode(
  status: number,
  isOutOfCredits: boolean,
  retryAfterMs?: number,
): ErrorCode | undefined {
  if (status === 503 && retryAfterMs !== undefined) return 'provider_busy';
  if (status < 400 || status >= 500) return undefined;
  if (isOutOfCredits) return 'provider_quota';
  return status in rejections ? rejections[status] : 'provider_rejected';
}

function rejectionMessage(text: string): string {
  return `The provider rejected the request: ${/[.!?…]$/.test(text) ? text : `${text}.`}`;
}

function taskIdIn({ task_id, data }: JsonObject): string | undefined {
  return readTaskId(task_id) ?? (isObject(data) ? readTaskId(data.task_id) : undefined);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
