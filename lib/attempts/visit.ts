import type { Context } from '../context.ts';
import { log } from '../log.ts';
import type { Changes } from '../store/items.ts';
import { attemptKey, callerHashOf, type Key } from '../store/keys.ts';
import { get } from '../store/read.ts';
import { updating, write } from '../store/write.ts';
import { dayOf } from '../windows.ts';
import { owesNothing } from '../work/lanes.ts';
import { type Outcome, worker } from '../work/worker.ts';
import {
  type AccountRecord,
  accountRecord,
  dueAt,
  leaseMs,
  openReservations,
  pastCounters,
  type Reservation,
} from './account.ts';
import {
  attemptName,
  type AttemptRecord,
  attemptRecord,
  bury,
  endAttempt,
  recordDayCaller,
} from './attempt.ts';
import { settle } from './reserve.ts';
import { sumStageDay } from './stage-day.ts';

/** Ends what requests that died have left open. */
export const visitAccounts = worker<AccountRecord>('visit', {
  handle: (context, account) => visitAccount(context, account),
  // Their sum of the day, if the stage has a budget.
  scheduled: sumStageDay,
});

/** It may run several times at once, and beside any request. */
export async function visitAccount(
  context: Context,
  account: AccountRecord,
  now = Date.now(),
): Promise<Outcome> {
  const due = openReservations(account)
    .filter(({ at }) => at + leaseMs <= now)
    .map((each) => ({ ...each, key: attemptKey(callerHashOf(account), attemptName(each)) }));
  const records = await get(context, ...due.map(({ key }) => key));
  let ended = 0;
  for (const [place, reservation] of due.entries()) {
    const found = attemptRecord(records[place]);
    const payment = await close(context, account, reservation, found);
    if (payment === undefined) continue;
    ended += 1;
    log('info', 'visit', { at: new Date(reservation.at).toISOString(), payment });
  }
  const left = ended === 0 ? account : accountRecord((await get(context, account))[0]);
  return listAgain(context, left ?? account, now);
}

/** Ends one reservation of a request that died. Undefined if its attempt is recorded at this moment. */
async function close(
  context: Context,
  account: AccountRecord,
  { key, ...reservation }: Reservation & { key: Key },
  found: AttemptRecord | undefined,
): Promise<AttemptRecord['payment'] | undefined> {
  if (found === undefined && !(await bury(context, key))) return undefined;
  if (found?.n !== reservation.n) {
    await settle(context, account, reservation, { credits: 0, isTask: false });
    return 'rejected';
  }
  const { credits } = found;
  const payment = found.payment === 'sent' ? 'unknown' : found.payment;
  if (found.payment === 'sent') {
    const isEnded = await endAttempt(context, key, { payment: 'unknown', credits, is_exact: false });
    if (!isEnded) return undefined;
  }
  if (account.listed !== dayOf(reservation.at)) await recordDayCaller(context, found.caller, reservation.at);
  await settle(context, account, reservation, { credits, isTask: payment !== 'rejected', isListed: true });
  return payment;
}

/** Says when the next reservation is due. Only an account that didn't change meanwhile leaves the index. */
async function listAgain(context: Context, account: AccountRecord, now: number): Promise<Outcome> {
  const [oldest] = openReservations(account);
  const { pending_since, revision } = account;
  if (pending_since === undefined) return 'done';
  if (oldest && pending_since === dueAt(oldest.at)) return 'done';
  const next: Changes<AccountRecord> = oldest
    ? { pending_since: dueAt(oldest.at) }
    : { ...owesNothing, ...pastCounters(account, now - leaseMs) };
  const listed = updating(account, { ...next, tries: null, last_error: null }, [
    oldest ? ['pending_since', '=', pending_since] : ['revision', '=', revision],
  ]);
  await write(context, listed);
  return 'done';
}
