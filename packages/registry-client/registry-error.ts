import type { components } from './openapi.ts';
import { userMessageOf } from './user-messages.ts';

export { type UserMessages, userMessageOf, userMessages } from './user-messages.ts';

type ServiceCode = components['schemas']['ErrorBody']['error'];

/** Errors without a response of the service itself. */
type ClientCode =
  /** The gateway's own responses, which have no code; its 429 gets the service's `too_many_requests`. */
  | 'route_not_found'
  | 'method_not_allowed'
  /** There was no response: no connection, or a lost one; or none in time. */
  | 'unreachable'
  | 'timed_out'
  /** The response did not come from the service: a proxy's own page, for example, or a redirect. */
  | 'invalid_reply'
  | 'redirected'
  /** Waiting: the task failed, has not ended in time, or no URL shows its status. */
  | 'task_failed'
  | 'still_running'
  | 'no_status'
  /** An order that was sent too long ago to send it again; `taskId` names what it bought, if known. */
  | 'order_expired'
  /** A download has other bytes than the published ones, or is gone. */
  | 'wrong_digest'
  | 'not_found'
  /** `publish`: the upload failed, its archive was rejected, or it is still being checked. */
  | 'upload_failed'
  | 'archive_rejected'
  | 'still_checking'
  /** `publish`: the version holds other bytes, or was banned, deleted or flagged. */
  | 'published_with_other_bytes'
  | 'version_closed';

/** A newer service may return codes that this client doesn't know yet. */
export type ErrorCode = ServiceCode | ClientCode | (string & {});

interface ErrorDetail {
  path: string;
  message: string;
  /** With `upload_needed`: the URL for the bytes. */
  uploadUrl?: string;
}

interface Facts extends Continuation {
  status?: number | undefined;
  details?: readonly ErrorDetail[];
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** The data for continuing after an error. */
export interface Continuation {
  mayBeDone?: boolean;
  idempotencyKey?: string | undefined;
  statusUrl?: string | undefined;
  taskId?: string | undefined;
  retry?: (() => Promise<unknown>) | undefined;
}

const maxNamed = 5;

/** The only error of a call, except its own signal's reason and errors of its caller's functions. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  /** Decide by this; log `message`, show `userMessage`. */
  readonly code: ErrorCode;
  /** The message without the fields, for callers that show `details` next to it. */
  readonly sentence: string;
  /** The status of the response; undefined without one. */
  readonly status: number | undefined;
  /** Every invalid field, with its problem. */
  readonly details: readonly ErrorDetail[];
  /** The request's id in the service's log. */
  readonly requestId: string | undefined;
  /** After how many seconds the same call may be repeated, if the service says so. */
  readonly retryAfter: number | undefined;
  /** True if the work may have been done although this call failed; a paid task may have started. */
  readonly mayBeDone: boolean;
  /** The key of the call: with it, the same call in another process continues this one. */
  readonly idempotencyKey: string | undefined;
  /** The task's status URL, if it has started anyway, for `tasks.wait`. A secret, so not in `toJSON`. */
  readonly statusUrl: string | undefined;
  readonly taskId: string | undefined;
  /** Continues a call that was sent: the same request and key, or the same wait. It never pays again. */
  readonly retry: (() => Promise<unknown>) | undefined;

  constructor(code: ErrorCode, sentence: string, facts: Facts = {}) {
    const details = facts.details ?? [];
    // The fields of `upload_needed` are URLs, not problems.
    super(code === 'upload_needed' ? sentence : withFields(sentence, details), { cause: facts.cause });
    this.code = code;
    this.sentence = sentence;
    this.status = facts.status;
    this.details = details;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.mayBeDone = facts.mayBeDone ?? false;
    this.idempotencyKey = facts.idempotencyKey;
    this.statusUrl = facts.statusUrl;
    this.taskId = facts.taskId;
    this.retry = facts.retry;
  }

  /** For the person at the screen; `userMessageOf` has it in other languages. */
  get userMessage(): string {
    return userMessageOf(this);
  }

  /** For logs: an error's message isn't enumerable, so JSON would omit it. */
  toJSON() {
    const { name, code, message, status, details, requestId, retryAfter, idempotencyKey, taskId } = this;
    return { name, code, message, status, details, requestId, retryAfter, idempotencyKey, taskId };
  }
}

function withFields(sentence: string, details: readonly ErrorDetail[]): string {
  if (details.length === 0) return sentence;
  const named = details.slice(0, maxNamed).map(({ path, message }) => `${path} ${message}`);
  const more = details.length - named.length;
  if (more > 0) named.push(`and ${more} more`);
  return `${sentence.replace(/\.$/, '')}: ${named.join('; ').replace(/[^.?]$/, '$&.')}`;
}
