import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { apiErrorOf } from '../errors.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import { errorBody } from '../schemas/error-body.ts';

/** The gateway's event, with its headers present and the request id known. */
export interface GatewayRequest extends APIGatewayProxyEventV2 {
  requestId: string;
}

type Work = (request: GatewayRequest, invocation: Invocation) => Promise<Answer>;

export type GatewayFunction = (event: APIGatewayProxyEventV2, invocation: Invocation) => Promise<Answer>;

let isColdStart = true;

/** A function behind the gateway: names each request by an id, answers errors, and writes the request's one log line. */
export function gatewayHandler(name: string, work: Work): GatewayFunction {
  // The work enforces its own deadline: middy's starts and stops a timer for every request.
  const pipeline = middy(work, { timeoutEarlyInMillis: 0 }).use(errorAnswers);
  return (event, invocation) => {
    const began = performance.now();
    const { requestId: gatewayId, timeEpoch } = event.requestContext;
    const clockAheadMs = Date.now() - timeEpoch;
    // The gateway always sends headers; a hand-written event may have none.
    const headers = event.headers ?? {};
    const requestId = requestIdOf(headers, gatewayId);
    const fields = {
      request_id: requestId,
      // The access log contains only the gateway's own id.
      ...(requestId !== gatewayId && { gateway_request_id: gatewayId }),
      // Lambda's own lines, such as for a timeout, contain only this id; the access log has it as well.
      function_request_id: invocation.awsRequestId,
      function: name,
      route: event.routeKey,
      cold_start: isColdStart,
    };
    isColdStart = false;
    return withLogFields(fields, async () => {
      const answer = await pipeline({ ...event, headers, requestId }, invocation);
      log(answer.statusCode >= 500 ? 'error' : 'info', 'request', {
        status: answer.statusCode,
        ms: Math.round(performance.now() - began),
        // With a wrong clock, valid tokens look expired or not yet valid. The gateway's timeout is 30 seconds.
        ...(answer.statusCode === 401 && Math.abs(clockAheadMs) > 60_000 && { clock_ahead_ms: clockAheadMs }),
      });
      answer.headers['x-request-id'] = requestId;
      return answer;
    });
  };
}

/** The id that the caller chose for the request, if it is safe in a log; otherwise the gateway's. */
function requestIdOf(headers: APIGatewayProxyEventV2['headers'], gatewayId: string): string {
  const given = headers['x-request-id'];
  return given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : gatewayId;
}

/** Turns an error that a handler throws into its response. Only errors of the catalog show their own text. */
const errorAnswers: MiddlewareObj<GatewayRequest, Answer> = {
  onError: (request) => {
    const error = apiErrorOf(request.error);
    const { code, message, details, reason } = error;
    note({ code, ...(reason !== undefined && { reason }), ...(error.status >= 500 && describeError(error)) });
    const body = errorBody(code, message, request.event.requestId);
    if (details.length > 0) body.details = [...details];
    request.response = jsonAnswer(error.status, body, error.headers);
  },
};
