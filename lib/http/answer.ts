import { ApiError } from '../errors.ts';
import { describeError, note } from '../log.ts';
import type { Answer } from '../paid/participant.ts';
import type { ErrorBody } from '../schemas/error-body.ts';
import { SerializedJson } from './bounded-json.ts';

export function jsonAnswer(statusCode: number, body: unknown, headers?: Record<string, string>): Answer {
  const text = body instanceof SerializedJson ? body.text : JSON.stringify(body);
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: text };
}

/** Turns an error into a response. Only errors of the catalog show their own text. */
export function errorAnswer(thrown: unknown, requestId: string): Answer {
  const error = thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
  const { code, message, details, reason } = error;
  note({ code, ...(reason !== undefined && { reason }), ...(error.status >= 500 && describeError(error)) });
  const body: ErrorBody = { error: code, message, request_id: requestId };
  if (details.length > 0) body.details = [...details];
  return jsonAnswer(error.status, body, error.headers);
}
