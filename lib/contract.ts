import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';
import type { ProviderName, VideoRules } from './config.ts';
import type { Rate } from './variable-kinds.ts';

/**
 * Who may call an operation: `anyone` (a token that is sent is not even read), `user` (a valid access token),
 * or `user` unless the named environment variable says `optional` (a token that is sent is still verified).
 * `bodyToken` is a token of the body that some clients send as the bearer too, which then counts as none. If it is
 * an ID token of a CI job, the job calls, and neither a bearer nor a person is asked for.
 */
export type Access =
  | 'anyone'
  | 'user'
  | {
      userUnless: 'PUBLISH_ACCESS_TOKEN' | 'PROXY_ACCESS_TOKEN';
      bodyToken?: string;
    };

/**
 * What a task may cost: a rate, and every field of a valid request that changes what is charged by it. What is reserved
 * for a task is derived from this alone (lib/requests/money.ts).
 */
export interface PriceRule {
  /** Who says what a task costs: the provider's reply, or the rate if the provider names no price. */
  toldBy: 'reply' | 'rate';
  /** Counts unless the operator's own rates have a row for the task. */
  rate: Rate;
  /** The fields by which an operator's rates may differ. */
  variesBy: readonly RateField[];
  /** How many seconds of video a request asks for. The provider chooses if it is undefined or not above 0. */
  secondsOf?(body: object): number | undefined;
  /** How many seconds the provider chooses at most for each frame. */
  maxSeconds?(model: string | undefined): number;
  /** How many key frames it has, if it has several. */
  framesOf?(body: object): number;
  /** Credits for options, whatever the rate. */
  extrasOf?(body: object): number;
}

type RateField = 'model' | 'resolution' | 'seconds';

/** The HTTP interface of one operation, shared by its function, the OpenAPI document and the tests. */
export interface Contract {
  name: string;
  method: 'POST' | 'PUT';
  path: string;
  summary: string;
  description: string;
  access: Access;
  parameters: z.ZodMiniType<Record<string, string>>;
  /** A schema, or a function that makes one from the rules that an operator can change. */
  body: z.ZodMiniType | ((rules: VideoRules) => z.ZodMiniType);
  /** The field of the body, or of its `node`, that keeps its JSON as it was written, to the last digit of a number. */
  freeForm?: { in?: 'node'; field: 'translations' | 'advanced_settings' };
  reply: z.ZodMiniType;
  status: 200 | 201;
  /** The operation's own errors. The codes that every endpoint shares are added elsewhere. */
  errors: readonly ErrorCode[];
  /** Headers of this operation in addition to those of every operation. */
  headers?: { request: readonly 'If-Match'[]; reply: readonly ('ETag' | 'Deprecation')[] };
  /** Of an operation that spends the operator's money. */
  price?: PriceRule;
  /** Who says how the task of a request stands, and the field of the request with the address for that. */
  notifies?: { provider: ProviderName; field: 'webhook_url' | 'callback_url' };
  /** Whether the answer is sent as gzip to a caller who accepts that. */
  isCompressed?: boolean;
  /** Whether an Idempotency-Key is honored. */
  idempotent?: boolean;
}

export type BodyOf<C extends Contract> = C['body'] extends (rules: VideoRules) => infer Schema
  ? z.infer<Schema>
  : z.infer<C['body']>;

/** Keeps a contract's exact type while checking it. */
// @__NO_SIDE_EFFECTS__
export function contract<const C extends Contract>(definition: C): C {
  return definition;
}

export function bodySchema({ body }: Contract, rules: () => VideoRules): z.ZodMiniType {
  return typeof body === 'function' ? body(rules()) : body;
}
