import type { Contract, ReplyBody } from '../contract.ts';
import { type Call, endpoint } from './endpoint.ts';
import type { GatewayFunction } from './gateway-handler.ts';

/** An operation of a function that has many, by the gateway's key: `GET /publishers/{publisherId}`. */
export type Route = [key: string, handler: GatewayFunction];

export function route<C extends Contract>(contract: C, act: (call: Call<C>) => Promise<ReplyBody<C>>): Route {
  const handler = endpoint(contract, async (call) => ({ body: await act(call) }));
  return [`${contract.method} ${contract.path}`, handler];
}

/** The gateway's choice counts, not a second reading of the path: that may have a decoded "?" or "/" in a name. */
export function router(routes: readonly Route[]): GatewayFunction {
  const handlers = new Map(routes);
  return (event, invocation) => {
    const handler = handlers.get(event.routeKey.replace(/\/$/, ''));
    if (!handler) throw new Error(`There is no route ${event.routeKey}.`);
    return handler(event, invocation);
  };
}
