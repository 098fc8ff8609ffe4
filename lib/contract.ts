import type { ErrorCode } from './errors.ts';
import type { ProviderName, VideoRules } from './config.ts';
import type { Rate } from './variable-kinds.ts';
import * as z from 'zod/mini';

/**
 * Who may call an operation: `anyone` (a token that is sent is not even read), `guest` (a token that is sent is
 * verified), `user` (a valid access token), or `user` unless the named environment variable is `optional` (as `guest`).
 * `bodyToken` is a token of the body. If a client sends it as the bearer as well, that bearer is ignored. If
 * it is an ID token of a CI job, the job is the caller, and no bearer is needed.
 */
export type Access =
  | 'anyone'
  | 'guest'
  | 'user'
  | {
      userUnless: 'PUBLISH_ACCESS_TOKEN' | 'PROXY_ACCESS_TOKEN';
      bodyToken?: string;
    };

/**
 * The price of a task: a rate, and every field of a valid request that changes the charge. The amount
 * reserved for a task is derived from this alone (lib/attempts/price.ts).
 */
export type PriceRule = {
  /** The source of a task's price: the provider's reply, or the rate if the provider names no price. */
  toldBy: 'reply' | 'rate';
  /** Credits for options, at any rate. */
  extrasOf?(body: object): number;
} & (PricedBySecond | PricedByTask);

/** A rate with `second` needs `durationsOf` and `maxSeconds`: otherwise, a task would cost nothing. */
interface PricedByTask {
  /** Applies unless the operator's own rates have a row for the task. */
  rate: Rate & { second?: never };
  /** The fields by which an operator's rates may differ. */
  variesBy: readonly Exclude<RateField, 'seconds'>[];
  durationsOf?: never;
  maxSeconds?: never;
}

interface PricedBySecond {
  rate: Rate;
  variesBy: readonly RateField[];
  /**
   * The seconds of video that a request asks for, for each key frame if it has several. The provider chooses
   * those that are undefined or not above 0.
   */
  durationsOf(body: object): readonly (number | undefined)[];
  /** The most seconds that the provider may choose for each frame. */
  maxSeconds(model: string | undefined): number;
}

type RateField = 'model' | 'resolution' | 'seconds';

/** The HTTP interface of one operation, shared by its function, the OpenAPI document and the tests. */
export interface Contract {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  summary: string;
  description: string;
  access: Access;
  parameters: z.ZodMiniType<Record<string, string>>;
  query?: z.ZodMiniType<Record<string, unknown>>;
  /** A schema, or a function that makes one from the rules that an operator can change. */
  body?: z.ZodMiniType | ((rules: VideoRules) => z.ZodMiniType);
  /** The path of the body's field whose JSON is kept exactly as written. */
  asWritten?: readonly string[];
  /** Absent for 204. */
  reply?: z.ZodMiniType;
  status: 200 | 201 | 204;
  /** The operation's own errors. The codes that every endpoint shares are added elsewhere. */
  errors: readonly ErrorCode[];
  /** Headers of this operation in addition to those of every operation. */
  headers?: { request: readonly 'If-Match'[]; reply: readonly ('ETag' | 'Deprecation')[] };
  /** Only for an operation that spends the operator's money. */
  price?: PriceRule;
  /** The provider that reports the task's state, and the field of the request with the URL to notify. */
  notifies?: { provider: ProviderName; field: 'webhook_url' | 'callback_url' };
  /** Whether an Idempotency-Key is honored. */
  idempotent?: boolean;
}

export type PaidContract = Contract & Required<Pick<Contract, 'price' | 'notifies'>>;

export type BodyOf<C extends Contract> = C['body'] extends (rules: VideoRules) => infer Schema
  ? z.infer<Schema>
  : z.infer<C['body']>;
export type QueryOf<C extends Contract> = z.infer<C['query']>;
export type ReplyBody<C extends Contract> = z.input<C['reply']>;

/** Keeps a contract's exact type while checking it. */
// @__NO_SIDE_EFFECTS__
export function contract<const C extends Contract>(definition: C): C {
  return definition;
}

export function bodySchema({ body }: Contract, rules: () => VideoRules): z.ZodMiniType {
  return typeof body === 'function' ? body(rules()) : (body ?? z.unknown());
}
