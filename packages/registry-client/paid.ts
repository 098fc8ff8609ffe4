import { type UploadProgress, uploadImages, type WithImages, withoutBytes } from './images.ts';
import { OpenCalls } from './open-calls.ts';
import { statusUrlOf } from './read-answer.ts';
import { addFacts, isUnsent, RegistryError } from './registry-error.ts';
import { type Call, freshKey } from './request.ts';
import { send } from './send.ts';
import type { Fetch, Settings } from './settings.ts';
import { type FinishedTask, requireWait, type StartedTask, type WaitOptions, waitForTask } from './tasks.ts';
import type { Body, KeyedOptions, operations, Reply } from './types.ts';

/** The operations whose responses name their cost. */
type PaidOperation = {
  [Name in keyof operations]: operations[Name]['responses'] extends {
    200: { headers: { 'X-Credits-Used'?: unknown } };
  }
    ? Name
    : never;
}[keyof operations];

export interface PaidOptions extends KeyedOptions {
  /** Receives how much of the large images has been sent; in browsers during the upload. */
  onUpload?: ((progress: UploadProgress) => void) | undefined;
}

/** The options of a paid call that waits for its task. */
export interface WaitingOptions extends PaidOptions, Omit<WaitOptions, 'fetch'> {
  wait: true;
}

/** The calls that spend money, and the wait for their tasks. `ownFetch` is the caller's. */
export function paidCalls(settings: Settings, ownFetch: Fetch | undefined) {
  const open = new OpenCalls();

  /** Sends a paid request; uploads its large images first if the service doesn't have them yet. */
  async function pay<Data>(
    path: string,
    answer: Call['answer'],
    given: unknown,
    { onUpload, idempotencyKey, ...rest }: PaidOptions,
  ): Promise<{ data: Data; key: string }> {
    const { body, uploads } = await withoutBytes(given);
    const key = idempotencyKey ?? open.keyOf(path, body) ?? freshKey();
    open.count(key, 1);
    const headers = { 'idempotency-key': key };
    const call: Call = { method: 'POST', path, body, isRepeatable: true, headers, answer };
    const sendIt = () => send<Data>(settings, call, rest);
    try {
      const data = await sendIt().catch(async (error: unknown) => {
        if (!(error instanceof RegistryError) || error.code !== 'upload_needed' || uploads.size === 0)
          throw error;
        const { signal, fetch = ownFetch } = rest;
        await uploadImages(error, uploads, { signal, onUpload, fetch });
        return sendIt();
      });
      open.close({ key });
      return { data, key };
    } catch (error) {
      open.count(key, -1);
      if (!(error instanceof RegistryError)) {
        // The signal ended it, at any point.
        open.add(path, body, key, undefined);
      } else {
        if (error.mayBeDone) open.add(path, body, key, error.statusUrl);
        addFacts(error, { idempotencyKey: key });
      }
      throw error;
    }
  }

  /** Waits for a task. Once it has a status, the outcome of the call that started it is known. */
  function wait(statusUrl: string, options: WaitOptions, started?: StartedTask) {
    const { fetch = ownFetch, onState } = options;
    const onStatus: WaitOptions['onState'] = (progress) => {
      open.close({ statusUrl });
      onState?.(progress);
    };
    return waitForTask(statusUrl, { ...options, fetch, onState: onStatus }, started);
  }

  async function payAndWait<Name extends PaidOperation>(
    path: string,
    answer: Call['answer'],
    body: WithImages<Body<Name>>,
    { onState, waitMs, onResponse, wait: _, ...keyed }: WaitingOptions,
  ): Promise<FinishedTask> {
    requireWait(waitMs);
    let statusUrl: string | undefined;
    const hear = (response: Response) => {
      statusUrl = statusUrlOf(response);
      onResponse?.(response);
    };
    const { taskId, key } = await pay<Reply<Name>>(path, answer, body, { ...keyed, onResponse: hear }).then(
      ({ data, key }) => ({ taskId: taskIdOf(data), key }),
      (error: unknown) => {
        // A repeated call whose first response was lost: its task exists.
        if (!(error instanceof RegistryError) || error.code !== 'idempotency_consumed' || !statusUrl)
          throw error;
        return { taskId: undefined, key: String(error.idempotencyKey) };
      },
    );
    if (statusUrl === undefined) throw withoutStatus(taskId, key);
    if (taskId !== undefined) onState?.({ state: 'created', taskId, statusUrl });
    const { signal, fetch } = keyed;
    const hearState: WaitOptions['onState'] = (progress) =>
      (taskId === undefined || progress.state !== 'created') && onState?.(progress);
    return wait(statusUrl, { signal, fetch, waitMs, onState: hearState }, { taskId, idempotencyKey: key });
  }

  /** Starts a task, and with `wait: true` waits until it has ended. */
  function paid<Name extends PaidOperation>(path: string, answer: Call['answer']) {
    function start(body: WithImages<Body<Name>>, given: WaitingOptions): Promise<FinishedTask>;
    function start(
      body: WithImages<Body<Name>>,
      given?: PaidOptions & { wait?: false | undefined },
    ): Promise<Reply<Name>>;
    async function start(
      body: WithImages<Body<Name>>,
      given: PaidOptions | WaitingOptions = {},
    ): Promise<FinishedTask | Reply<Name>> {
      const isWaiting = 'wait' in given && given.wait;
      try {
        if (isWaiting) return await payAndWait<Name>(path, answer, body, given);
        return (await pay<Reply<Name>>(path, answer, body, given)).data;
      } catch (error) {
        if (!(error instanceof RegistryError) || isUnsent(error)) throw error;
        const { idempotencyKey, statusUrl, taskId } = error;
        const retry = () => {
          if (!isWaiting) return start(body, { ...given, idempotencyKey, wait: false });
          const { signal, fetch, waitMs, onState } = given;
          if (statusUrl)
            return wait(statusUrl, { signal, fetch, waitMs, onState }, { taskId, idempotencyKey });
          return start(body, { ...given, idempotencyKey });
        };
        throw addFacts(error, { retry });
      }
    }
    return start;
  }

  return { paid, wait };
}

function taskIdOf(reply: unknown): string | undefined {
  const { task_id, data } = Object(reply) as { task_id?: string; data?: { task_id?: string } };
  return task_id ?? data?.task_id;
}

/** It has started and is paid for, so its id must not be lost. */
function withoutStatus(taskId: string | undefined, idempotencyKey: string): RegistryError {
  const message = `The task ${taskId} has started, but this registry does not show task status, because it does not relay notifications.`;
  return new RegistryError('no_status', message, { taskId, idempotencyKey });
}
