import type { IncomingHttpHeaders } from 'node:http';
import type { Task } from './tasks.ts';

export type Fields = Record<string, unknown>;

export interface Fault {
  status: number;
  /** A word for programs, in the error shapes that have one. */
  reason?: string;
  message?: string;
  invalidParams?: { name: string; reason: string }[];
}

/** How one provider speaks on the wire. Written from the provider's side: nothing here is shared with lib. */
export interface WireFormat {
  provider: 'image' | 'video';
  paths: readonly string[];
  states: readonly string[];
  keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  findFault: (path: string, body: Fields) => Fault | undefined;
  creditsOf: (body: Fields) => number;
  outOfCredits: Fault;
  notifyUrlOf: (body: Fields) => unknown;
  notification: (task: Task) => object;
  reply: (task: Task, body: Fields, credits: number) => Fields;
  /** The same reply as a provider gives it that says "", 0 and null for all it could leave out. */
  emptyReply: (task: Task, body: Fields, credits: number) => Fields;
  fault: (fault: Fault) => object;
}
