import httpRouter, { type Method } from '@middy/http-router';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Contract, ReplyBody } from '../contract.ts';
import { type Call, endpoint } from './endpoint.ts';
import type { GatewayFunction } from './gateway-handler.ts';

export interface Route {
  method: Method;
  path: string;
  handler: GatewayFunction;
}

export function route<C extends Contract>(contract: C, act: (call: Call<C>) => Promise<ReplyBody<C>>): Route {
  const { method, path } = contract;
  return { method, path, handler: endpoint(contract, async (call) => ({ body: await act(call) })) };
}

/** One function for many routes. */
export function router(routes: readonly Route[]): GatewayFunction {
  const dispatch = httpRouter<APIGatewayProxyEventV2>([...routes]) as unknown as GatewayFunction;
  return (event, invocation) => {
    // The gateway's choice counts, not a second reading of the path: that one may have a decoded "?" or "/" in a name.
    const [method = '', path = ''] = event.routeKey.split(' ');
    const http = { ...event.requestContext.http, method, path };
    return dispatch({ ...event, requestContext: { ...event.requestContext, http } }, invocation);
  };
}
