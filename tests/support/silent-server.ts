import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { stopTimers } from './clock.ts';

/** A server that accepts every request and answers none. */
export class SilentServer {
  /** The number of requests that it has accepted. */
  asked = 0;
  readonly #server = createServer(() => {
    this.asked += 1;
  });

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Redirects a request that an SDK is about to send to this server. */
  redirect(request: unknown): void {
    const { port } = this.#server.address() as AddressInfo;
    Object.assign(request as object, { hostname: '127.0.0.1', port });
  }

  /** Redirects all calls of a client, until it is told to stop. */
  redirectCalls(client: DynamoDBClient | S3Client): () => void {
    const { middlewareStack } = client as DynamoDBClient;
    const name = 'redirected';
    middlewareStack.add(
      (next) => (args) => {
        this.redirect(args.request);
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low', name },
    );
    return () => void middlewareStack.remove(name);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The error of work that waits for this server, and its duration by a clock that leaps after each request. */
  async outwait(
    work: () => Promise<unknown>,
    { leapMs, maxMs }: { leapMs: number; maxMs: number },
  ): Promise<{ error: unknown; ms: number }> {
    stopTimers();
    const began = Date.now();
    let error: unknown;
    void work().catch((thrown: unknown) => {
      error = thrown;
    });
    for (let heard = 0; error === undefined && Date.now() - began < maxMs; ) {
      await turn();
      jest.advanceTimersByTime(this.asked > heard ? leapMs : 1);
      heard = this.asked;
    }
    return { error, ms: Date.now() - began };
  }
}
