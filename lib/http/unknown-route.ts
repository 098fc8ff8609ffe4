import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ApiError } from '../errors.ts';
import { log, withLogFields } from '../log.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { requestIdOf } from './request-id.ts';

/** Answers in our own shape what the gateway would answer with a bare message. It needs no token and reads nothing. */
export async function unknownRoute({
  headers = {},
  requestContext,
}: APIGatewayProxyEventV2): Promise<Answer> {
  const requestId = requestIdOf(headers, requestContext.requestId);
  const { method } = requestContext.http;
  return withLogFields({ request_id: requestId, function: 'unknownRoute', method }, () => {
    const answer = errorAnswer(new ApiError('route_not_found'), requestId);
    log('info', 'request', { status: answer.statusCode });
    return { ...answer, headers: { ...answer.headers, 'x-request-id': requestId } };
  });
}
