import type { EventBridgeEvent, S3Event } from 'aws-lambda';
import { sendMessages } from '../aws/queue.ts';
import { decodeKey } from '../bucket/object-keys.ts';
import * as config from '../config.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { inParallel, inParts } from '../in-parallel.ts';
import { log, withLogFields } from '../log.ts';
import { changeNumbers, dayBefore, openDays, publicDays, withCounts } from '../registry/numbers.ts';
import { type Key, nodeKey } from '../store/keys.ts';
import {
  addCounts,
  type Counts,
  countFile,
  countMissed,
  listCounts,
  readCountedNodes,
  writeCountedNodes,
} from './count-files.ts';

type CountEvent = S3Event | EventBridgeEvent<'Scheduled Event', unknown>;

const atOnce = 32;
const keysPerMessage = 100;

/** Handles the events of the log bucket, and the daily schedule that adds up the counted files. */
export async function countLogs(event: CountEvent, invocation: EventInvocation): Promise<void> {
  const context = contextOf(invocation);
  const fields = { function: 'countDownloads', function_request_id: invocation.awsRequestId };
  await withLogFields(fields, async () => {
    if (!('Records' in event)) return addUp(context);
    for (const { s3 } of event.Records) {
      const counted = await countFile(context, decodeKey(s3.object.key));
      log('info', 'log_file', { key: s3.object.key, ...counted });
    }
  });
}

/**
 * Writes each node's numbers once if its sums changed: because of downloads, or because a day is 90 days ago.
 * Days are set and not added to, so a run may be repeated, and the next run counts a late file. It also
 * writes the changes of a run that didn't finish.
 */
async function addUp(context: Context): Promise<void> {
  const from = dayBefore(openDays);
  const missed = await countMissed(context, from);
  const counts: Counts = new Map();
  let files = 0;
  await inParallel(listCounts(context, from), atOnce, async (key) => {
    await addCounts(context, key, counts);
    files += 1;
  });
  const { ended, lastDays } = await readCountedNodes(context);
  for (const [nodeId, days] of counts) {
    const last = Object.hasOwn(lastDays, nodeId) ? (lastDays[nodeId] ?? '') : '';
    lastDays[nodeId] = [last, ...days.keys()].sort().at(-1) ?? last;
  }
  const changed: Key[] = [];
  await inParallel(Object.keys(lastDays).values(), atOnce, async (nodeId) => {
    const days = counts.get(nodeId) ?? new Map<string, never>();
    const changedAt = await changeNumbers(context, nodeId, (record) => withCounts(record, days));
    if (changedAt !== undefined && changedAt > ended) changed.push(nodeKey(nodeId));
  });
  await refreshIndex(context, changed);
  const first = dayBefore(publicDays - 1);
  const shown = Object.entries(lastDays).filter(([, day]) => day >= first);
  await writeCountedNodes(context, { ended: new Date().toISOString(), lastDays: Object.fromEntries(shown) });
  const found = { files, nodes: counts.size, changed: changed.length };
  log('info', 'sweep', { sweep: 'downloads', ...found, sweep_findings: missed });
}

/** The stream doesn't pass numbers on, so the index's own queue writes the files of these nodes. */
export function refreshIndex(context: Context, keys: readonly Key[]): Promise<void> {
  const messages = inParts(keys, keysPerMessage).map((part) => ({ body: { keys: part }, group: 'numbers' }));
  return sendMessages(context, config.indexQueue().INDEX_QUEUE_URL, messages);
}
