import * as z from 'zod/mini';
import { type ErrorCode, errorCatalog } from '../errors.ts';

const codes = Object.keys(errorCatalog) as ErrorCode[];

/** The body of every response except a success. */
export const ErrorBody = z
  .object({
    error: z.enum(codes).with(z.describe('What went wrong, for programs; a code never changes its meaning')),
    error_type: z
      .optional(z.string())
      .with(
        z.describe(
          'With status 409: the same as `error`. Some clients wait for a running request only if they find it',
        ),
      ),
    message: z.string().with(z.describe('What went wrong, for a person')),
    request_id: z.string().with(z.describe('The x-request-id of the response')),
    details: z
      .optional(
        z.array(
          z.object({
            path: z.string().with(z.describe('Where in the request the issue is, such as body.duration')),
            message: z.string().with(z.describe('What is wrong there')),
            upload_url: z
              .optional(z.string())
              .with(z.describe('With upload_needed: where to PUT the bytes, within 15 minutes')),
          }),
        ),
      )
      .with(z.describe('The issues of the request, at most 100')),
  })
  .with(z.meta({ id: 'ErrorBody', description: 'Body of every error response' }));
export type ErrorBody = z.infer<typeof ErrorBody>;

export function errorBody(code: ErrorCode, message: string, request_id: string): ErrorBody {
  const isConflict = errorCatalog[code].status === 409;
  return { error: code, ...(isConflict && { error_type: code }), message, request_id };
}
