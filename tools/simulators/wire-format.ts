import type { IncomingHttpHeaders } from 'node:http';
import type { Task } from './tasks.ts';

export type Fields = Record<string, unknown>;

/** An error that a provider answers. */
export interface ProviderError {
  status: number;
  /** For programs; only some error shapes have it. */
  reason?: string;
  message?: string;
  invalidParams?: { name: string; reason: string }[];
}

/** What one provider reads and writes on the wire. Shares nothing with lib, so that both must be right. */
export interface WireFormat {
  provider: 'image' | 'video';
  paths: readonly string[];
  states: readonly string[];
  keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  findError: (path: string, body: Fields) => ProviderError | undefined;
  creditsOf: (body: Fields) => number;
  outOfCredits: ProviderError;
  notifyUrlOf: (body: Fields) => unknown;
  notification: (task: Task) => object;
  reply: (task: Task, body: Fields, credits: number) => Fields;
  /** The same reply with "", 0 and null for everything that it could leave out. */
  emptyReply: (task: Task, body: Fields, credits: number) => Fields;
  errorBody: (error: ProviderError) => object;
}
