import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, jest } from '@jest/globals';
import { stopTimers } from '@node-registry/testing/clock';
import { serve } from './serve.ts';

/** A server that accepts every request, which it counts, and answers none. */
export async function startSilentServer() {
  const silent = { asked: 0, port: 0, url: '' };
  const { port } = await serve(() => {
    silent.asked += 1;
  });
  return Object.assign(silent, { port, url: `http://127.0.0.1:${port}/` });
}

/**
 * The error of work that waits for a silent server, and its duration by a clock that leaps after each request. Between
 * requests the clock runs at real speed, because connecting needs real time.
 */
export async function outwait(
  silent: { asked: number },
  work: () => Promise<unknown>,
  { leapMs, maxMs }: { leapMs: number; maxMs: number },
): Promise<{ error: unknown; ms: number }> {
  stopTimers();
  const began = Date.now();
  let error: unknown;
  void work().catch((thrown: unknown) => {
    error = thrown;
  });
  let ticked = performance.now();
  for (let heard = 0; error === undefined && Date.now() - began < maxMs; ) {
    await turn();
    if (silent.asked === heard && performance.now() < ticked + 1) continue;
    jest.advanceTimersByTime(silent.asked > heard ? leapMs : 1);
    heard = silent.asked;
    ticked = performance.now();
  }
  return { error, ms: Date.now() - began };
}

const redirected: DynamoDBClient[] = [];
const name = 'redirected';

afterEach(() => {
  for (const { middlewareStack } of redirected.splice(0)) middlewareStack.remove(name);
});

/** Until the test ends, all calls of a client go to a server of this machine. */
export function redirectCalls(client: DynamoDBClient | S3Client, { port }: { port: number }): void {
  const { middlewareStack } = client as DynamoDBClient;
  redirected.push(client as DynamoDBClient);
  middlewareStack.add(
    (next) => (args) => {
      Object.assign(args.request as object, { hostname: '127.0.0.1', port });
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name },
  );
}
