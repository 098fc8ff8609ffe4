import type { BoughtTask } from '../bought-task.ts';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import type { RelayedTask } from '../notifications/relayed-task.ts';
import type { PaidAttempt } from '../spend/paid-attempt.ts';
import { afterwards } from './afterwards.ts';
import type { Answer } from './answer.ts';
import type { Claim } from './idempotency.ts';

export type Spending = typeof import('../spend/paid-attempt.ts');

/** What counts money; undefined for what costs none, or where a stage counts none and loads no client of the store. */
export function loadSpending({ paid }: Contract): Promise<Spending> | undefined {
  const isCounted = paid !== undefined && config.usageRecords().USAGE_RECORDS === 'on';
  return isCounted ? import('../spend/paid-attempt.ts') : undefined;
}

export type Relaying = typeof import('../notifications/relayed-task.ts');

/** What has providers notify this service; undefined where they notify the caller, and nothing of it is loaded. */
export function loadRelay({ notifies }: Contract): Promise<Relaying> | undefined {
  const isRelayed = notifies !== undefined && config.notifications().NOTIFICATIONS === 'relay';
  return isRelayed ? import('../notifications/relayed-task.ts') : undefined;
}

interface Phases {
  claim: Claim | undefined;
  attempt: PaidAttempt | undefined;
  task: RelayedTask | undefined;
  deadline: number;
}

interface Work {
  answer: Answer;
  bought: BoughtTask | undefined;
}

/**
 * Runs a request between the phases of its Idempotency-Key, of its money and of its notifications. What is kept for a
 * replay says nothing about the budget: a replay costs nothing, and the budget will be another one.
 */
export async function answerInPhases(
  { claim, attempt, task, deadline }: Phases,
  work: (beforeSending: () => Promise<void>) => Promise<Work>,
): Promise<Answer> {
  const markSent = async () => claim?.markSent();
  const writeAhead = task ? () => task.open(attempt?.name, markSent) : markSent;
  try {
    const { answer: given, bought } = await work(attempt ? () => attempt.open(writeAhead) : writeAhead);
    const answer = task?.inAnswer(given) ?? given;
    const count = async () => bought && attempt?.taken(bought);
    await Promise.all([claim?.keep(answer), afterwards('spending', 'count', deadline, count)]);
    return { ...answer, headers: { ...answer.headers, ...attempt?.headers(bought) } };
  } catch (error) {
    const release = async () => attempt?.failed(error);
    await Promise.all([claim?.fail(error), afterwards('spending', 'release', deadline, release)]);
    const shown = task?.inError(error) ?? error;
    throw attempt && shown instanceof ApiError
      ? shown.with({ headers: { ...shown.headers, ...attempt.headers() } })
      : shown;
  }
}
