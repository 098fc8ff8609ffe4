import type { components } from './openapi.ts';

type ServiceCode = components['schemas']['ErrorBody']['error'];

/** What happens without an answer of the service itself. */
type ClientCode =
  /** The gateway's own answers, which have no code; its 429 has the service's `too_many_requests`. */
  | 'route_not_found'
  | 'method_not_allowed'
  /** There was no answer: no connection, or a lost one; or none in time. */
  | 'unreachable'
  | 'timed_out'
  /** The answer did not come from the service: a proxy's own page, for example, or a redirect. */
  | 'invalid_reply'
  | 'redirected'
  /** Waiting: the task failed, has not ended in time, or its status is shown nowhere. */
  | 'task_failed'
  | 'still_running'
  | 'no_status'
  /** A download has other bytes than were published, or is gone. */
  | 'wrong_digest'
  | 'not_found'
  /** `publish`: the upload failed, its archive was rejected, or it is still being checked. */
  | 'upload_failed'
  | 'archive_rejected'
  | 'still_checking'
  /** `publish`: the version holds other bytes, or was banned, deleted or flagged. */
  | 'published_with_other_bytes'
  | 'version_closed';

/** A newer service may answer codes that this client does not know yet. */
export type ErrorCode = ServiceCode | ClientCode | (string & {});

interface ErrorDetail {
  path: string;
  message: string;
  /** With `upload_needed`: where to PUT the bytes. */
  uploadUrl?: string;
}

interface Facts extends Continuation {
  status?: number | undefined;
  details?: readonly ErrorDetail[];
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** What it takes to go on after an error. */
interface Continuation {
  mayBeDone?: boolean;
  idempotencyKey?: string | undefined;
  statusUrl?: string | undefined;
  taskId?: string | undefined;
  retry?: (() => Promise<unknown>) | undefined;
}

const maxNamed = 5;

/** The only error of a call, except the reason of its own signal and what a function of its caller throws. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  /** Decide by this; show `message`. */
  readonly code: ErrorCode;
  /** The message without the fields, for those who show `details` next to it. */
  readonly sentence: string;
  /** The status of the answer; undefined where there was none. */
  readonly status: number | undefined;
  /** Every field that is wrong, and how. */
  readonly details: readonly ErrorDetail[];
  /** What the service's log calls the request. */
  readonly requestId: string | undefined;
  /** After how many seconds the same call may be made again, where the service says so. */
  readonly retryAfter: number | undefined;
  /** True if the work may have been done although this call failed; a paid task may have started. */
  readonly mayBeDone: boolean;
  /** The key of the call: with it, the same call in another process continues this one. */
  readonly idempotencyKey: string | undefined;
  /** Where the task is shown if it has started all the same, for `tasks.wait`. A secret, so not in `toJSON`. */
  readonly statusUrl: string | undefined;
  readonly taskId: string | undefined;
  /** Continues the call after it was sent: the same request with the same key, or the same wait. It never pays again. */
  readonly retry: (() => Promise<unknown>) | undefined;

  constructor(code: ErrorCode, sentence: string, facts: Facts = {}) {
    const details = facts.details ?? [];
    // The fields of `upload_needed` are addresses, not faults.
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

  /** For logs: the message of an error is no field of its own, and JSON would leave it out. */
  toJSON() {
    const { name, code, message, status, details, requestId, retryAfter, idempotencyKey, taskId } = this;
    return { name, code, message, status, details, requestId, retryAfter, idempotencyKey, taskId };
  }
}

/** Tells an error what only its callers know. */
export function addFacts(error: RegistryError, facts: Continuation): RegistryError {
  return Object.assign(error, facts);
}

/** Nothing left this machine. */
export function isUnsent({ code, status }: RegistryError): boolean {
  return code === 'invalid_request' && status === undefined;
}

/** The errors of a call retry the whole of it. */
export async function retriedWhole<Result>(call: () => Promise<Result>): Promise<Result> {
  return call().catch((error: unknown) => {
    if (!(error instanceof RegistryError) || isUnsent(error)) throw error;
    throw addFacts(error, { retry: () => retriedWhole(call) });
  });
}

function withFields(sentence: string, details: readonly ErrorDetail[]): string {
  if (details.length === 0) return sentence;
  const named = details.slice(0, maxNamed).map(({ path, message }) => `${path} ${message}`);
  const more = details.length - named.length;
  if (more > 0) named.push(`and ${more} more`);
  return `${sentence.replace(/\.$/, '')}: ${named.join('; ').replace(/\.$/, '')}.`;
}
