import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { gatewayHandler } from './gateway-handler.ts';

/** Returns our own error instead of the gateway's bare message. It needs no token and reads nothing. */
export const unknownRoute = gatewayHandler('unknownRoute', async ({ requestContext }) => {
  note({ method: requestContext.http.method });
  throw new ApiError('route_not_found');
});
