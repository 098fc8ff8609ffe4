import type { BoughtTask } from '../bought-task.ts';
import { type Caller, callerName } from '../caller.ts';
import type { Contract } from '../contract.ts';
import { readEnvironment } from '../environment.ts';
import { ApiError } from '../errors.ts';
import { isObject } from '../json-object.ts';
import type { PaidAttempt } from '../spend/paid-attempt.ts';
import { afterwards } from './afterwards.ts';
import type { Answer } from './answer.ts';
import type { Claim } from './idempotency.ts';

interface PaidCall {
  caller: Caller | undefined;
  body: unknown;
  requestId: string;
  deadline: number;
}

const isCounted = readEnvironment('spending').USAGE_RECORDS === 'on';

/** The money of a request; undefined where it costs none, or where this stage does not count it. */
export async function startAttempt(
  { paid, name }: Contract,
  { caller, body, requestId, deadline }: PaidCall,
  keyHash: string | undefined,
): Promise<PaidAttempt | undefined> {
  if (paid === undefined || !isCounted) return undefined;
  // A stage without usage records loads no client of the store for this.
  const { PaidAttempt } = await import('../spend/paid-attempt.ts');
  const { model, duration } = isObject(body) ? body : {};
  return new PaidAttempt({
    caller: callerName(caller),
    operation: name,
    model: typeof model === 'string' ? model : undefined,
    seconds: typeof duration === 'number' ? duration : undefined,
    requestId,
    keyHash,
    paid,
    deadline,
  });
}

interface Phases {
  claim: Claim | undefined;
  attempt: PaidAttempt | undefined;
  deadline: number;
}

interface Work {
  answer: Answer;
  bought: BoughtTask | undefined;
}

/**
 * Runs a request between the phases of its Idempotency-Key and of its money. What is kept for a replay says nothing
 * about the budget: a replay costs nothing, and the budget will be another one.
 */
export async function answerInPhases(
  { claim, attempt, deadline }: Phases,
  work: (beforeSending: () => Promise<void>) => Promise<Work>,
): Promise<Answer> {
  const markSent = async () => claim?.markSent();
  try {
    const { answer, bought } = await work(attempt ? () => attempt.open(markSent) : markSent);
    const count = async () => bought && attempt?.taken(bought);
    await Promise.all([claim?.keep(answer), afterwards('spending', 'count', deadline, count)]);
    return { ...answer, headers: { ...answer.headers, ...attempt?.headers(bought) } };
  } catch (error) {
    const release = async () => attempt?.failed(error);
    await Promise.all([claim?.fail(error), afterwards('spending', 'release', deadline, release)]);
    throw attempt && error instanceof ApiError ? error.withHeaders(attempt.headers()) : error;
  }
}
