import { creditsOf, ignoredFieldsOf, type RateLimit, rateLimitsOf, statusUrlOf } from './read-answer.ts';
import { uploadImages, type UploadProgress, type WithImages, withoutBytes } from './images.ts';
import type { OrderRecord } from './order-store.ts';
import { digestOf, hasStatus, Orders, requireLivingKey } from './orders.ts';
import { addFacts, type Call, freshKey, invalid, isUnsent } from './request.ts';
import { RegistryError } from './registry-error.ts';
import { send } from './send.ts';
import { type Fetch, type Settings, settingsWith } from './settings.ts';
import { type FinishedTask, requireWait, waitForTask, type WaitOptions } from './tasks.ts';
import type { Body, KeyedOptions, Reply, operations } from './types.ts';

/** The operations whose responses name their cost. */
type PaidOperation = {
  [Name in keyof operations]: operations[Name]['responses'] extends {
    200: { headers: { 'X-Credits-Used'?: unknown } };
  }
    ? Name
    : never;
}[keyof operations];

export interface PaidOptions extends KeyedOptions {
  /** Names the purchase: calls with one order pay once, however often and in whatever order they come. */
  order?: string | undefined;
  /** Receives how much of the large images has been sent; in browsers during the upload. */
  onUpload?: ((progress: UploadProgress) => void) | undefined;
}

/** The options of a paid call that may wait for its task. */
export interface WaitingOptions extends PaidOptions, Omit<WaitOptions, 'fetch'> {
  wait: boolean;
}

/** What is known of a purchase besides its response. */
export interface Purchased {
  taskId: string | undefined;
  /** Undefined if the registry relays no notifications. A secret. */
  statusUrl: string | undefined;
  /** What it cost, if that is known. */
  credits: number | undefined;
  /** Fields of the request that had no effect. */
  ignored: string[];
  /** Empty if the caller has no limits. */
  rateLimits: RateLimit[];
}

export type RelightRequest = WithImages<Body<'relightImage'>>;
export type TextToVideoRequest = WithImages<Body<'textToVideo'>>;
export type ExtendRequest = WithImages<Body<'extendVideo'>>;
export type MultiframeRequest = WithImages<Body<'multiframeVideo'>>;

export type RelightResult = Started<'relightImage'>;
export type VideoResult = Started<'textToVideo' | 'extendVideo' | 'multiframeVideo'>;
export type Started<Name extends keyof operations> = Reply<Name> & Purchased;
export type Finished = FinishedTask & Purchased;

/** A purchase in progress: its order, and the orders that it belongs to. */
interface Purchase {
  orders: Orders;
  order: string;
}

interface Bought<Data> {
  /** Absent if the order's record has all that is needed. */
  data?: Data;
  record: OrderRecord;
  facts: Pick<Purchased, 'ignored' | 'rateLimits'>;
  /** The error after which the task may have started. */
  doubt?: RegistryError;
}

/** The calls that spend money, and the wait for their tasks. `ownFetch` is the caller's. */
export function paidCalls(settings: Settings, ownFetch: Fetch | undefined, orders: Orders) {
  /** Sends a paid request; uploads its large images first if the service doesn't have them yet. */
  async function sendPaid<Data>(call: Call, uploads: Map<string, Blob>, options: PaidOptions): Promise<Data> {
    const { onUpload, ...rest } = options;
    const sendIt = () => send<Data>(settings, call, rest);
    return sendIt().catch(async (error: unknown) => {
      if (!(error instanceof RegistryError) || error.code !== 'upload_needed' || uploads.size === 0)
        throw error;
      const { signal, fetch = ownFetch } = rest;
      await uploadImages(error, uploads, settingsWith(settings, rest), { signal, onUpload, fetch });
      return sendIt();
    });
  }

  /**
   * Buys, in these steps: the order is written down, sent, and written down again. An order that was sent
   * before is sent again with its key, while that lives; only the first attempt that arrives is paid.
   */
  async function buy<Data>(
    { path, answer }: Pick<Call, 'path' | 'answer'>,
    given: unknown,
    { idempotencyKey: _, order: __, ...options }: PaidOptions,
    { orders, order }: Purchase,
    isWaiting: boolean,
  ): Promise<Bought<Data>> {
    const { body, uploads } = await withoutBytes(given);
    const digest = await digestOf(path, body);
    return orders.inTurn(order, options.signal, async () => {
      const known = await orders.find(order, digest);
      const facts = { ignored: [], rateLimits: [] };
      if (isWaiting && known && hasStatus(known)) return { record: known, facts };
      if (known) requireLivingKey(known);
      const record: OrderRecord = known ?? { order, key: order, digest, state: 'sent', sentAt: Date.now() };
      if (!known) await orders.write(record);
      const headers = { 'idempotency-key': record.key };
      const call: Call = {
        method: 'POST',
        path,
        body,
        isRepeatable: true,
        headers,
        answer,
        asksForStatus: isWaiting,
      };
      let last: Response | undefined;
      const onResponse = (response: Response) => {
        last = response;
        options.onResponse?.(response);
      };
      try {
        const data = await sendPaid<Data>(call, uploads, { ...options, onResponse });
        const started = startedBy(record, data, last);
        await orders.note(started);
        return { data, record: started, facts: last ? factsOf(last) : facts };
      } catch (error) {
        // Otherwise its signal ended it, at any point.
        if (!(error instanceof RegistryError)) throw error;
        // An earlier attempt may have arrived, whatever this one was told.
        const mayBeDone = error.mayBeDone || known !== undefined;
        const { statusUrl = record.statusUrl } = error;
        addFacts(error, { idempotencyKey: record.key, mayBeDone, statusUrl, taskId: record.taskId });
        if (mayBeDone || error.code === 'idempotency_mismatch') {
          const doubtful = { ...record, statusUrl };
          if (statusUrl !== record.statusUrl) await orders.note(doubtful);
          if (isWaiting && statusUrl && mayBeDone) return { record: doubtful, facts, doubt: error };
        } else await orders.note({ ...record, state: 'rejected' });
        throw error;
      }
    });
  }

  async function buyAndWait<Data>(
    call: Pick<Call, 'path' | 'answer'>,
    body: unknown,
    { onState, waitMs, wait: _, ...options }: WaitingOptions,
    purchase: Purchase,
  ): Promise<Finished> {
    requireWait(waitMs);
    const { data, record, facts, doubt } = await buy<Data>(call, body, options, purchase, true);
    const { taskId, key, statusUrl, credits } = record;
    if (statusUrl === undefined) throw withoutStatus(taskId, key);
    const isNew = data !== undefined && taskId !== undefined;
    if (isNew) onState?.({ state: 'created', taskId, statusUrl });
    const hearState: WaitOptions['onState'] = (progress) =>
      (!isNew || progress.state !== 'created') && onState?.(progress);
    const { signal, fetch = ownFetch } = options;
    const ended = (state: 'success' | 'failed', task: string | undefined) =>
      purchase.orders.note({ ...record, state, taskId: task ?? taskId });
    try {
      const started = { taskId, idempotencyKey: key, doubt };
      const film = await waitForTask(statusUrl, { signal, fetch, waitMs, onState: hearState }, started);
      await ended('success', film.taskId);
      return { ...film, credits, ...facts };
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'task_failed') await ended('failed', error.taskId);
      throw error;
    }
  }

  /** Starts a task, and with `wait: true` waits until it has ended. */
  function paid<Name extends PaidOperation>(path: string, answer: Call['answer']) {
    const call = { path, answer };
    async function run(
      body: WithImages<Body<Name>>,
      given: PaidOptions | WaitingOptions,
      purchase: Purchase,
    ): Promise<Finished | Started<Name>> {
      try {
        if ('wait' in given && given.wait) return await buyAndWait<Reply<Name>>(call, body, given, purchase);
        const { data, record, facts } = await buy<Reply<Name>>(call, body, given, purchase, false);
        const { taskId, statusUrl, credits } = record;
        return { ...Object(data), taskId, statusUrl, credits, ...facts };
      } catch (error) {
        if (!(error instanceof RegistryError) || isUnsent(error)) throw error;
        throw addFacts(error, { retry: () => run(body, given, purchase) });
      }
    }
    function start(body: WithImages<Body<Name>>, given: WaitingOptions & { wait: true }): Promise<Finished>;
    function start(
      body: WithImages<Body<Name>>,
      given?: PaidOptions & { wait?: false | undefined },
    ): Promise<Started<Name>>;
    function start(
      body: WithImages<Body<Name>>,
      given?: PaidOptions | WaitingOptions,
    ): Promise<Finished | Started<Name>>;
    async function start(body: WithImages<Body<Name>>, given: PaidOptions | WaitingOptions = {}) {
      return run(body, given, purchaseOf(given, orders));
    }
    return start;
  }

  return paid;
}

/** Without an order, a purchase is known only to its call and that call's error. */
function purchaseOf({ order, idempotencyKey }: PaidOptions, orders: Orders): Purchase {
  if (order === undefined) return { orders: new Orders(), order: idempotencyKey ?? freshKey() };
  if (!/^[\x21-\x7e]{1,255}$/.test(order))
    throw invalid('order', 'must be 1 to 255 visible ASCII characters, because it is sent as a key');
  if (idempotencyKey !== undefined) throw invalid('order', 'has a key of its own: leave out idempotencyKey');
  return { orders, order };
}

function startedBy(record: OrderRecord, data: unknown, response: Response | undefined): OrderRecord {
  const { task_id, credits, data: image } = Object(data) as StartedReply;
  return {
    ...record,
    state: 'started',
    taskId: task_id ?? image?.task_id,
    statusUrl: (response && statusUrlOf(response)) ?? record.statusUrl,
    credits: (response && creditsOf(response)) ?? credits,
  };
}

interface StartedReply {
  task_id?: string;
  credits?: number;
  data?: { task_id?: string };
}

function factsOf(response: Response) {
  return { ignored: ignoredFieldsOf(response), rateLimits: rateLimitsOf(response) };
}

/** It has started and is paid for, so its id must not be lost. */
function withoutStatus(taskId: string | undefined, idempotencyKey: string): RegistryError {
  const message = `The task ${taskId} has started, but this registry shows no task status: it relays no notifications.`;
  return new RegistryError('no_status', message, { taskId, idempotencyKey, mayBeDone: true });
}
