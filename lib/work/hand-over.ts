import { maxMessages } from '../aws/queue.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { inParallel, inParts } from '../in-parallel.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { always, typedRead } from '../store/items.ts';
import { heartbeatKey } from '../store/keys.ts';
import { query } from '../store/read.ts';
import { putting, updateQuietly, write } from '../store/write.ts';
import {
  type Lane,
  type LaneName,
  laneNames,
  lanes,
  nextLook,
  type Owing,
  shardsOf,
  timeText,
} from './lanes.ts';
import { send } from './send.ts';

/** With less time left, no further page is handed over. */
const reservedMs = 5000;

/** From one run to the next. What has a pace is spread over them. */
const runSeconds = 60;

const keysPerPage = 1000;
const batchesAtOnce = 16;

/**
 * Each minute: queues what is due, because it waits longer than a queue can, or its message was lost. It reads the index
 * only, and changes only when to look again. That comes after the message: if the run dies between them, the work is
 * queued twice, and the second message finds its try begun.
 */
export async function handOverWork(_: unknown, invocation: EventInvocation): Promise<void> {
  const context = contextOf(invocation);
  const fields = { function: 'handOverWork', function_request_id: invocation.awsRequestId };
  await withLogFields(fields, async () => {
    const [failed] = await Promise.all([
      Promise.all(laneNames.map((lane) => handOverLane(context, lane))).then((errors) => errors.flat()),
      beat(context),
    ]);
    if (failed.length > 0) throw new AggregateError(failed, `${failed.length} steps of the run failed.`);
  });
}

/** Writes a record that the table's stream delivers: an alarm notices if it never arrives. */
async function beat(context: Context): Promise<void> {
  const heartbeat = putting({ ...heartbeatKey, at: timeText(Date.now()) }, always);
  await write(context, heartbeat).catch((error) => log('error', 'heartbeat', describeError(error)));
}

/** Never throws: a lane must not stop the others. */
async function handOverLane(context: Context, lane: LaneName): Promise<unknown[]> {
  const began = Date.now();
  const { perSecond }: Lane = lanes[lane];
  const run = { lane, due: 0, handed: 0, oldest_owed_ms: 0 };
  const errors: unknown[] = [];
  const catchError = (error: unknown) => void errors.push(error);
  const handOverShard = async (shard: string) => {
    const limit = perSecond ? perSecond * runSeconds : keysPerPage;
    for await (const page of query(context, { shard, until: timeText(began) }, limit)) {
      if (Date.now() > context.deadline - reservedMs) return;
      // An account has no tries before one fails.
      const items = page.map((item) => ({ tries: 0, ...dueRecord(item) }));
      run.due += items.length;
      const ages = items.map((item) => began - Date.parse(item.pending_since));
      run.oldest_owed_ms = Math.max(run.oldest_owed_ms, ...ages);
      await inParallel(inParts(items, maxMessages).entries(), batchesAtOnce, async ([index, batch]) => {
        const delaySeconds = perSecond ? Math.floor((index * maxMessages) / perSecond) : 0;
        await handOverBatch(context, lane, batch, delaySeconds).then(() => {
          run.handed += batch.length;
        }, catchError);
      });
      // The next run has the rest.
      if (perSecond) return;
    }
  };
  await Promise.all(shardsOf(lane).map((shard) => handOverShard(shard).catch(catchError)));
  const why = errors.length > 0 && describeError(errors[0]);
  log('info', 'hand_over', { ...run, failed: errors.length, ...why });
  return errors;
}

type Due = Owing & { pending_since: string };

const dueRecord = typedRead<Due>();

async function handOverBatch(
  context: Context,
  lane: LaneName,
  items: readonly Due[],
  delaySeconds: number,
): Promise<void> {
  await send(context, lane, items, delaySeconds);
  await Promise.all(
    items.map((item) => {
      const pending_since = timeText(nextLook(lane, item, Date.now()));
      return updateQuietly(context, item, { pending_since }, [['pending_since', '=', item.pending_since]]);
    }),
  );
}
