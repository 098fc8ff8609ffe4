import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventInvocation } from '../../lib/context.ts';

export type Invocation = Required<EventInvocation>;

/** The context that Lambda gives a function with its event. */
export function invocationOf(limitMs: number): Invocation {
  const end = Date.now() + limitMs;
  return { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => end - Date.now() };
}

/** The handler of a function, from its bundle. */
export async function loadFunction<Handler>(name: string): Promise<Handler> {
  const { handler } = await import(pathToFileURL(resolve(`dist/${name}/index.js`)).href);
  return handler;
}
