import { callerHash } from '../caller.ts';
import { type Context, endOf, type EventInvocation } from '../context.ts';
import { ApiError } from '../errors.ts';
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
import { always, type Changes, type Clause, Plus } from '../store/items.ts';
import { heartbeatKey, keyOf, usagePartitions, attemptOf } from '../store/keys.ts';
import { get, query } from '../store/read.ts';
import { put, update } from '../store/write.ts';
import { minuteOf, startOfMinute } from '../windows.ts';
import {
  type AccountRecord,
  accountRecord,
  dayOfMinute,
  lateMinutes,
  openMinutes,
  pastCounters,
  minuteText,
} from './account.ts';
import {
  completeUsage,
  keptOutcome,
  recordDayCaller,
  type UsageRecord,
  type UsageResult,
  usageRecord,
} from './usage-records.ts';

/** A usage record that its invocation didn't complete, and its result. */
interface EndedUsage {
  caller: string;
  at: string;
  state: UsageResult['state'];
}

/** `corrected`: the account differed from its usage records. `changed`: the next sweep closes it. */
type Finding = 'closed' | 'corrected' | 'changed';

type SpendingSweep = Sweep<AccountRecord, Finding>;

interface Options {
  part?: Part | undefined;
  now?: number;
  onVisited?: SpendingSweep['onVisited'];
  onEnded?: OnEnded;
}

type OnEnded = (ended: EndedUsage) => void;

/** The least age of a minute's attempts when it is closed. */
const minAgeMs = 4 * 60 * 1000;

/** More would make the update of an account too large; the next sweep closes the others. */
const maxMinutes = 20;

/** Closes the minutes without running attempts; account.ts explains it. It may run several times at once. */
export function sweepSpending(
  context: Context,
  { part, now = Date.now(), onVisited, onEnded = logEnded }: Options = {},
): Promise<SweepReport> {
  const lastMinute = minuteOf(now - minAgeMs) - 1;
  return sweepDue<AccountRecord, Finding>(context, {
    work: 'spending',
    part,
    period: { from: 0, to: startOfMinute(lastMinute) },
    order: 'oldest first',
    visitsAtOnce: 24,
    hasTime: () => Date.now() < context.deadline,
    read: async (keys) =>
      (await get(context, ...keys.map(keyOf))).flatMap((item) => accountRecord(item) ?? []),
    visit: (account) => closeMinutes(context, account, lastMinute, onEnded),
    unexpected: ['corrected'],
    quiet: ['closed', 'changed'],
    nameOf: ({ pk }) => ({ account: pk }),
    onVisited,
  });
}

function logEnded({ at, state }: EndedUsage): void {
  log('info', 'swept_usage', { at, state });
}

/** How long after it was closed a minute with unsettled attempts is checked again. */
const lookBackMinutes = 10;

interface Closing {
  corrections: Map<string, number>;
  condition: Clause<AccountRecord>[];
  changes: Changes<AccountRecord>;
}

async function closeMinutes(
  context: Context,
  account: AccountRecord,
  lastMinute: number,
  onEnded: OnEnded,
): Promise<Finding> {
  const [open, late] = [openMinutes(account), lateMinutes(account)];
  const due = open.filter((minute) => minute <= lastMinute).slice(0, maxMinutes);
  const again = late.filter((minute) => minute <= lastMinute - lookBackMinutes).slice(0, maxMinutes);
  // The index lags a little, and an account is listed by its first late minute.
  if (due.length + again.length === 0 && open.length + late.length > 0) return 'changed';

  let { listed } = account;
  const closing: Closing = { corrections: new Map(), condition: [], changes: {} };
  const added: number[] = [];
  for (const minute of due) {
    const isSettled = account[`running@${minute}`] === 0;
    // All are settled, each once and after its record, so the account equals the records.
    const recorded = isSettled ? undefined : await sumMinute(context, account.caller, minute, onEnded);
    countAgain(closing, account, minute, '', recorded);
    const day = dayOfMinute(minute);
    if (recorded) {
      added.push(minute);
      Object.assign(closing.changes, {
        [`late_credits@${minute}`]: recorded.credits,
        [`late_tasks@${minute}`]: recorded.tasks,
      });
    }
    if (listed !== day && (isSettled || recorded?.records)) {
      await recordDayCaller(context, account.caller, startOfMinute(minute));
      listed = day;
    }
  }
  for (const minute of again)
    countAgain(closing, account, minute, 'late_', await sumMinute(context, account.caller, minute, onEnded));

  const { condition } = closing;
  const last = due.at(-1);
  const [next] = [open[due.length] ?? [], late[again.length] ?? [], added].flat().sort((a, b) => a - b);
  const additions = [...closing.corrections].filter(([, amount]) => amount !== 0);
  const changes: Changes<AccountRecord> = {
    ...Object.fromEntries(additions.map(([name, amount]) => [name, new Plus(amount)])),
    ...pastCounters(account, startOfMinute(lastMinute)),
    ...closing.changes,
    ...(last !== undefined && { closed: last, listed }),
    ...(next === undefined ? notDue : { pending_since: minuteText(next) }),
  };
  // A reservation made meanwhile has opened a minute, and relies on the account being listed.
  if (next === undefined) condition.push(['revision', '=', account.revision]);
  // Adding is safe to repeat here: the write compares the counters that it removes.
  const { written } = await update<AccountRecord>(context, account, changes, condition);
  if (!written) return 'changed';
  return additions.length > 0 ? 'corrected' : 'closed';
}

/** Removes a minute's counters, and corrects its day by the sum of its records. */
function countAgain(
  { corrections, condition, changes }: Closing,
  account: AccountRecord,
  minute: number,
  kind: '' | 'late_',
  recorded: { credits: number; tasks: number } | undefined,
): void {
  for (const counter of ['credits', 'tasks'] as const) {
    const name = `${kind}${counter}@${minute}` as const;
    const counts = account[name] ?? 0;
    const day = `${counter}:${dayOfMinute(minute)}`;
    corrections.set(day, (corrections.get(day) ?? 0) + (recorded?.[counter] ?? counts) - counts);
    condition.push([name, '=', counts]);
    Object.assign(changes, { [name]: null });
  }
  if (kind === '') Object.assign(changes, { [`requests@${minute}`]: null, [`running@${minute}`]: null });
}

/** The sum of a minute's usage records, once each of them has the result of its attempt. */
async function sumMinute(
  context: Context,
  caller: string,
  minute: number,
  onEnded: OnEnded,
): Promise<{ credits: number; tasks: number; records: number }> {
  const sum = { credits: 0, tasks: 0, records: 0 };
  const addPartition = async (partition: string) => {
    const range = { partition: ['pk', partition], sort: ['sk', 'begins with', minuteText(minute)] } as const;
    for await (const page of query(context, range)) {
      for (const item of page) {
        const record = usageRecord(item);
        // Ended records stay ended: the next sweep continues from here.
        if (Date.now() > context.deadline)
          throw new ApiError('unavailable', { reason: 'sweep: out of time' });
        const isOpen = record.state === 'reserved' || record.is_swept;
        const { state, credits } = isOpen ? await endUsage(context, record, onEnded) : record;
        sum.credits += credits;
        sum.records += 1;
        if (state !== 'rejected') sum.tasks += 1;
      }
    }
  };
  await allEnded(usagePartitions(callerHash(caller), dayOfMinute(minute)).map(addPartition));
  return sum;
}

/** Another sweep that ends the same record finds the same values, so the writes may be in any order. */
async function endUsage(context: Context, record: UsageRecord, onEnded: OnEnded): Promise<UsageResult> {
  const { caller, at, sk, state, revision } = record;
  const ceiling = record.ceiling ?? record.credits;
  const result = await keptOutcome(context, record, ceiling);
  if (result.state === state && result.task_id === record.task_id) return result;
  const attempt = { caller, at: Date.parse(at), id: attemptOf({ sk }) };
  const isUnchanged: Clause<UsageRecord> =
    revision === undefined ? ['state', '=', 'reserved'] : ['revision', '=', revision];
  const swept = { ...result, ceiling, is_swept: true };
  const isOurs = await completeUsage(context, attempt, swept, [isUnchanged]);
  if (isOurs) onEnded({ caller, at, state: result.state });
  return result;
}

/** For visits begun before the time is up, and the log line. A call is given up after two seconds. */
const finishingMs = 5000;

/** One sweep of a schedule, which names its part of the accounts. The next sweep handles a failure. */
export async function scheduledSweep({ part }: { part?: Part }, invocation: EventInvocation): Promise<void> {
  const fields = { function: 'sweepSpending', function_request_id: invocation.awsRequestId };
  const context = { deadline: endOf(invocation) - finishingMs };
  const run = async () => {
    if (part === undefined || part.index === 0) await beat(context);
    return sweepSpending(context, { part });
  };
  requireNoneFailed(await withLogFields(fields, run));
}

/** Writes a record that the table's stream delivers: an alarm notices if it never arrives. */
async function beat(context: Context): Promise<void> {
  if (Date.now() >= context.deadline) return;
  const heartbeat = { ...heartbeatKey, at: new Date().toISOString() };
  await put(context, heartbeat, always).catch((error) => log('error', 'heartbeat', describeError(error)));
}
