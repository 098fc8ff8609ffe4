import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { type Handler, type Result, sampleEvent } from './invoke.ts';
import { endpointNames } from './operation-names.ts';
import './patience.ts';
import { setVariables } from './variables.ts';

/** The parts of a request that a property may change in any way. The rest comes from the sample event. */
export interface EndpointRequest {
  path?: Record<string, unknown> | undefined;
  headers?: Record<string, unknown> | undefined;
  /** The text of the body, sent unchanged. */
  text?: string | undefined;
  body?: unknown;
  isBase64Encoded?: boolean;
  remainingMs?: number;
}

type Changed = Omit<APIGatewayProxyEventV2, 'headers' | 'pathParameters'> & {
  headers: object | undefined;
  pathParameters: object | undefined;
};

// Callers that give an address are notified by the service itself.
setVariables({ NOTIFICATIONS: 'relay', NOTIFICATION_URL: 'https://api.example.com/notifications' });

export const handlers = new Map<string, Handler>();
for (const name of [...endpointNames, 'receive-notification'])
  handlers.set(name, (await import(`../../functions/${name}.ts`)).handler);

/** Calls an endpoint, or `receive-notification`, with its sample event, changed even where no client would. */
export async function call(name: string, request: EndpointRequest = {}): Promise<Result> {
  const handler = handlers.get(name);
  if (!handler) throw new Error(`There is no function ${name}.`);
  const { remainingMs = 29_000 } = request;
  const context = { getRemainingTimeInMillis: () => remainingMs } as Context;
  const event = eventOf(sampleEvent(name), request) as APIGatewayProxyEventV2;
  const { statusCode, headers, body } = await handler(event, context);
  return { status: statusCode, headers, text: body, body: JSON.parse(body) };
}

function eventOf(sample: APIGatewayProxyEventV2, request: EndpointRequest): Changed {
  const { path, headers, text, body, isBase64Encoded = false } = request;
  const event = { ...sample, headers: { ...sample.headers, ...headers }, isBase64Encoded } as Changed;
  if ('headers' in request && !headers) event.headers = undefined;
  if ('path' in request) event.pathParameters = path;
  if ('text' in request || 'body' in request) event.body = text ?? JSON.stringify(body);
  return event;
}
