import type { components, operations } from './openapi.ts';
import type { SendOptions } from './settings.ts';

export type { components, operations };

type Operation = keyof operations;

/** The input of an operation, and its response after a success. */
export type Body<Name extends Operation> = operations[Name] extends { requestBody: Json<infer Data> }
  ? Data
  : never;
export type Reply<Name extends Operation> =
  operations[Name]['responses'] extends Record<200, Json<infer Data>>
    ? Data
    : operations[Name]['responses'] extends Record<201, Json<infer Data>>
      ? Data
      : undefined;

interface Json<Data> {
  content: { 'application/json': Data };
}

export type Node = components['schemas']['Node'];
export type NodeVersion = components['schemas']['NodeVersion'];
/** What an update of a node, or of a host node, may change. */
export type NodeFields = Body<'updateNode'>;
export type HostNodeFields = Body<'updateHostNode'>;
export type BulkEntry = Reply<'bulkNodeVersions'>['node_versions'][number];
export type BulkPair = Body<'bulkNodeVersions'>['node_versions'][number];
export type PublishBody = Body<'publishNodeVersion'>;

/** The options of any call. */
export interface CallOptions extends SendOptions {
  signal?: AbortSignal | undefined;
  /** Identifies the request in the service's log; by default the service generates one. */
  requestId?: string | undefined;
  /** Receives the final response, even an error, for headers such as ETag, RateLimit and X-Credits-Used. */
  onResponse?: ((response: Response) => void) | undefined;
}

export interface KeyedOptions extends CallOptions {
  /** Makes two calls one piece of work. Without it, each call has its own key for all its attempts. */
  idempotencyKey?: string | undefined;
}

export interface ConditionalOptions extends CallOptions {
  /** An ETag: changes the node only while it has this revision. */
  ifMatch?: string | undefined;
}
