import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { authenticate, bearerToken } from '../auth/access-tokens.ts';
import { type Caller, principalOf } from '../caller.ts';
import type { CiJob } from '../auth/ci-claims.ts';
import type { Access } from '../contract.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { isObject } from '../json.ts';
import { note } from '../log.ts';

/** The caller: a person, a job of a CI, or an unknown caller if the operation allows it. */
export interface Admitted {
  caller: Caller | undefined;
  job: CiJob | undefined;
}

/** The job of a CI that a token of the body proves; undefined for a token of another kind. */
export type JobOf = (bodyToken: string) => Promise<CiJob | undefined>;

/** Finds out who calls, and rejects a caller that must say so and does not. A job stands for itself, for no person. */
export async function admit(
  access: Access,
  { headers: { authorization } }: APIGatewayProxyEventV2,
  readBody: () => unknown,
  jobOf: JobOf | undefined,
): Promise<Admitted> {
  if (access === 'anyone') return { caller: undefined, job: undefined };
  const bodyToken = readBodyToken(access, readBody);
  const caller = await authenticate(authorization).catch((error: unknown) => {
    // Some clients send the token of the body as the bearer too.
    if (bodyToken !== undefined && bearerToken(authorization) === bodyToken) return undefined;
    throw error;
  });
  const job = bodyToken === undefined ? undefined : await jobOf?.(bodyToken);
  if (job) return { caller: undefined, job };
  if (caller) note({ principal: principalOf(caller.userId) });
  else if (access === 'user' || config.tokens()[access.userUnless] === 'required')
    throw new ApiError('unauthorized', { reason: 'missing' });
  return { caller, job };
}

function readBodyToken(access: Access, readBody: () => unknown): string | undefined {
  if (typeof access !== 'object' || access.bodyToken === undefined) return undefined;
  try {
    return tokenIn(readBody(), access);
  } catch {
    // A body that cannot be read names no token; it is rejected once the caller is known.
    return undefined;
  }
}

export function tokenIn(body: unknown, access: Access): string | undefined {
  const field = typeof access === 'object' ? access.bodyToken : undefined;
  const token = field !== undefined && isObject(body) ? body[field] : undefined;
  return typeof token === 'string' ? token : undefined;
}
