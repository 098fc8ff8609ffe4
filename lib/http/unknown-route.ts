import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import type { Answer } from '../requests/run-request.ts';
import { errorAnswer, answerUnderId } from './answer.ts';

/** Returns our own error in place of the gateway's bare message. It needs no token and reads nothing. */
export function unknownRoute(event: APIGatewayProxyEventV2, invocation: Invocation): Promise<Answer> {
  return answerUnderId('unknownRoute', event, invocation, async (requestId) => {
    note({ method: event.requestContext.http.method });
    return errorAnswer(new ApiError('route_not_found'), requestId);
  });
}
