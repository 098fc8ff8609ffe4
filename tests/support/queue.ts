import { drainQueue, type QueueHandler } from '../../tools/local/consume-queue.ts';
import { queues } from '../../tools/local/queues.ts';
import { startSqs } from '../../tools/local/sqs.ts';
import type { LaneName } from '../../lib/work/lanes.ts';
import { queueDenial } from './rights.ts';
import { untilEnd } from './serve.ts';
import { setVariables } from './variables.ts';

/** A test file that imports this one has queues of its own. */
const sqs = untilEnd(await startSqs(0, queues, queueDenial));
setVariables({ INDEX_QUEUE_URL: sqs.queueUrl('indexChanges'), WORK_QUEUES: sqs.queueUrl('') });

export const queue = sqs.queue('deliver');
export const indexChanges = sqs.queue('indexChanges');

export const queueOf = (lane: LaneName) => sqs.queue(lane);

/** Delivers the visible messages. Returns their number. */
export function runQueue(
  handler: QueueHandler,
  lane: LaneName = 'deliver',
  batchSize?: number,
): Promise<number> {
  return drainQueue(queueOf(lane), handler, batchSize);
}
