import { type UploadProgress, uploadImages, type WithImages, withoutBytes } from './images.ts';
import { type PublishInput, type Published, type PublishOptions, publish } from './publish.ts';
import { type Call, hostNodeSegment, segment } from './request.ts';
import { statusUrlOf } from './read-answer.ts';
import { RegistryError } from './registry-error.ts';
import { readIndex } from './public-index.ts';
import { send } from './send.ts';
import { type ClientOptions, clientSettings } from './settings.ts';
import { type FinishedTask, type TaskProgress, type WaitOptions, waitForTask } from './tasks.ts';
import type {
  Body,
  BulkEntry,
  BulkPair,
  CallOptions,
  ConditionalOptions,
  KeyedOptions,
  operations,
  PublishBody,
  Reply,
} from './types.ts';

export {
  InvalidNotification,
  type InvalidReason,
  type Notification,
  type TaskNotification,
  verifyNotification,
} from './notification.ts';
export type { ImageInput, UploadProgress } from './images.ts';
export {
  type CatalogEntry,
  createPublicIndex,
  type IndexedHostNodes,
  type IndexedNode,
  type IndexedReadme,
  type PublicIndex,
  type PublicIndexOptions,
  type PublicVersion,
  type ReadOptions,
} from './public-index.ts';
export type { PublishInput, Published, PublishOptions, Upload } from './publish.ts';
export { type ErrorCode, RegistryError } from './registry-error.ts';
export type { AccessToken, ClientOptions, Fetch, Retry, SendOptions } from './settings.ts';
export type { Downloadable } from './download.ts';
export { statusUrlOf } from './read-answer.ts';
export type { FinishedTask, TaskProgress, WaitOptions } from './tasks.ts';
export type {
  Body,
  BulkEntry,
  BulkPair,
  CallOptions,
  components,
  ConditionalOptions,
  KeyedOptions,
  Node,
  NodeVersion,
  operations,
  Reply,
} from './types.ts';

/** The operations whose answers say what they cost. */
type PaidOperation = {
  [Name in keyof operations]: operations[Name]['responses'] extends {
    200: { headers: { 'X-Credits-Used'?: unknown } };
  }
    ? Name
    : never;
}[keyof operations];

export interface PaidOptions extends KeyedOptions {
  /** Hears how much of the large images has been sent; in browsers while it is sent. */
  onUpload?: ((progress: UploadProgress) => void) | undefined;
}

/** What a paid call takes to wait for its task. */
export interface WaitingOptions extends PaidOptions, Omit<WaitOptions, 'fetch'> {
  wait: true;
}

const maxPairs = 1000;
const task = { task_id: 'string' } as const;

export type RegistryClient = ReturnType<typeof createRegistryClient>;

/** A client of every operation. The access token, or what fetches one, is asked for each call. */
export function createRegistryClient(options: ClientOptions) {
  const settings = clientSettings(options);
  const index = readIndex(options.downloadsUrl, settings);
  const ask = <Data>(call: Call, given?: CallOptions) => send<Data>(settings, call, given);
  const post = <Data>(
    path: string,
    answer: Call['answer'],
    body: unknown,
    { idempotencyKey, ...given }: KeyedOptions = {},
  ) => {
    const headers = { 'idempotency-key': idempotencyKey ?? freshKey() };
    return ask<Data>({ method: 'POST', path, body, isRepeatable: true, headers, answer }, given);
  };

  /** Sends a paid request, and its large images first if the service has not got them yet. */
  const pay = async <Data>(
    path: string,
    answer: Call['answer'],
    given: unknown,
    { onUpload, ...rest }: PaidOptions,
  ) => {
    const { body, uploads } = await withoutBytes(given);
    const keyed = { ...rest, idempotencyKey: rest.idempotencyKey ?? freshKey() };
    try {
      return await post<Data>(path, answer, body, keyed);
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'upload_needed' || uploads.size === 0)
        throw error;
      const { signal, fetch = options.fetch } = rest;
      await uploadImages(error, uploads, { signal, onUpload, fetch });
      return post<Data>(path, answer, body, keyed);
    }
  };

  /** Starts a task, and with `wait: true` waits until it has ended. */
  const paid = <Name extends PaidOperation>(path: string, answer: Call['answer']) => {
    function start(body: WithImages<Body<Name>>, given: WaitingOptions): Promise<FinishedTask>;
    function start(
      body: WithImages<Body<Name>>,
      given?: PaidOptions & { wait?: false | undefined },
    ): Promise<Reply<Name>>;
    async function start(body: WithImages<Body<Name>>, given: PaidOptions | WaitingOptions = {}) {
      if (!('wait' in given) || !given.wait) return pay<Reply<Name>>(path, answer, body, given);
      const { onState, waitMs, onResponse, wait: _, ...keyed } = given;
      let statusUrl: string | undefined;
      const hear = (response: Response) => {
        statusUrl = statusUrlOf(response);
        onResponse?.(response);
      };
      const reply = await pay<Reply<Name>>(path, answer, body, { ...keyed, onResponse: hear });
      const taskId = taskIdOf(reply);
      if (statusUrl === undefined) throw withoutStatus(taskId);
      onState?.({ state: 'created', taskId, statusUrl });
      const { signal, fetch = options.fetch } = keyed;
      const hearState = (progress: TaskProgress) => progress.state !== 'created' && onState?.(progress);
      return waitForTask(statusUrl, { signal, fetch, waitMs, onState: hearState });
    }
    return start;
  };

  const versions = {
    /** One entry for each pair, in order; more than 1,000 pairs take several requests. */
    async bulk(pairs: readonly BulkPair[], given: CallOptions = {}): Promise<BulkEntry[]> {
      const entries: BulkEntry[] = [];
      for (let start = 0; start < pairs.length; start += maxPairs) {
        const body: Body<'bulkNodeVersions'> = { node_versions: pairs.slice(start, start + maxPairs) };
        const answer = { node_versions: 'list' } as const;
        const call: Call = { method: 'POST', path: '/bulk/nodes/versions', body, isRepeatable: true, answer };
        entries.push(...(await ask<Reply<'bulkNodeVersions'>>(call, given)).node_versions);
      }
      return entries;
    },

    /** Registers a version, or resumes a pending one; `publish` also uploads its archive and waits. */
    async register(publisherId: string, nodeId: string, body: PublishBody, given: KeyedOptions = {}) {
      const path = `/publishers/${segment(publisherId)}/nodes/${segment(nodeId)}/versions`;
      const answer = { node_version: 'object', signedUrl: 'string' } as const;
      return post<Reply<'publishNodeVersion'>>(path, answer, body, given);
    },
  };

  return {
    versions,

    /** Registers a version, uploads its archive and waits until it is active; safe to call again at any point. */
    publish(input: PublishInput, given: PublishOptions = {}): Promise<Published> {
      return publish(settings, versions, input, given);
    },

    /** The archive of a version as a stream, which fails unless the bytes are those that were published. */
    download: index.download,

    nodes: {
      get: index.node,
      list: index.catalog,
      search: index.search,
      versions: index.versions,
      readme: index.readme,

      async update(
        publisherId: string,
        nodeId: string,
        body: Body<'updateNode'>,
        { ifMatch, ...given }: ConditionalOptions = {},
      ) {
        // The answer to a conditional change may be what got lost, and its repetition would find the change made.
        const call: Call = {
          method: 'PUT',
          path: `/publishers/${segment(publisherId)}/nodes/${segment(nodeId)}`,
          body,
          isRepeatable: ifMatch === undefined,
          headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
          answer: {},
        };
        return ask<Reply<'updateNode'>>(call, given);
      },
    },

    hostNodes: {
      list: index.hostNodes,

      /** The name may be any text: `/`, `?`, `#` and `%` are safe on every gateway. */
      async update(
        nodeId: string,
        version: string,
        hostNodeName: string,
        body: Body<'updateHostNode'>,
        given: CallOptions = {},
      ) {
        const place = `/nodes/${segment(nodeId)}/versions/${segment(version)}`;
        const path = `${place}/host-nodes/${hostNodeSegment(hostNodeName)}`;
        const call: Call = { method: 'PUT', path, body, isRepeatable: true, answer: {} };
        return ask<Reply<'updateHostNode'>>(call, given);
      },
    },

    images: {
      relight: paid<'relightImage'>('/proxy/image-provider/v1/ai/image-relight', { data: 'object' }),
    },

    videos: {
      fromText: paid<'textToVideo'>('/proxy/video-provider/text2video', task),
      extend: paid<'extendVideo'>('/proxy/video-provider/extend', task),
      multiframe: paid<'multiframeVideo'>('/proxy/video-provider/multiframe', task),
    },

    tasks: {
      /** Goes on waiting for a task, after a reload for example, by the `statusUrl` that `onState` has told. */
      wait: (statusUrl: string, given: WaitOptions = {}) =>
        waitForTask(statusUrl, { ...given, fetch: given.fetch ?? options.fetch }),
    },
  };
}

function taskIdOf(reply: unknown): string | undefined {
  const { task_id, data } = Object(reply) as { task_id?: string; data?: { task_id?: string } };
  return task_id ?? data?.task_id;
}

/** It has started and is paid for, so its id must not be lost. */
function withoutStatus(taskId = ''): RegistryError {
  const message = `The task ${taskId} has started, but this registry does not show task status, because it does not relay notifications.`;
  return new RegistryError('no_status', message, { details: [{ path: 'task_id', message: taskId }] });
}

/** `crypto.randomUUID` is missing on pages that came over plain http. */
function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
