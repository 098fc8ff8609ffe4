import { calling, type Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { pauseBefore } from './retries.ts';
import { failureOf } from './store-errors.ts';

/** With a bound of two seconds on each call, a store that hangs is given up after about eight. */
const maxUnanswered = 4;

/**
 * Calls the table until it answers. Throttled calls, and those that meet a transaction, have done nothing and are repeated
 * until the deadline. A call without an answer may have been applied: it is repeated a few times if `isRepeatable`.
 */
export async function send<Result>(
  context: Context,
  operation: string,
  call: () => Promise<Result>,
  isRepeatable = true,
): Promise<Result> {
  const name = `DynamoDB ${operation}`;
  let unanswered = 0;
  for (let round = 1; ; round += 1) {
    try {
      return await calling(context, name, call);
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      unanswered = failure === 'unanswered' ? unanswered + 1 : 0;
      const isOver = unanswered > 0 && (!isRepeatable || unanswered === maxUnanswered);
      if (isOver || !(await pauseBefore(context, round)))
        throw new ApiError(failure === 'conflict' ? 'conflict' : 'unavailable', {
          cause: error,
          reason: `${name}: ${failure}`,
        });
    }
  }
}
