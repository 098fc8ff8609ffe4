import type * as z from 'zod/mini';
import * as config from './config.ts';
import type { Contract } from './contract.ts';

/*
 * The part of an operation that only the template, the document and the tests need. It stands next to the
 * operation's contract and stays out of the bundles: a description is a function that no handler calls.
 */

/** The records of one partition key, by the names of lib/store/keys.ts. */
export type Partition =
  | 'blocks'
  | 'people'
  | 'newPublishers'
  | 'callers'
  | 'heartbeat'
  | 'idempotency'
  | 'idTokens'
  | 'nodes'
  | 'owned'
  | 'pending'
  | 'publishers'
  | 'results'
  | 'signingKeys'
  | 'stageDay'
  | 'tasks'
  | 'usage';

/** A permission of a function's role, in addition to its logs and the secrets that its variables name. */
export type Right =
  | { table: readonly TableAction[]; keys: readonly Partition[]; ifRelaying?: true }
  | { table: readonly TableAction[]; neverChanges: readonly string[]; only?: readonly Partition[] }
  /** To query it. */
  | { index: 'versions'; keys: readonly Partition[] }
  | { bucket: readonly BucketAction[]; folder: string };

export type TableAction =
  | 'BatchGetItem'
  | 'ConditionCheckItem'
  | 'DeleteItem'
  | 'PutItem'
  | 'Query'
  | 'UpdateItem';
type BucketAction =
  | 'DeleteObject'
  | 'DeleteObjectTagging'
  | 'DeleteObjectVersion'
  | 'GetObject'
  | 'GetObjectVersion'
  | 'PutObject'
  | 'PutObjectTagging';

export interface Deployment<C extends Contract = Contract> {
  /** The environment variables of the function. */
  variables: readonly config.Concern[];
  rights: readonly Right[];
  /** The route's own throttle in requests a second, or the stage parameter that sets it. */
  throttle?: number | 'bulkRateLimit' | 'proxyRateLimit';
  /** The stage parameter that reserves concurrency for the function. */
  reservation?: 'proxyConcurrency';
  /** The reply to the sample event in `events`. */
  sampleReply: z.input<C['reply']>;
}

export interface Deployed<C extends Contract = Contract> {
  contract: C;
  deployment: () => Deployment<C>;
}

export const registryCaller = [config.registry, config.tokens];
export const publicFiles = [config.registry, config.bucket, config.downloads];

/** The part that all proxies share. Each adds its provider's own variables and those of its rules. */
export function proxyDeployment(...variables: config.Concern[]) {
  return {
    variables: [
      ...registryCaller,
      config.spending,
      config.stageBudget,
      config.proxyAccess,
      config.notifications,
      config.results,
      config.relay,
      config.taskWords,
      config.receivers,
      ...publicFiles,
      ...variables,
    ],
    rights: [
      // A request's key, with its kept response.
      { table: ['BatchGetItem', 'PutItem', 'DeleteItem'], keys: ['idempotency'] },
      // The caller's account and its attempts.
      { table: ['BatchGetItem', 'UpdateItem'], keys: ['callers'] },
      { table: ['BatchGetItem', 'PutItem', 'UpdateItem'], keys: ['usage'] },
      { table: ['BatchGetItem'], keys: ['stageDay'] },
      // The record of a task whose notifications come here.
      { table: ['PutItem', 'DeleteItem'], keys: ['tasks'], ifRelaying: true },
      { table: ['PutItem'], keys: ['results'], ifRelaying: true },
      // Images that are too large for a request: looked up, and presigned for the caller and the provider.
      { bucket: ['GetObject', 'PutObject'], folder: 'images' },
    ],
    throttle: 'proxyRateLimit',
    reservation: 'proxyConcurrency',
  } as const satisfies Omit<Deployment, 'sampleReply'>;
}
