import httpRouter, { type Method } from '@middy/http-router';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { GatewayFunction } from './gateway-handler.ts';

export interface Route {
  method: Method;
  path: string;
  handler: GatewayFunction;
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
