import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fields, ProviderError } from './wire-format.ts';

/** The misbehaviors of the next requests. Their kinds and options are listed below. */
export interface Misbehavior extends Partial<ProviderError> {
  kind: MisbehaviorKind;
  provider?: 'image' | 'video' | undefined;
  /** `GET` fails a request for a task's state; by default a purchase fails. */
  method?: 'GET' | 'POST';
  /** How many requests fail; 1 by default. */
  times?: number;
  /** Whether the task is started anyway; every kind has a default. */
  accepted?: boolean;
  retryAfter?: string | number;
  stage?: 'before_headers' | 'after_headers';
  ms?: number;
  bytes?: number;
  contentType?: string;
  text?: string;
  /** Fields to set in the reply, or in its `data` if it has one; null is sent as null. */
  fields?: Fields;
  without?: string[];
}

/** One request that fails. */
export interface BadExchange {
  options: Misbehavior;
  response: ServerResponse;
  path: string;
  /** Starts the task as a working provider would, and returns its reply. */
  accept: () => Fields;
  /** Resolves after the last notification of the started task. */
  ended: () => Promise<void>;
  errorBody: (error: ProviderError) => object;
  stopped: AbortSignal;
}

const json = { 'content-type': 'application/json' };

export const misbehaviors = {
  /** Answers with an error status in the provider's own shape. */
  status: async ({ options, response, errorBody, accept }: BadExchange) => {
    if (options.accepted) accept();
    const { status = 500, retryAfter } = options;
    response.writeHead(status, {
      ...json,
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    });
    response.end(JSON.stringify(errorBody({ ...options, status })));
  },
  /** Answers with any text, under any status and type. */
  text: async ({ options, response, accept }: BadExchange) => {
    const { status = 200, contentType = 'application/json', text = '', accepted = true } = options;
    if (accepted) accept();
    response.writeHead(status, { 'content-type': contentType });
    response.end(text);
  },
  html: async ({ options, response, accept }: BadExchange) => {
    const { status = 200, accepted = true } = options;
    if (accepted) accept();
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>Checking your browser</title>');
  },
  /** Redirects the client to the same URL. */
  redirect: async ({ options, response, path }: BadExchange) => {
    response.writeHead(options.status ?? 307, { location: path });
    response.end();
  },
  /** A good response after `ms`, by default after the task's last notification. */
  delay: async ({ options, response, accept, ended, stopped }: BadExchange) => {
    const reply = JSON.stringify(accept());
    await (options.ms === undefined ? ended() : pause(options.ms, undefined, { signal: stopped }));
    response.writeHead(200, json).end(reply);
  },
  /** Starts the task and then sends nothing more, with the connection open. */
  stall: async ({ options, response, accept, errorBody }: BadExchange) => {
    const { stage = 'before_headers', status = 200, accepted = status < 300 } = options;
    if (accepted) accept();
    if (stage === 'before_headers') return;
    response.writeHead(status, { ...json, 'content-length': '1000' });
    response.write(options.text ?? JSON.stringify(errorBody({ status })).slice(0, 5));
  },
  /** Starts the task and resets the connection. */
  reset: async ({ options, response, accept }: BadExchange) => {
    if (options.accepted ?? true) accept();
    if (options.stage === 'after_headers') {
      response.writeHead(200, json);
      await new Promise<void>((resolve) => response.write('{"data":', () => resolve()));
    }
    response.socket?.resetAndDestroy();
  },
  /** The first half of a good response. */
  truncated: async ({ options, response, accept }: BadExchange) => {
    const { status = 200 } = options;
    const reply = JSON.stringify(accept());
    response.writeHead(status, { ...json, 'content-length': String(reply.length) });
    await new Promise<void>((resolve) => response.write(reply.slice(0, reply.length / 2), () => resolve()));
    response.socket?.end();
  },
  /** A good response, a few bytes at a time. */
  trickle: async ({ options, response, accept, stopped }: BadExchange) => {
    const { ms = 20, bytes = 10 } = options;
    const reply = Buffer.from(JSON.stringify(accept()));
    response.writeHead(200, json);
    for (let start = 0; start < reply.length && !response.destroyed; start += bytes) {
      response.write(reply.subarray(start, start + bytes));
      await pause(ms, undefined, { signal: stopped });
    }
    response.end();
  },
  /** A good response with megabytes of padding. */
  oversize: async ({ options, response, accept }: BadExchange) => {
    response.writeHead(200, json);
    response.end(JSON.stringify({ ...accept(), padding: 'x'.repeat(options.bytes ?? 2_000_000) }));
  },
  /** Task ids of digits as numbers, longer than a double holds. */
  numeric_ids: async ({ response, accept }: BadExchange) => {
    const reply = JSON.stringify(accept()).replace(/("task_id":)"(\d+)"/, '$1$2');
    response.writeHead(200, json).end(reply);
  },
  /** A good response with some fields changed or missing. */
  reply: async ({ options, response, accept }: BadExchange) => {
    const { status = 200, fields = {}, without = [] } = options;
    const reply = accept();
    const parts = [reply, ...(reply.data ? [reply.data as Fields] : [])];
    for (const part of parts) {
      Object.assign(part, part === parts.at(-1) ? fields : {});
      for (const name of without) delete part[name];
    }
    response.writeHead(status, json).end(JSON.stringify(reply));
  },
} as const satisfies Record<string, (exchange: BadExchange) => Promise<void>>;

type MisbehaviorKind = keyof typeof misbehaviors;
