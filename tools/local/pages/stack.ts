import { at } from '../../../packages/site/pages/elements.ts';
import type { Misbehavior } from '../../simulators/misbehaviors.ts';
import type { Task } from '../../simulators/tasks.ts';
import type { Received } from '../inbox.ts';
import type { LoggedRequest } from '../request-log.ts';
import type { StoredRecords } from '../stored-records.ts';

/** A task of a simulator, with the prompt of its request. */
export type SimulatedTask = Task & { prompt: string };

export interface Stack {
  state: {
    apiUrl: string;
    publicKey: string;
    /** Access tokens by their users. */
    tokens: Record<string, string>;
    parts: { name: string; url: string; isUp: boolean }[];
    requests: LoggedRequest[];
    /** What came to this page about tasks, newest first. */
    notifications: Received[];
    simulators?: { credits: number; armed: Misbehavior[]; tasks: SimulatedTask[] };
  };
  records: StoredRecords;
}

/** The page's view of the stack. */
export let stack: Stack | undefined;

const listeners: ((stack: Stack) => void)[] = [];

export function onChange(listener: (stack: Stack) => void): void {
  listeners.push(listener);
}

/** Loads the view again. The page shows what it had before if the stack does not answer. */
export async function refresh(): Promise<void> {
  const [state, records] = await Promise.all([ask<Stack['state']>('/state'), ask<StoredRecords>('/records')]);
  const isAnswering = state !== undefined && records !== undefined;
  at('unreachable').hidden = isAnswering;
  if (!isAnswering) return;
  stack = { state, records };
  for (const listener of listeners) listener(stack);
}

async function ask<Content>(path: string): Promise<Content | undefined> {
  const answer = await fetch(path).catch(() => undefined);
  return answer?.ok ? answer.json() : undefined;
}

/** Posts to the server of this page, and shows the change. */
export async function post(path: string, body: unknown): Promise<void> {
  const answer = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  await refresh();
}

export interface Call {
  method: string;
  path: string;
  body: unknown;
}

export interface Reply {
  status: number;
  ms: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Calls the API as a user, or without a token. */
export async function call({ method, path, body }: Call, user = ''): Promise<Reply> {
  const token = stack?.state.tokens[user];
  const started = performance.now();
  const answer = await fetch(`${stack?.state.apiUrl}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  const ms = Math.round(performance.now() - started);
  return { status: answer.status, ms, headers: answer.headers, body: JSON.parse(text) };
}

export function owner(): string {
  return Object.keys(stack?.state.tokens ?? {})[0] ?? '';
}
