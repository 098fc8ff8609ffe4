import { calling, type Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { pauseBefore } from './retries.ts';
import { failureOf } from './store-errors.ts';

/** With a bound of two seconds on each call, a store that hangs or is gone is given up after about eight. */
const maxWithoutAnswer = 4;

/**
 * Calls the table until it answers. Throttled calls, and those that meet a transaction, have done nothing and are repeated
 * until the deadline. A call without an answer is repeated a few times; one that may have been applied, only if
 * `isRepeatable`.
 */
export async function send<Result>(
  context: Context,
  operation: string,
  call: () => Promise<Result>,
  isRepeatable = true,
): Promise<Result> {
  const name = `DynamoDB ${operation}`;
  let withoutAnswer = 0;
  for (let round = 1; ; round += 1) {
    try {
      return await calling(context, name, call);
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      withoutAnswer = failure === 'unanswered' || failure === 'unsent' ? withoutAnswer + 1 : 0;
      const isOver = withoutAnswer === maxWithoutAnswer || (failure === 'unanswered' && !isRepeatable);
      if (isOver || !(await pauseBefore(context, round)))
        throw new ApiError(failure === 'conflict' ? 'conflict' : 'unavailable', {
          cause: error,
          reason: `${name}: ${failure}`,
        });
    }
  }
}
