import { type PublishInput, type Published, type PublishOptions, publish } from './publish.ts';
import { type Call, type Settings, send } from './send.ts';
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

export type RegistryClient = ReturnType<typeof createRegistryClient>;

/** A client of every operation. The access token, or what fetches one, is asked for each call. */
export function createRegistryClient(options: ClientOptions) {
  const settings: Settings = { ...standard, ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') };
  const ask = <Data>(call: Call, given: CallOptions = {}) => send<Data>(settings, call, given);
  const post = <Data>(path: string, body: unknown, { idempotencyKey, ...given }: KeyedOptions = {}) =>
    ask<Data>(
      {
        method: 'POST',
        path,
        body,
        isRepeatable: true,
        headers: { 'idempotency-key': idempotencyKey ?? freshKey() },
      },
      given,
    );

  const versions = {
    /** One entry for each pair, in order; more than 1,000 pairs take several requests. */
    async bulk(pairs: readonly BulkPair[], given: CallOptions = {}): Promise<BulkEntry[]> {
      const entries: BulkEntry[] = [];
      for (let start = 0; start < pairs.length; start += maxPairs) {
        const body: Body<'bulkNodeVersions'> = { node_versions: pairs.slice(start, start + maxPairs) };
        const call = { method: 'POST', path: '/bulk/nodes/versions', body, isRepeatable: true } as const;
        entries.push(...(await ask<Reply<'bulkNodeVersions'>>(call, given)).node_versions);
      }
      return entries;
    },

    /** Registers a version, or resumes a pending one; `publish` also uploads its archive and waits. */
    register(publisherId: string, nodeId: string, body: PublishBody, given: KeyedOptions = {}) {
      const path = `/publishers/${segment(publisherId)}/nodes/${segment(nodeId)}/versions`;
      return post<Reply<'publishNodeVersion'>>(path, body, given);
    },
  };

  return {
    versions,

    /** Registers a version, uploads its archive and waits until it is active; safe to call again at any point. */
    publish(input: PublishInput, given: PublishOptions = {}): Promise<Published> {
      return publish(versions, input, given);
    },

    nodes: {
      update(
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
        };
        return ask<Reply<'updateNode'>>(call, given);
      },
    },

    hostNodes: {
      /** The name may be any text: `/`, `?`, `#` and `%` are safe on every gateway. */
      update(
        nodeId: string,
        version: string,
        hostNodeName: string,
        body: Body<'updateHostNode'>,
        given: CallOptions = {},
      ) {
        const place = `/nodes/${segment(nodeId)}/versions/${segment(version)}`;
        const path = `${place}/host-nodes/${hostNodeSegment(hostNodeName)}`;
        return ask<Reply<'updateHostNode'>>({ method: 'PUT', path, body, isRepeatable: true }, given);
      },
    },

    images: {
      relight: (body: Body<'relightImage'>, given?: KeyedOptions) =>
        post<Reply<'relightImage'>>('/proxy/image-provider/v1/ai/image-relight', body, given),
    },

    videos: {
      fromText: (body: Body<'textToVideo'>, given?: KeyedOptions) =>
        post<Reply<'textToVideo'>>('/proxy/video-provider/text2video', body, given),
      extend: (body: Body<'extendVideo'>, given?: KeyedOptions) =>
        post<Reply<'extendVideo'>>('/proxy/video-provider/extend', body, given),
      multiframe: (body: Body<'multiframeVideo'>, given?: KeyedOptions) =>
        post<Reply<'multiframeVideo'>>('/proxy/video-provider/multiframe', body, given),
    },
  };
}

const segment = encodeURIComponent;

/** Gateways decode once, some before they choose the route; the service decodes what is still encoded. */
function hostNodeSegment(name: string): string {
  if (name === '.' || name === '..') return name.replaceAll('.', '%252E');
  return encodeURIComponent(name.replaceAll(/[%/?#]/g, encodeURIComponent));
}

/** `crypto.randomUUID` is missing on pages that came over plain http. */
function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
