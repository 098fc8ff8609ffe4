import { answerOf, type Changes, type Handler, type Result, sampleEvent } from './invoke.ts';
import { endpointNames } from './operation-names.ts';
import './patience.ts';
import { setVariables } from './variables.ts';

/** The parts of a request that a property may change in any way. The rest comes from the sample event. */
export interface EndpointRequest extends Omit<Changes, 'path' | 'headers' | 'rawBody'> {
  path?: Record<string, unknown> | undefined;
  headers?: Record<string, unknown> | undefined;
  /** The text of the body, sent unchanged. */
  text?: string | undefined;
}

// Callers that give an address are notified by the service itself.
setVariables({ NOTIFICATIONS: 'relay', NOTIFICATION_URL: 'https://api.example.com/notifications' });

export const handlers = new Map<string, Handler>();
for (const name of endpointNames) handlers.set(name, (await import(`../../functions/${name}.ts`)).handler);

const without = (part: object = {}) =>
  Object.fromEntries(Object.keys(part).map((name) => [name, undefined as unknown]));

/** Calls an endpoint with its sample event, changed even where no client would. */
export async function call(name: string, request: EndpointRequest = {}): Promise<Result> {
  const { path, headers, text, ...rest } = request;
  const sample = sampleEvent(name);
  const answer = await answerOf(handlers.get(name), name, {
    ...rest,
    ...(text !== undefined && { rawBody: text }),
    ...('path' in request && { path: { ...without(sample.pathParameters), ...path } as Changes['path'] }),
    headers: ('headers' in request && !headers ? without(sample.headers) : headers) as Changes['headers'],
  });
  // As a client reads it, which knows doubles only.
  return { ...answer, body: JSON.parse(answer.text) };
}
