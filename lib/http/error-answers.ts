import { ApiError } from '../errors.ts';
import { describeError, note } from '../log.ts';
import type { Answer } from '../requests/phases.ts';
import type { ErrorBody } from '../schemas/error-body.ts';
import { jsonAnswer } from './answer.ts';
import type { Middleware } from './request-line.ts';

/** Turns what a handler throws into its response. Only errors of the catalog show their own text. */
export function errorAnswers(): Middleware {
  return {
    onError: (request) => {
      request.response = errorAnswer(request.error, request.event.requestId);
    },
  };
}

function errorAnswer(thrown: unknown, requestId: string): Answer {
  const error = thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
  const { code, message, details, reason } = error;
  note({ code, ...(reason !== undefined && { reason }), ...(error.status >= 500 && describeError(error)) });
  const body: ErrorBody = { error: code, message, request_id: requestId };
  if (details.length > 0) body.details = [...details];
  return jsonAnswer(error.status, body, error.headers);
}
