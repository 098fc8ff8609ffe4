import { type Caller, hasClaim, valuesOf } from '../caller.ts';
import * as config from '../config.ts';
import type { Contract, ReplyBody } from '../contract.ts';
import { ApiError } from '../errors.ts';
import { type Call, endpoint } from '../http/endpoint.ts';
import type { Route } from '../http/router.ts';

type Act<C extends Contract> = (call: Call<C>) => Promise<ReplyBody<C>>;

/** The routes of contracts, for people. */
export function peopleRoutes<All extends Record<string, Contract>>(
  contracts: All,
  acts: { [Name in keyof All]: Act<All[Name]> },
): Route[] {
  return Object.entries<Contract>(contracts).map(([name, contract]) => {
    const act = acts[name] as Act<Contract>;
    const handler = endpoint(contract, async (call) => {
      if (contract.access === 'user' && call.caller) requireApproved(call.caller);
      return { body: await act(call) };
    });
    return { method: contract.method, path: contract.path, handler };
  });
}

/** The operator may restrict who of the issuer's users may do this. */
function requireApproved(caller: Caller): void {
  const wanted = config.signIn().SELF_SERVICE_CLAIM;
  // The limit of OpenID Connect. Records that name people have room for names of this length.
  const isNameable = caller.userId.length <= 255;
  if (isNameable && (caller.isAdmin || !wanted || hasClaim(caller, wanted))) return;
  const message = 'The operator of this service has not opened self-service to this person.';
  throw new ApiError('forbidden', { message });
}

/** The address that the issuer has verified, if the operator reads addresses. */
export function emailOf({ claims = {} }: Caller): string | undefined {
  const { EMAIL_CLAIM } = config.signIn();
  if (EMAIL_CLAIM === undefined || ![true, 'true'].includes(claims.email_verified as boolean))
    return undefined;
  const [email] = valuesOf(claims, EMAIL_CLAIM);
  return typeof email === 'string' ? email : undefined;
}
