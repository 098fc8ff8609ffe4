import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { HttpServer } from '../../tools/processes/http-server.ts';
import { stopTimers } from 'testing/clock';
import { serve } from './serve.ts';

/** A server that accepts every request and answers none. */
export class SilentServer {
  /** The number of requests that it has accepted. */
  asked = 0;
  #server: HttpServer | undefined;

  async listen(): Promise<void> {
    this.#server = await serve(() => {
      this.asked += 1;
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port}/`;
  }

  /** Redirects a request that an SDK is about to send to this server. */
  redirect(request: unknown): void {
    redirect(request, this.#server?.port);
  }

  /** Redirects all calls of a client, until it is told to stop. */
  redirectCalls(client: DynamoDBClient | S3Client): () => void {
    return redirectCalls(client, this.#server?.port);
  }

  /**
   * The error of work that waits for this server, and its duration by a clock that leaps after each request. Between
   * requests the clock runs at real speed, because connecting needs real time.
   */
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
    let ticked = performance.now();
    for (let heard = 0; error === undefined && Date.now() - began < maxMs; ) {
      await turn();
      if (this.asked === heard && performance.now() < ticked + 1) continue;
      jest.advanceTimersByTime(this.asked > heard ? leapMs : 1);
      heard = this.asked;
      ticked = performance.now();
    }
    return { error, ms: Date.now() - began };
  }
}

function redirect(request: unknown, port: number | undefined): void {
  Object.assign(request as object, { hostname: '127.0.0.1', port });
}

/** Redirects all calls of a client to a server of this machine, until it is told to stop. */
export function redirectCalls(client: DynamoDBClient | S3Client, port: number | undefined): () => void {
  const { middlewareStack } = client as DynamoDBClient;
  const name = 'redirected';
  middlewareStack.add(
    (next) => (args) => {
      redirect(args.request, port);
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name },
  );
  return () => void middlewareStack.remove(name);
}
