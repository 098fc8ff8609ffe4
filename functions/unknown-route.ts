// $default: our own error instead of the gateway's bare message. It needs no token and reads nothing
import { ApiError } from '../lib/errors.ts';
import { gatewayHandler } from '../lib/http/gateway-handler.ts';
import { note } from '../lib/log.ts';

export const handler = gatewayHandler('unknownRoute', async ({ requestContext }) => {
  note({ method: requestContext.http.method });
  throw new ApiError('route_not_found');
});
