import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import * as config from '../config.ts';
import { log } from '../log.ts';
import { always, typedRead } from '../store/items.ts';
import { dayCallersOf, type Key, stageDayKey } from '../store/keys.ts';
import { get, queryAll, readAll } from '../store/read.ts';
import { putting, write } from '../store/write.ts';
import { dayOf, secondsLeft } from '../windows.ts';
import { accountRecord, keyOfAccount } from './account.ts';
import { dayCallerRecord } from './attempt.ts';
import { waitFor } from './reserve.ts';

/*
 * The budget of all callers together. No request adds to a common sum, or all callers would write one item: each minute
 * the visit adds up the accounts, and requests look at the result. So up to a minute's tasks may come on top.
 */

/** The credits of all callers on a day, with the ceilings of open attempts. */
interface StageDayRecord extends Key {
  day: string;
  credits: number;
}

const stageDayRecord = typedRead<StageDayRecord>();

/** Rejects every caller while the stage's day is full. */
export async function requireStageBudget(context: Context, at: number): Promise<void> {
  const { STAGE_CREDITS_PER_DAY: limit } = config.stageBudget();
  if (limit === 0) return;
  const sum = stageDayRecord((await get(context, stageDayKey))[0]);
  if (sum?.day !== dayOf(at) || sum.credits < limit) return;
  throw new ApiError('budget_exhausted', {
    message: 'The budget of this service for today is used up. It starts over at midnight UTC.',
    headers: { 'retry-after': String(waitFor(secondsLeft('day', at))) },
    reason: 'stage-credits-per-day',
  });
}

/** Adds up the accounts of the day's callers, if the stage has a budget. */
export async function sumStageDay(context: Context, now = Date.now()): Promise<void> {
  const { STAGE_CREDITS_PER_DAY: limit } = config.stageBudget();
  if (limit === 0) return;
  const day = dayOf(now);
  const pages = dayCallersOf(day).map((shard) => queryAll(context, shard));
  const callers = (await Promise.all(pages)).flat().map(dayCallerRecord);
  const accounts = callers.map(({ caller }) => keyOfAccount(caller));
  const fields = ['pk', 'sk', `credits:${day}`];
  const items = await readAll(context, accounts, { fields, eventually: true });
  const credits = items
    .map((item) => accountRecord(item)[`credits:${day}`] ?? 0)
    .reduce((sum, each) => sum + each, 0);
  await write(context, putting<StageDayRecord>({ ...stageDayKey, day, credits }, always));
  log(credits < limit ? 'info' : 'warn', 'stage_credits', { day, credits, limit, callers: accounts.length });
}
