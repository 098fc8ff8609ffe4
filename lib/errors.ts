/**
 * Every error a caller can receive. A code never changes its meaning and never contains the word
 * "message": one client in the field looks for that word in the code and crashes on it.
 */
export const errorCatalog = {
  invalid_request: { status: 400, message: 'The request is not valid.' },
  provider_rejected: { status: 400, message: 'The provider rejected the request.' },
  unauthorized: { status: 401, message: 'Send a valid access token as "Authorization: Bearer <token>".' },
  invalid_personal_access_token: {
    status: 401,
    message: 'The personal access token is unknown, revoked or expired, or belongs to another publisher.',
  },
  forbidden: { status: 403, message: 'The caller may not do this for this publisher.' },
  node_banned: { status: 403, message: 'The node is banned.' },
  publisher_banned: { status: 403, message: 'The publisher is banned.' },
  caller_blocked: { status: 403, message: 'The operator of this service has blocked this caller.' },
  route_not_found: { status: 404, message: 'This operation does not exist.' },
  publisher_not_found: { status: 404, message: 'The publisher does not exist.' },
  node_not_found: { status: 404, message: 'The node does not exist.' },
  node_version_not_found: { status: 404, message: 'The node version does not exist.' },
  task_not_found: { status: 404, message: 'The task does not exist, or another caller bought it.' },
  host_node_not_found: { status: 404, message: 'The host node does not exist in this node version.' },
  not_found: { status: 404, message: 'The member, token, trust or invitation does not exist, or has ended.' },
  version_exists: { status: 409, message: 'This version has been published. Publish a new version instead.' },
  node_id_taken: {
    status: 409,
    message: 'The ID of another node differs from this one only in -, _ and .',
  },
  publisher_id_taken: {
    status: 409,
    message: 'This ID, or one that differs only in case, -, _ and ., is taken or reserved.',
  },
  last_owner: {
    status: 409,
    message: 'A publisher keeps an owner. Make another member an owner first.',
  },
  conflict: { status: 409, message: 'The record was changed by another request. Try again.' },
  idempotency_in_flight: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running. Try again with the same key.',
  },
  idempotency_consumed: {
    status: 422,
    message:
      'A request with this Idempotency-Key was sent, and its outcome is unknown. It is never sent again. Use a new key to start another task.',
  },
  idempotency_mismatch: {
    status: 422,
    message: 'This Idempotency-Key was used for another request. Use a new key.',
  },
  upload_needed: {
    status: 409,
    message: 'Upload the named images first, each to its upload_url, then send the same request again.',
  },
  precondition_failed: {
    status: 412,
    message: 'The node has changed since the response with the ETag in If-Match.',
  },
  request_too_large: {
    status: 413,
    message: 'The request is larger than 6 MB. Send images by URL, shorter texts or fewer entries.',
  },
  record_too_large: {
    status: 413,
    message: 'The record would be too large to store. Shorten its texts and lists.',
  },
  unsupported_media_type: { status: 415, message: 'Send the body as Content-Type: application/json.' },
  provider_busy: {
    status: 429,
    message: 'The provider is not accepting more work at the moment. Try again later.',
  },
  budget_exhausted: {
    status: 429,
    message:
      'The rest of this caller’s budget for today is too small for this task. It starts over at midnight UTC.',
  },
  too_many_requests: { status: 429, message: 'Too many requests. Try again when Retry-After has passed.' },
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  provider_failed: {
    status: 502,
    message:
      'The provider failed after it received the request, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.',
  },
  provider_unreachable: { status: 502, message: 'The provider could not be reached. Nothing was sent.' },
  provider_invalid_reply: {
    status: 502,
    message:
      'The provider sent a reply that could not be read, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.',
  },
  provider_credentials: { status: 502, message: 'The provider rejected the credentials of this service.' },
  provider_quota: { status: 503, message: 'The account of this service at the provider is out of credits.' },
  unavailable: { status: 503, message: 'The service is overloaded, or a part of it is down. Try again.' },
  provider_timeout: {
    status: 504,
    message:
      'The provider did not respond in time, so the outcome is unknown: the task may have started. A request with the same Idempotency-Key is never sent a second time.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorCatalog;

/** The codes of operations that call a provider, in addition to those of every operation. */
export const providerErrors = [
  'provider_rejected',
  'provider_busy',
  'provider_failed',
  'provider_unreachable',
  'provider_invalid_reply',
  'provider_credentials',
  'provider_quota',
  'provider_timeout',
] as const satisfies readonly ErrorCode[];

/** The codes that stop a paid operation before anything is sent. */
export const paidErrors = [
  'upload_needed',
  'caller_blocked',
  'budget_exhausted',
  'too_many_requests',
] as const satisfies readonly ErrorCode[];

export interface ErrorDetail {
  path: string;
  message: string;
  /** The URL for uploading the missing image. */
  upload_url?: string;
}

/**
 * Whether a paid request bought something, in the same words for an attempt to send it, an error and a usage
 * record. `taken`: the provider started a task. `rejected`: nothing was bought, because nothing was sent or
 * the provider rejected it. `unknown`: it may have started a task.
 */
export type Payment = 'taken' | 'rejected' | 'unknown';

interface ApiErrorOptions {
  message?: string;
  /** The reason, for the log line. */
  reason?: string | undefined;
  details?: readonly ErrorDetail[];
  headers?: Record<string, string>;
  cause?: unknown;
  /** `unknown` by default, the cautious choice. */
  payment?: Exclude<Payment, 'taken'>;
  /** The provider's statements about the task, although the outcome is unknown. */
  task?: { taskId?: string | undefined; credits?: number | undefined } | undefined;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly reason: string | undefined;
  readonly details: readonly ErrorDetail[];
  readonly headers: Record<string, string>;
  readonly payment: Exclude<Payment, 'taken'>;
  readonly task: ApiErrorOptions['task'];

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? errorCatalog[code].message, { cause: options.cause });
    this.code = code;
    this.reason = options.reason;
    this.details = options.details ?? [];
    this.headers = { ...standingHeaders[code]?.(), ...options.headers };
    this.payment = options.payment ?? 'unknown';
    this.task = options.task;
  }

  /** A copy of the error with some fields changed. */
  with(changes: ApiErrorOptions): ApiError {
    const { code, message, cause, stack } = this;
    return Object.assign(new ApiError(code, { ...this, message, cause, ...changes }), { stack });
  }

  get status(): number {
    return errorCatalog[this.code].status;
  }
}

const standingHeaders: Partial<Record<ErrorCode, () => Record<string, string>>> = {
  unauthorized: () => ({ 'www-authenticate': 'Bearer' }),
  idempotency_in_flight: () => ({ 'retry-after': '2' }),
  // Random, so that rejected callers don't all come back in the same second.
  unavailable: () => ({ 'retry-after': String(1 + Math.floor(Math.random() * spreadSeconds)) }),
};

const spreadSeconds = 10;

/** An error outside the catalog is a fault of this service. */
export function apiErrorOf(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
}
