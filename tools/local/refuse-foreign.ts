import { Server, type IncomingMessage, type ServerResponse } from 'node:http';
import { gatewayKeyHeader, rejectForeign } from './local-only.ts';

/*
 * Loaded into serverless-offline, whose two ports serve the pages of every site and have no option against
 * that. The gateway identifies itself by a key of this start: it checked the host, and the API's CORS rules
 * check origins.
 */

const key = process.env.LOCAL_GATEWAY_KEY;
const emit: (this: Server, event: string, ...values: unknown[]) => boolean = Server.prototype.emit;

Server.prototype.emit = function (this: Server, event: string, ...values: unknown[]): boolean {
  if (event === 'request') {
    const [request, response] = values as [IncomingMessage, ServerResponse];
    const isGateway = key !== undefined && request.headers[gatewayKeyHeader] === key;
    const foreign = isGateway ? undefined : rejectForeign(request);
    if (foreign !== undefined) {
      response.writeHead(foreign).end();
      return true;
    }
  }
  return emit.call(this, event, ...values);
};
