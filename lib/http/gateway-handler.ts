import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { withLogFields } from '../log.ts';
import type { Answer } from '../requests/phases.ts';
import { errorAnswers } from './error-answers.ts';
import { type GatewayRequest, type Middleware, requestLine } from './request-line.ts';

type Work = (request: GatewayRequest, invocation: Invocation) => Promise<Answer>;

/** A function behind the gateway. What surrounds its work is in this one list, from the outside in. */
export function gatewayHandler(name: string, work: Work, ...inner: Middleware[]) {
  // An answer in time is the work's own: middy's starts and stops a timer for every request.
  const pipeline = middy(work, { timeoutEarlyInMillis: 0 }).use([
    requestLine(name),
    errorAnswers(),
    ...inner,
  ]);
  return (event: APIGatewayProxyEventV2, invocation: Invocation): Promise<Answer> =>
    // The request line completes the event.
    withLogFields({}, () => pipeline(event as GatewayRequest, invocation));
}
