import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';

/**
 * Who may call an operation: `anyone` (a token that is sent is not even read), `user` (a valid access token),
 * or `user` unless the named environment variable says `optional` (a token that is sent is still verified).
 */
export type Access = 'anyone' | 'user' | { userUnless: 'PUBLISH_ACCESS_TOKEN' | 'PROXY_ACCESS_TOKEN' };

/** The HTTP face of one operation: what its function, the OpenAPI document and the tests agree on. */
export interface Contract {
  name: string;
  method: 'POST' | 'PUT';
  path: string;
  summary: string;
  description: string;
  access: Access;
  parameters: z.ZodMiniType<Record<string, string>>;
  body: z.ZodMiniType;
  reply: z.ZodMiniType;
  status: 200 | 201;
  /** What the operation itself can answer; the codes every endpoint shares are added where they are needed. */
  errors: readonly ErrorCode[];
  /** Headers that this operation reads and answers beside those of every operation. */
  headers?: { request: readonly 'If-Match'[]; reply: readonly ('ETag' | 'Deprecation')[] };
  /** Present where an Idempotency-Key is honoured. `principal` names callers that send no access token. */
  idempotent?: { principal?: (body: never) => string };
}

/** Keeps a contract's exact type while checking it. */
export function contract<const C extends Contract>(definition: C): C {
  return definition;
}
