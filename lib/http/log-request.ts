import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { log, withLogFields } from '../log.ts';
import type { Answer } from '../paid/participant.ts';
import { requestIdOf } from './request-id.ts';

let isColdStart = true;

/** Answers a request under its id, and writes the request's one log line. */
export async function logRequest(
  name: string,
  { headers, requestContext, routeKey }: APIGatewayProxyEventV2,
  { awsRequestId }: Pick<Invocation, 'awsRequestId'>,
  work: (requestId: string) => Promise<Answer>,
): Promise<Answer> {
  // `performance` would load a part of Node that nothing here needs otherwise, for one to two milliseconds.
  const started = process.uptime();
  const gatewayId = requestContext.requestId;
  // The gateway always sends headers; a hand-written event may have none.
  const requestId = requestIdOf(headers ?? {}, gatewayId);
  const fields = {
    request_id: requestId,
    // The access log knows only the gateway's own id.
    ...(requestId !== gatewayId && { gateway_request_id: gatewayId }),
    // Lambda's own lines, such as that of a time-out, have only this one; the access log has it too.
    function_request_id: awsRequestId,
    function: name,
    route: routeKey,
    cold_start: isColdStart,
  };
  isColdStart = false;
  return withLogFields(fields, async () => {
    const answer = await work(requestId);
    const ms = Math.round((process.uptime() - started) * 1000);
    log(answer.statusCode >= 500 ? 'error' : 'info', 'request', { status: answer.statusCode, ms });
    return { ...answer, headers: { ...answer.headers, 'x-request-id': requestId } };
  });
}
