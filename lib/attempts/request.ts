import { type Context, inTime } from '../context.ts';
import { ApiError, apiErrorOf } from '../errors.ts';
import { describeError, log } from '../log.ts';

/** A request with an Idempotency-Key: the key's owner, and the parts that must be equal for a replay. */
export interface Keyed {
  key: string;
  /** The owner of the key: two callers may choose the same one. */
  scope: string;
  /** The request in a form that is equal for equal requests. */
  request: string;
}

/** The phases before sending. If one fails, the provider got nothing, so no error may call the outcome unknown. */
export async function beforeSending<Result>(phases: () => Promise<Result>): Promise<Result> {
  try {
    return await phases();
  } catch (error) {
    throw asProxyError(apiErrorOf(error)).with({ payment: 'rejected' });
  }
}

/** Lost races and oversized records get a code of a proxy. */
function asProxyError(cause: ApiError): ApiError {
  if (cause.code === 'conflict') return new ApiError('unavailable', { cause });
  if (cause.code !== 'record_too_large') return cause;
  return new ApiError('invalid_request', {
    message: 'A field of the request is too large to be recorded.',
    cause,
  });
}

/** How long after the deadline a response may wait for the writes that follow the request. */
const marginMs = 400;

/**
 * Waits for the writes that follow a request, by the log event for a failed one. They can't change or delay
 * its response: a store that hangs would outlast the invocation and lose a paid result. Each must be safe to
 * leave undone.
 */
export async function afterwards(
  { deadline }: Context,
  step: 'succeed' | 'fail',
  writes: Record<string, Promise<void> | undefined>,
): Promise<void> {
  const late = () => new Error('the store took too long');
  const ends = Object.entries(writes).map(async ([event, write]) => {
    if (!write) return;
    await inTime(write, deadline + marginMs, late).catch((error: unknown) =>
      log('warn', event, { step, ...describeError(error) }),
    );
  });
  await Promise.all(ends);
}
