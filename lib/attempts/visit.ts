import { type Context, endOf, type EventInvocation } from '../context.ts';
import { allEnded } from '../in-parallel.ts';
import { describeError, log, withLogFields } from '../log.ts';
import {
  notDue,
  type Part,
  requireNoneFailed,
  type Sweep,
  sweepDue,
  type SweepReport,
} from '../store/due.ts';
import { always, type Changes } from '../store/items.ts';
import { attemptKey, callerHashOf, heartbeatKey, type Key, keyName, keyOf } from '../store/keys.ts';
import { get, readAll } from '../store/read.ts';
import { put, update } from '../store/write.ts';
import { dayOf } from '../windows.ts';
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

/** The reservation of a request that died, and what became of it. */
interface EndedReservation {
  caller: string;
  at: string;
  payment: AttemptRecord['payment'];
}

/** `ended`: requests had died. `open`: younger attempts are open. `changed`: the next run decides. */
type Finding = 'ended' | 'open' | 'idle' | 'changed';

type Visits = Sweep<AccountRecord, Finding>;

interface Options {
  part?: Part | undefined;
  now?: number;
  onVisited?: Visits['onVisited'];
  onEnded?: OnEnded;
}

type OnEnded = (ended: EndedReservation) => void;

/** Ends what requests that died have left open. It may run several times at once, and beside any request. */
export function visitAccounts(
  context: Context,
  { part, now = Date.now(), onVisited, onEnded = logEnded }: Options = {},
): Promise<SweepReport> {
  return sweepDue<AccountRecord, Finding>(context, {
    work: 'spending',
    part,
    period: { from: 0, to: now },
    order: 'oldest first',
    visitsAtOnce: 24,
    hasTime: () => Date.now() < context.deadline,
    read: async (keys) =>
      (await get(context, ...keys.map(keyOf))).flatMap((item) => accountRecord(item) ?? []),
    visit: (account) => visit(context, account, now, onEnded),
    unexpected: ['ended'],
    quiet: ['open', 'idle', 'changed'],
    nameOf: ({ pk }) => ({ account: pk }),
    onVisited,
  });
}

function logEnded({ at, payment }: EndedReservation): void {
  log('info', 'swept_usage', { at, payment });
}

async function visit(
  context: Context,
  account: AccountRecord,
  now: number,
  onEnded: OnEnded,
): Promise<Finding> {
  const due = openReservations(account)
    .filter(({ at }) => at + leaseMs <= now)
    .map((each) => ({ ...each, key: attemptKey(callerHashOf(account), attemptName(each)) }));
  // Two reservations may be of one attempt.
  const keys = new Map(due.map(({ key }) => [keyName(key), key]));
  const records = new Map((await readAll(context, [...keys.values()])).map((item) => [keyName(item), item]));
  let ended = 0;
  for (const reservation of due) {
    const found = attemptRecord(records.get(keyName(reservation.key)));
    const payment = await close(context, account, reservation, found);
    if (payment === undefined) continue;
    ended += 1;
    onEnded({ caller: account.caller, at: new Date(reservation.at).toISOString(), payment });
  }
  const left = ended === 0 ? account : accountRecord((await get(context, account))[0]);
  const finding = await listAgain(context, left ?? account, now);
  return ended > 0 ? 'ended' : finding;
}

/** Ends one reservation of a request that died. Undefined if its attempt is recorded at this moment. */
async function close(
  context: Context,
  account: AccountRecord,
  { key, ...reservation }: Reservation & { key: Key },
  found: AttemptRecord | undefined,
): Promise<AttemptRecord['payment'] | undefined> {
  if (found === undefined && !(await bury(context, key)).written) return undefined;
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
async function listAgain(context: Context, account: AccountRecord, now: number): Promise<Finding> {
  const [oldest] = openReservations(account);
  const { pending_since, revision } = account;
  if (pending_since === undefined) return 'changed';
  if (oldest && pending_since === dueAt(oldest.at)) return 'open';
  const changes: Changes<AccountRecord> = oldest
    ? { pending_since: dueAt(oldest.at) }
    : { ...notDue, ...pastCounters(account, now - leaseMs) };
  const { written } = await update<AccountRecord>(context, account, changes, [
    oldest ? ['pending_since', '=', pending_since] : ['revision', '=', revision],
  ]);
  if (!written) return 'changed';
  return oldest ? 'open' : 'idle';
}

/** For visits begun before the time is up, and the log line. A call is given up after two seconds. */
const finishingMs = 5000;

/** One run of a schedule, which names its part of the accounts. The next run handles a failure. */
export async function scheduledVisit({ part }: { part?: Part }, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'sweepSpending', function_request_id: invocation.awsRequestId };
  const context = { deadline: endOf(invocation) - finishingMs };
  const run = async () => {
    const isFirst = part === undefined || part.index === 0;
    if (isFirst) await beat(context);
    const [report] = await allEnded([
      visitAccounts(context, { part }),
      isFirst ? sumStageDay(context) : undefined,
    ]);
    return report;
  };
  requireNoneFailed(await withLogFields(fields, run));
}

/** Writes a record that the table's stream delivers: an alarm notices if it never arrives. */
async function beat(context: Context): Promise<void> {
  if (Date.now() >= context.deadline) return;
  const heartbeat = { ...heartbeatKey, at: new Date().toISOString() };
  await put(context, heartbeat, always).catch((error) => log('error', 'heartbeat', describeError(error)));
}
