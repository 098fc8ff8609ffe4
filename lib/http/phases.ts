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

export type Spending = typeof import('../spend/paid-attempt.ts');

/** What counts money; undefined for what costs none, or where a stage counts none and loads no client of the store. */
export function loadSpending({ paid }: Contract): Promise<Spending> | undefined {
  const isCounted = paid !== undefined && readEnvironment('spending').USAGE_RECORDS === 'on';
  return isCounted ? import('../spend/paid-attempt.ts') : undefined;
}

/** The money of a request, where it costs some. */
export async function startAttempt(
  spending: Promise<Spending> | undefined,
  { paid, name, secondsOf }: Contract,
  { caller, body, requestId, deadline }: PaidCall,
  keyHash: string | undefined,
): Promise<PaidAttempt | undefined> {
  if (paid === undefined || spending === undefined) return undefined;
  const { PaidAttempt } = await spending;
  const { model } = isObject(body) ? body : {};
  return new PaidAttempt({
    caller: callerName(caller),
    operation: name,
    model: typeof model === 'string' ? model : undefined,
    seconds: isObject(body) ? secondsOf?.(body) : undefined,
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
