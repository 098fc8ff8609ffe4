import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fault, Fields } from './wire-format.ts';

/** How the next requests are to be treated. What each kind does, and which options it reads, is below. */
export interface Misbehaviour extends Partial<Fault> {
  kind: MisbehaviourKind;
  provider?: 'image' | 'video' | undefined;
  /** How many requests it befalls; 1 where not said. */
  times?: number;
  /** Whether the task is taken nonetheless; every kind has a default. */
  accepted?: boolean;
  retryAfter?: string | number;
  stage?: 'before_headers' | 'after_headers';
  ms?: number;
  bytes?: number;
  contentType?: string;
  text?: string;
  /** Fields to put into the reply, at its top and into its `data` where it has one; null is sent as null. */
  fields?: Fields;
  without?: string[];
}

export interface Scene {
  options: Misbehaviour;
  response: ServerResponse;
  path: string;
  /** Takes the task, as a provider that works would, and returns the reply it would send. */
  accept: (empty?: boolean) => Fields;
  fault: (fault: Fault) => object;
  stopped: AbortSignal;
}

const json = { 'content-type': 'application/json' };

export const misbehaviours = {
  /** Answers with an error status in the provider's own shape. */
  status: async ({ options, response, fault, accept }: Scene) => {
    if (options.accepted) accept();
    const { status = 500, retryAfter } = options;
    response.writeHead(status, {
      ...json,
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    });
    response.end(JSON.stringify(fault({ ...options, status })));
  },
  /** Answers with any text, under any status and type. */
  text: async ({ options, response, accept }: Scene) => {
    const { status = 200, contentType = 'application/json', text = '', accepted = true } = options;
    if (accepted) accept();
    response.writeHead(status, { 'content-type': contentType });
    response.end(text);
  },
  html: async ({ options, response, accept }: Scene) => {
    const { status = 200, accepted = true } = options;
    if (accepted) accept();
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>Checking your browser</title>');
  },
  /** Sends the client elsewhere, which is here once more. */
  redirect: async ({ options, response, path }: Scene) => {
    response.writeHead(options.status ?? 307, { location: path });
    response.end();
  },
  /** A good answer, late. */
  delay: async ({ options, response, accept, stopped }: Scene) => {
    const reply = JSON.stringify(accept());
    await pause(options.ms ?? 1000, undefined, { signal: stopped });
    response.writeHead(200, json).end(reply);
  },
  /** Takes the task and falls silent, with the connection open. */
  stall: async ({ options, response, accept, fault }: Scene) => {
    const { stage = 'before_headers', status = 200, accepted = status < 300 } = options;
    if (accepted) accept();
    if (stage === 'before_headers') return;
    response.writeHead(status, { ...json, 'content-length': '1000' });
    response.write(JSON.stringify(fault({ status })).slice(0, 5));
  },
  /** Takes the task and breaks the connection. */
  reset: async ({ options, response, accept }: Scene) => {
    if (options.accepted ?? true) accept();
    if (options.stage === 'after_headers') {
      response.writeHead(200, json);
      await new Promise<void>((resolve) => response.write('{"data":', () => resolve()));
    }
    response.socket?.resetAndDestroy();
  },
  /** A good answer of which half is missing. */
  truncated: async ({ options, response, accept }: Scene) => {
    const { status = 200 } = options;
    const reply = JSON.stringify(accept());
    response.writeHead(status, { ...json, 'content-length': String(reply.length) });
    await new Promise<void>((resolve) => response.write(reply.slice(0, reply.length / 2), () => resolve()));
    response.socket?.end();
  },
  /** A good answer, a few bytes at a time. */
  trickle: async ({ options, response, accept, stopped }: Scene) => {
    const { ms = 20, bytes = 10 } = options;
    const reply = Buffer.from(JSON.stringify(accept()));
    response.writeHead(200, json);
    for (let start = 0; start < reply.length && !response.destroyed; start += bytes) {
      response.write(reply.subarray(start, start + bytes));
      await pause(ms, undefined, { signal: stopped });
    }
    response.end();
  },
  /** A good answer with a great deal of padding. */
  oversize: async ({ options, response, accept }: Scene) => {
    response.writeHead(200, json);
    response.end(JSON.stringify({ ...accept(), padding: 'x'.repeat(options.bytes ?? 2_000_000) }));
  },
  empty_echoes: async ({ response, accept }: Scene) => {
    response.writeHead(200, json).end(JSON.stringify(accept(true)));
  },
  /** Task ids as numbers, longer than a double holds. */
  numeric_ids: async ({ response, accept }: Scene) => {
    const reply = JSON.stringify(accept()).replace(/("task_id":)"[^"]+"/, '$1867913241582301184');
    response.writeHead(200, json).end(reply);
  },
  /** A good answer with some fields changed or missing. */
  reply: async ({ options, response, accept }: Scene) => {
    const { status = 200, fields = {}, without = [] } = options;
    const reply = accept();
    const parts = [reply, ...(reply.data ? [reply.data as Fields] : [])];
    for (const part of parts) {
      Object.assign(part, part === parts.at(-1) ? fields : {});
      for (const name of without) delete part[name];
    }
    response.writeHead(status, json).end(JSON.stringify(reply));
  },
} as const satisfies Record<string, (scene: Scene) => Promise<void>>;

type MisbehaviourKind = keyof typeof misbehaviours;
