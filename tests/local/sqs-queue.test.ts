import { expect, test } from '@jest/globals';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import { Queue } from '../../tools/local/sqs-queue.ts';

test('shows a message again after its visibility, which its first receipt then does not delete', async () => {
  const queue = new Queue(30);
  const receive = () =>
    queue.receive({ max: 10, waitSeconds: 0, visibilitySeconds: 30 }, new AbortController().signal);
  queue.send('body');
  const [first] = await receive();
  expect(await receive()).toEqual([]);
  queue.advance(30_000);
  const [second] = await receive();
  queue.remove(String(first?.ReceiptHandle));

  expect([queue.bodies, second?.Attributes.ApproximateReceiveCount]).toEqual([['body'], '2']);
  queue.remove(String(second?.ReceiptHandle));
  expect(queue.bodies).toEqual([]);
});

test('keeps the messages that a function reports as failed', async () => {
  const queue = new Queue(30);
  for (const body of ['taken', 'failed']) queue.send(body);
  await drainQueue(queue, async ({ Records }) => {
    const failed = Records.filter(({ body }) => body === 'failed');
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });

  expect(queue.bodies).toEqual(['failed']);
});
