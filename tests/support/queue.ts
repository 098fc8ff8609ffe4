import { afterAll } from '@jest/globals';
import { drainQueue, type QueueHandler } from '../../tools/local/consume-queue.ts';
import { startSqs } from '../../tools/local/sqs.ts';
import { setVariables } from './variables.ts';

/** A test file that imports this one has a queue of notifications of its own. */
const sqs = await startSqs(0, {
  notifications: { visibilitySeconds: 180, deadLetter: { queue: 'failures', maxReceiveCount: 5 } },
  failures: { visibilitySeconds: 30 },
});
setVariables({ NOTIFICATION_QUEUE_URL: sqs.queueUrl('notifications') });

export const queue = sqs.queue('notifications');
export const deadLetters = sqs.queue('failures');

afterAll(() => sqs.stop());

/** Delivers the visible messages. Returns their number. */
export function runQueue(handler: QueueHandler): Promise<number> {
  return drainQueue(queue, handler);
}
