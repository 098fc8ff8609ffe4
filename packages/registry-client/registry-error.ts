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

interface Facts {
  status?: number | undefined;
  details?: readonly ErrorDetail[];
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  statusUrl?: string | undefined;
  cause?: unknown;
}

/** What these say of fields is an address or an ID, and not a fault. */
const withoutFaults = new Set<ErrorCode>(['upload_needed', 'no_status']);
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
  /** Where the task is shown if it has started all the same, for `tasks.wait`. A secret, so not in `toJSON`. */
  readonly statusUrl: string | undefined;

  constructor(code: ErrorCode, sentence: string, facts: Facts = {}) {
    const details = facts.details ?? [];
    super(withoutFaults.has(code) ? sentence : withFields(sentence, details), { cause: facts.cause });
    this.code = code;
    this.sentence = sentence;
    this.status = facts.status;
    this.details = details;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.statusUrl = facts.statusUrl;
  }

  /** For logs: the message of an error is no field of its own, and JSON would leave it out. */
  toJSON() {
    const { name, code, message, status, details, requestId, retryAfter } = this;
    return { name, code, message, status, details, requestId, retryAfter };
  }
}

function withFields(sentence: string, details: readonly ErrorDetail[]): string {
  if (details.length === 0) return sentence;
  const named = details.slice(0, maxNamed).map(({ path, message }) => `${path} ${message}`);
  const more = details.length - named.length;
  if (more > 0) named.push(`and ${more} more`);
  return `${sentence.replace(/\.$/, '')}: ${named.join('; ').replace(/\.$/, '')}.`;
}
