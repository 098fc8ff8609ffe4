import { expect, test } from '@jest/globals';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import { type Message, Queue } from '../../tools/local/sqs-queue.ts';

test('shows a message again after its visibility, which its first receipt then does not delete', async () => {
  const queue = new Queue(30);
  const receive = async () => (await queue.receive(10)) as [Message];
  queue.send('body');
  const [first] = await receive();
  expect(await receive()).toEqual([]);
  queue.advance(30_000);
  const [second] = await receive();
  queue.remove(first);

  expect([queue.bodies, second.receives]).toEqual([['body'], 2]);
  queue.remove(second);
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
