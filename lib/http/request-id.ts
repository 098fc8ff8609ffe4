import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** The id that the caller chose for the request, if it can stand in a log; otherwise the gateway's. */
export function requestIdOf(headers: APIGatewayProxyEventV2['headers'], gatewayId: string): string {
  const given = headers['x-request-id'];
  return given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : gatewayId;
}
