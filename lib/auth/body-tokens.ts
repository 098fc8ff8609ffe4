import { type Caller, callerName } from '../caller.ts';
import type { Access } from '../contract.ts';
import { isObject } from '../json.ts';
import { type Admitted, authenticate, bearerToken, requireCaller } from './access-tokens.ts';
import { type CiJob, verifyCiToken } from './ci-tokens.ts';

/** Identifies the caller of an operation with a token in its body: a CI job stands for no person. */
export async function admitWithToken(
  access: Access,
  authorization: string | undefined,
  readBody: () => unknown,
): Promise<Admitted<Caller | CiJob | undefined>> {
  const token = tokenIn(access, readBody);
  const caller = await authenticate(authorization).catch((error: unknown) => {
    // Some clients also send the token of the body as the bearer.
    if (token !== undefined && bearerToken(authorization) === token) return undefined;
    throw error;
  });
  const scope = `token:${token}`;
  // An ID token of a CI job has two dots, and a personal access token none.
  if (token?.split('.', 4).length === 3) return { caller: await verifyCiToken(token), scope };
  requireCaller(access, caller);
  return { caller, scope: caller || token === undefined ? callerName(caller) : scope };
}

function tokenIn(access: Access, readBody: () => unknown): string | undefined {
  const field = typeof access === 'object' ? access.bodyToken : undefined;
  if (field === undefined) return undefined;
  try {
    const body = readBody();
    const token = isObject(body) ? body[field] : undefined;
    return typeof token === 'string' ? token : undefined;
  } catch {
    // An unreadable body names no token; it is rejected once the caller is known.
    return undefined;
  }
}
