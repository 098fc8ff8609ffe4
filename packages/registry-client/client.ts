import { type PublishInput, type Published, type PublishOptions, publish } from './publish.ts';
import { type Call, hostNodeSegment, segment } from './request.ts';
import { type Settings, send } from './send.ts';
import type {
  Body,
  BulkEntry,
  BulkPair,
  CallOptions,
  ConditionalOptions,
  KeyedOptions,
  PublishBody,
  Reply,
} from './types.ts';

export {
  InvalidNotification,
  type InvalidReason,
  type Notification,
  verifyNotification,
} from './notification.ts';
export type { PublishInput, Published, PublishOptions, Upload } from './publish.ts';
export { type ErrorCode, RegistryError } from './registry-error.ts';
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

export interface ClientOptions extends Partial<Omit<Settings, 'baseUrl'>> {
  baseUrl: string;
}

/** Longer than the gateway's 30 seconds, so that the service's own answer is what ends an attempt. */
const standard = { timeoutMs: 35_000, attempts: 5, patienceMs: 60_000, accessToken: undefined };
const maxPairs = 1000;
const task = { task_id: 'string' } as const;

export type RegistryClient = ReturnType<typeof createRegistryClient>;

/** A client of every operation. The access token, or what fetches one, is asked for each call. */
export function createRegistryClient(options: ClientOptions) {
  const settings: Settings = { ...standard, ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') };
  const ask = <Data>(call: Call, given: CallOptions = {}) => send<Data>(settings, call, given);
  const post = <Data>(
    path: string,
    answer: Call['answer'],
    body: unknown,
    { idempotencyKey, ...given }: KeyedOptions = {},
  ) => {
    const headers = { 'idempotency-key': idempotencyKey ?? freshKey() };
    return ask<Data>({ method: 'POST', path, body, isRepeatable: true, headers, answer }, given);
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
      return publish(versions, input, given);
    },

    nodes: {
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
      relight: (body: Body<'relightImage'>, given?: KeyedOptions) =>
        post<Reply<'relightImage'>>(
          '/proxy/image-provider/v1/ai/image-relight',
          { data: 'object' },
          body,
          given,
        ),
    },

    videos: {
      fromText: (body: Body<'textToVideo'>, given?: KeyedOptions) =>
        post<Reply<'textToVideo'>>('/proxy/video-provider/text2video', task, body, given),
      extend: (body: Body<'extendVideo'>, given?: KeyedOptions) =>
        post<Reply<'extendVideo'>>('/proxy/video-provider/extend', task, body, given),
      multiframe: (body: Body<'multiframeVideo'>, given?: KeyedOptions) =>
        post<Reply<'multiframeVideo'>>('/proxy/video-provider/multiframe', task, body, given),
    },
  };
}

/** `crypto.randomUUID` is missing on pages that came over plain http. */
function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
