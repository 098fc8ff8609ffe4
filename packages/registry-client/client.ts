import { createAccount } from './account.ts';
import { findVersion, publish, type Published, type PublishInput, type PublishOptions } from './publish.ts';
import { createPaidClient } from './paid-client.ts';
import { type Call, freshKey, hostNodeSegment, readOnly, retriedWhole, segment } from './request.ts';
import { readIndex } from './public-index.ts';
import { send } from './send.ts';
import { type ClientOptions, clientSettings } from './settings.ts';
import type {
  Body,
  BulkEntry,
  BulkPair,
  CallOptions,
  ConditionalOptions,
  KeyedOptions,
  NodeVersion,
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
export type { Account, AccountInput, AccountOperation } from './account.ts';
export type { ImageInput, UploadProgress, WithImages } from './images.ts';
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
export type { OrderRecord, OrderStore } from './order-store.ts';
export type {
  ExtendRequest,
  Finished,
  MultiframeRequest,
  PaidOptions,
  Purchased,
  RelightRequest,
  RelightResult,
  Started,
  TextToVideoRequest,
  VideoResult,
  WaitingOptions,
} from './paid.ts';
export type { PublishInput, Published, PublishOptions, Upload } from './publish.ts';
export { type ErrorCode, RegistryError, userMessageOf, userMessages } from './registry-error.ts';
export { createPaidClient, type PaidClient } from './paid-client.ts';
export type { AccessToken, ClientOptions, Fetch, Retry, SendOptions } from './settings.ts';
export type { Downloadable } from './download.ts';
export { ignoredFieldsOf, type RateLimit, rateLimitsOf, statusUrlOf } from './read-answer.ts';
export type { Creation, FinishedTask, TaskProgress, WaitOptions } from './tasks.ts';
export type {
  Body,
  BulkEntry,
  BulkPair,
  CallOptions,
  components,
  ConditionalOptions,
  HostNodeFields,
  KeyedOptions,
  Node,
  NodeFields,
  NodeVersion,
  operations,
  Reply,
} from './types.ts';

const maxPairs = 1000;

const nodePath = (publisherId: string, nodeId: string) =>
  `/publishers/${segment(publisherId)}/nodes/${segment(nodeId)}`;

export type RegistryClient = ReturnType<typeof createRegistryClient>;

/** A client of every operation. The access token, or a function that fetches one, is read for each call. */
export function createRegistryClient(options: ClientOptions) {
  const settings = clientSettings(options);
  const account = createAccount(settings);
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

  const versions = {
    /** One entry for each pair, in order; more than 1,000 pairs take several requests. */
    bulk: (pairs: readonly BulkPair[], given: CallOptions = {}): Promise<BulkEntry[]> =>
      retriedWhole(async () => {
        const entries: BulkEntry[] = [];
        for (let start = 0; start < pairs.length; start += maxPairs) {
          const body: Body<'bulkNodeVersions'> = { node_versions: pairs.slice(start, start + maxPairs) };
          const answer = { node_versions: 'list' } as const;
          const call: Call = {
            method: 'POST',
            path: '/bulk/nodes/versions',
            body,
            isRepeatable: true,
            answer,
          };
          entries.push(...(await readOnly(ask<Reply<'bulkNodeVersions'>>(call, given))).node_versions);
        }
        return entries;
      }),

    /** A version from the public index, which has no rate limit; from the API if it is not there yet. */
    async get(nodeId: string, version: string, given: CallOptions = {}): Promise<NodeVersion | undefined> {
      const isIndexed = options.downloadsUrl !== undefined;
      const node = isIndexed ? await index.node(nodeId, given).catch(() => undefined) : undefined;
      const found = node?.versions.find((each) => each.version === version);
      return found && !found.changelog_is_cut
        ? found
        : findVersion(versions, { node_id: nodeId, version }, given);
    },

    /** Registers a version, or resumes a pending one; `publish` also uploads its archive and waits. */
    async register(publisherId: string, nodeId: string, body: PublishBody, given: KeyedOptions = {}) {
      const path = `${nodePath(publisherId, nodeId)}/versions`;
      const answer = { node_version: 'object', signedUrl: 'URL' } as const;
      return post<Reply<'publishNodeVersion'>>(path, answer, body, given);
    },

    /** By its `id`: takes a published version out of every list, or drops a pending one. Needs self-service. */
    async withdraw(publisherId: string, nodeId: string, versionId: string, given: CallOptions = {}) {
      await account('deleteNodeVersion', { path: { publisherId, nodeId, versionId } }, given);
    },

    async restore(publisherId: string, nodeId: string, versionId: string, given: CallOptions = {}) {
      const path = { publisherId, nodeId, versionId };
      await account('updateNodeVersion', { path, body: { status: 'NodeVersionStatusActive' } }, given);
    },
  };

  return {
    ...createPaidClient(options),

    /** What people do for themselves: `account('createPublisher', { body: { id, name } })`. */
    account,

    versions,

    /** Registers a version, uploads its archive and waits until it is active; safe to repeat at any point. */
    publish: (input: PublishInput, given: PublishOptions = {}): Promise<Published> =>
      retriedWhole(() => publish(settings, versions, input, given)),

    /** The archive of a version as a stream, which fails unless the bytes match the published ones. */
    download: index.download,

    /** The archive of a version as a whole, if its bytes match the published ones. */
    downloadBlob: index.downloadBlob,

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
        // The response to a conditional change may be lost, and a repeat would find the change already made.
        const call: Call = {
          method: 'PUT',
          path: nodePath(publisherId, nodeId),
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
  };
}
