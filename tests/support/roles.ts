import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/*
 * In AWS each function has its role. Here all share a process, so each signed call says whose it is: in a header, and a
 * signed URL in its access key. The embedded servers reject what the role lacks (rights.ts).
 */

const running = new AsyncLocalStorage<string | undefined>();

/** Work of a function, by the name of its file. */
export function asFunction<Result>(name: string | undefined, work: () => Result): Result {
  return running.run(name, work);
}

/** Work that a test does in the middle of a function's. `resume` goes on with the function's own. */
export function asOperator<Result>(work: (resume: <Own>(own: () => Own) => Own) => Result): Result {
  const name = running.getStore();
  return running.run(undefined, () => work((own) => running.run(name, own)));
}

function sign(message: unknown): void {
  const { request } = message as { request: ClientRequest };
  const name = running.getStore();
  // The SDK sends a body over 2 MB with "Expect", whose headers are gone by now.
  if (request.headersSent) return;
  if (name !== undefined && String(request.getHeader('authorization')).startsWith('AWS4-'))
    request.setHeader('running-function', name);
}

const channel = 'http.client.request.created';

/** Names the function in what this process sends, until the result is called. */
export function nameFunctions(): () => void {
  subscribe(channel, sign);
  return () => unsubscribe(channel, sign);
}

/** An access key that names the function which signs with it. */
export function namedKey(id: string): string {
  const name = running.getStore();
  return name === undefined ? id : `${id}.${name}`;
}

/** The denied calls of a test file, known by its table or its bucket. What a function has made of them does not matter. */
export const deniedFile = (place: string) =>
  `${process.env.TEST_DIRECTORY}/denied-${/[\da-f-]{36}/.exec(place)?.[0]}`;
