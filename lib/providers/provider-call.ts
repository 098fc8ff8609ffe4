import { calling, type Context } from '../context.ts';
import { ApiError, errorCatalog } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { note } from '../log.ts';
import { TransportError } from '../outgoing/http-request.ts';
import { type BoughtTask, type ExchangeResult, exchange, type Provider } from './exchange.ts';

/** A task with the reply that names it. */
export interface StartedTask {
  task: BoughtTask;
  reply: JsonObject;
}

/** The reply must be here by then, however much is left of the invocation. */
const maxReplyMs = 25_000;

/** With less time than this, a task would more likely be paid for than answered. */
const minReplyMs = 1000;

/** A longer wait is the caller's: the Retry-After is passed on. */
const maxRetryAfterMs = 3000;
const retryJitterMs = 400;

/**
 * One paid call. `prepare` does what can fail before it costs anything. A second request is sent only if the first can't
 * have bought anything: no connection was made, a 429 asked for a short wait, or the key was rejected and has been replaced.
 */
export class ProviderCall {
  readonly #provider: Provider;
  readonly #path: string;
  readonly #context: Context;
  #key = '';
  #body = Buffer.alloc(0);

  constructor(context: Context, provider: Provider, path: string) {
    this.#context = context;
    this.#provider = provider;
    this.#path = path;
  }

  async prepare(body: object): Promise<void> {
    this.#body = Buffer.from(JSON.stringify(body));
    this.#key = await this.#provider.key.read(this.#context);
  }

  async startTask(): Promise<StartedTask> {
    const [context, path] = [this.#context, this.#path];
    if (context.deadline - Date.now() < minReplyMs)
      throw new ApiError('unavailable', { payment: 'refused', reason: 'too little time to send' });
    const started = Date.now();
    const replyBy = Math.min(context.deadline, started + maxReplyMs);
    const sendOnce = () =>
      calling(context, `${this.#provider.name} provider`, () =>
        exchange(this.#provider, { path, body: this.#body, key: this.#key, timeoutMs: replyBy - Date.now() }),
      );
    let sends = 1;
    let result = await sendOnce();
    const wait = waitBeforeRetry(result);
    if (wait !== undefined && Date.now() + wait + minReplyMs <= replyBy) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      sends += 1;
      result = await sendOnce();
    }

    if (result.payment === 'refused' && result.code === 'provider_credentials') {
      const key = await this.#provider.key.replacementOf({ deadline: replyBy - minReplyMs }, this.#key);
      if (key !== undefined) {
        this.#key = key;
        sends += 1;
        result = await sendOnce();
      }
    }
    noteCall(this.#provider, result, { sends, ms: Date.now() - started });
    if (result.payment !== 'taken') throw errorFor(result);
    return result;
  }
}

/** Every task id is logged, so that a task can be found even if its answer never reached the caller. */
function noteCall({ name }: Provider, result: ExchangeResult, { sends, ms }: { sends: number; ms: number }) {
  note({
    provider: name,
    provider_ms: ms,
    provider_payment: result.payment,
    ...(result.status !== undefined && { provider_status: result.status }),
    ...('task' in result && result.task?.taskId !== undefined && { provider_task_id: result.task.taskId }),
    ...(sends > 1 && { provider_attempts: sends }),
  });
}

/** Milliseconds to wait before the second request; undefined if there must be none. */
function waitBeforeRetry(result: ExchangeResult): number | undefined {
  const jitter = Math.random() * retryJitterMs;
  if (result.payment !== 'refused') return undefined;
  if (result.code === 'provider_unreachable') return jitter;
  if (result.status !== 429 || result.code !== 'provider_busy') return undefined;
  const { retryAfterMs } = result;
  return retryAfterMs === undefined || retryAfterMs > maxRetryAfterMs ? undefined : retryAfterMs + jitter;
}

type FailedExchange = Exclude<ExchangeResult, { payment: 'taken' }>;

const connectionLost =
  'The connection to the provider was lost before its reply came, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.';

/** Our caller's error for a call that started no task that we can name. */
function errorFor(result: FailedExchange): ApiError {
  if (result.payment === 'refused') return rejectionError(result);
  const { code, cause, task } = result;
  const isLost = cause instanceof TransportError && cause.reason !== 'timeout';
  const text = isLost ? connectionLost : errorCatalog[code].message;
  const message = task?.taskId === undefined ? text : `${text} The reply named the task ${task.taskId}.`;
  return new ApiError(code, { message, cause, payment: 'unknown', task });
}

function rejectionError({
  code,
  text,
  details,
  retryAfterMs,
  cause,
}: FailedExchange & { payment: 'refused' }): ApiError {
  const isAboutTheRequest = code === 'provider_rejected';
  const isBusy = code === 'provider_busy' && retryAfterMs !== undefined;
  return new ApiError(code, {
    ...(isAboutTheRequest && text && { message: `The provider rejected the request: ${withFullStop(text)}` }),
    ...(isAboutTheRequest && { details }),
    ...(isBusy && { headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } }),
    cause,
    payment: 'refused',
  });
}

function withFullStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
