import type { IncomingHttpHeaders } from 'node:http';
import type { Task } from './tasks.ts';

export type Fields = Record<string, unknown>;

export interface ProviderError {
  status: number;
  /** For programs; only some error formats have it. */
  reason?: string;
  message?: string;
  invalidParams?: { name: string; reason: string }[];
}

/** The wire format of one provider. It shares no code with lib, so a mistake there shows here. */
export interface WireFormat {
  provider: 'image' | 'video';
  paths: readonly string[];
  states: readonly string[];
  /** The provider's word for a task that failed. */
  failedState: string;
  keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  findError: (path: string, body: Fields, tasks: readonly Task[]) => ProviderError | undefined;
  creditsOf: (body: Fields) => number;
  outOfCredits: ProviderError;
  notifyUrlOf: (body: Fields) => unknown;
  notification: (task: Task) => Fields;
  /** The id in a GET request for a task. */
  askedFor: (path: string) => string | undefined;
  reply: (task: Task, body: Fields, credits: number) => Fields;
  errorBody: (error: ProviderError) => Fields;
}
