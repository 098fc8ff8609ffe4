import middy, { type MiddlewareObj, type Request } from '@middy/core';
import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { apiErrorOf } from '../errors.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import { errorBody } from '../schemas/error-body.ts';

/** The gateway's event, with its headers present and the request id known. */
export interface GatewayRequest extends APIGatewayProxyEventV2 {
  requestId: string;
}

/** Values from the start of a request that its log line needs at the end. */
interface Start extends Record<string, unknown> {
  began: number;
  clockAheadMs: number;
}

type Middleware = MiddlewareObj<GatewayRequest, Answer, Error, Invocation, Start>;

type Work = (request: GatewayRequest, invocation: Invocation) => Promise<Answer>;

export type GatewayFunction = (event: APIGatewayProxyEventV2, invocation: Invocation) => Promise<Answer>;

/** A function behind the gateway. This one list has everything around its work, from the outside in. */
export function gatewayHandler(name: string, work: Work): GatewayFunction {
  // The work enforces its own deadline: middy's starts and stops a timer for every request.
  const pipeline = middy(work, { timeoutEarlyInMillis: 0 }).use([requestLine(name), errorAnswers]);
  return (event, invocation) =>
    // The request line completes the event.
    withLogFields({}, () => pipeline(event as GatewayRequest, invocation));
}

let isColdStart = true;

/** Names the request by its id, writes its one log line, and returns the id in the response. */
function requestLine(name: string): Middleware {
  const end = (request: Request<GatewayRequest, Answer, Error, Invocation, Start>) => {
    const { response: answer } = request;
    const { began, clockAheadMs } = request.internal;
    if (!answer) return;
    log(answer.statusCode >= 500 ? 'error' : 'info', 'request', {
      status: answer.statusCode,
      ms: Math.round(performance.now() - began),
      // With a wrong clock, valid tokens look expired or not yet valid. The gateway's timeout is 30 seconds.
      ...(answer.statusCode === 401 && Math.abs(clockAheadMs) > 60_000 && { clock_ahead_ms: clockAheadMs }),
    });
    answer.headers['x-request-id'] = request.event.requestId;
  };
  return {
    before: (request) => {
      const { requestContext, routeKey } = request.event;
      // The gateway always sends headers; a hand-written event may have none.
      const headers = request.event.headers ?? {};
      const gatewayId = requestContext.requestId;
      const requestId = requestIdOf(headers, gatewayId);
      request.event = { ...request.event, headers, requestId };
      request.internal.began = performance.now();
      request.internal.clockAheadMs = Date.now() - requestContext.timeEpoch;
      note({
        request_id: requestId,
        // The access log contains only the gateway's own id.
        ...(requestId !== gatewayId && { gateway_request_id: gatewayId }),
        // Lambda's own lines, such as for a timeout, contain only this id; the access log has it as well.
        function_request_id: request.context.awsRequestId,
        function: name,
        route: routeKey,
        cold_start: isColdStart,
      });
      isColdStart = false;
    },
    after: end,
    onError: end,
  };
}

/** The id that the caller chose for the request, if it is safe in a log; otherwise the gateway's. */
function requestIdOf(headers: APIGatewayProxyEventV2['headers'], gatewayId: string): string {
  const given = headers['x-request-id'];
  return given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : gatewayId;
}

/** Turns an error that a handler throws into its response. Only errors of the catalog show their own text. */
const errorAnswers: Middleware = {
  onError: (request) => {
    request.response = errorAnswer(request.error, request.event.requestId);
  },
};

function errorAnswer(thrown: unknown, requestId: string): Answer {
  const error = apiErrorOf(thrown);
  const { code, message, details, reason } = error;
  note({ code, ...(reason !== undefined && { reason }), ...(error.status >= 500 && describeError(error)) });
  const body = errorBody(code, message, requestId);
  if (details.length > 0) body.details = [...details];
  return jsonAnswer(error.status, body, error.headers);
}
