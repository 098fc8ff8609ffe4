import { type Caller, hasClaim, valuesOf } from '../caller.ts';
import * as config from '../config.ts';
import type { Contract, ReplyBody } from '../contract.ts';
import { ApiError } from '../errors.ts';
import type { Call } from '../http/endpoint.ts';
import { type Route, route } from '../http/router.ts';

type Act<C extends Contract> = (call: Call<C>) => Promise<ReplyBody<C>>;

/** The routes of contracts, for people. The operator may restrict who of the issuer's users that is. */
export function peopleRoutes<All extends Record<string, Contract>>(
  contracts: All,
  acts: { [Name in keyof All]: Act<All[Name]> },
): Route[] {
  return Object.entries<Contract>(contracts).map(([name, contract]) =>
    route(contract, async (call) => {
      const caller: Caller | undefined = call.caller;
      if (contract.access === 'user' && caller && !isApproved(caller))
        throw new ApiError('forbidden', { message });
      return (acts[name] as Act<Contract>)(call);
    }),
  );
}

const message = 'The operator of this service has not opened self-service to this person.';

function isApproved(caller: Caller): boolean {
  const wanted = config.signIn().SELF_SERVICE_CLAIM;
  // The limit of OpenID Connect. Records that name people have room for names of this length.
  if (caller.userId.length > 255) return false;
  return caller.isAdmin || !wanted || hasClaim(caller, wanted);
}

/** The address that the issuer has verified, if the operator reads addresses. */
export function emailOf({ claims = {} }: Caller): string | undefined {
  const { EMAIL_CLAIM } = config.signIn();
  if (EMAIL_CLAIM === undefined || ![true, 'true'].includes(claims.email_verified as boolean))
    return undefined;
  const [email] = valuesOf(claims, EMAIL_CLAIM);
  return typeof email === 'string' ? email : undefined;
}
