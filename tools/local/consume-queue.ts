import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type Invocation, invocationOf } from './invocation.ts';
import type { Message, Queue } from './sqs-queue.ts';

export type QueueHandler = (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse | undefined>;

interface EventSource {
  queue: Queue;
  load: () => Promise<QueueHandler>;
  /** These as in serverless.yml. */
  timeoutMs: number;
  batchSize: number;
  maximumConcurrency: number;
}

const waitSeconds = 5;
const drainMs = 30_000;

/**
 * Lets a queue call a function as Lambda's event source mapping does: batches in parallel up to a limit;
 * messages that the function doesn't report as failed are deleted.
 */
export function consumeQueue(source: EventSource): { stop: () => Promise<void> } {
  const { queue, load, timeoutMs, batchSize, maximumConcurrency: length } = source;
  const pass: QueueHandler = async (...given) => (await load())(...given);
  const workers = Array.from({ length }, async () => {
    while (!queue.isClosed) {
      const messages = await queue.receive(batchSize, waitSeconds);
      // Nothing is deleted after a crash; the function has logged why.
      if (messages.length > 0) await passBatch(queue, messages, pass, timeoutMs).catch(() => {});
    }
  });
  const stop = async () => {
    queue.close();
    await Promise.all(workers);
  };
  return { stop };
}

/** Passes the visible messages to a handler in this process, batch by batch. Returns their number. */
export async function drainQueue(queue: Queue, handler: QueueHandler, max = 10): Promise<number> {
  for (let count = 0; ; ) {
    const messages = await queue.receive(max);
    if (messages.length === 0) return count;
    await passBatch(queue, messages, handler, drainMs);
    count += messages.length;
  }
}

async function passBatch(
  queue: Queue,
  messages: readonly Message[],
  handler: QueueHandler,
  timeoutMs: number,
): Promise<void> {
  const result = await handler(eventOf(messages), invocationOf(timeoutMs));
  const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const message of messages) if (!failed.has(message.id)) queue.remove(message);
}

type Sent = Pick<Message, 'id' | 'body'> & Partial<Message>;

/** The event that Lambda builds from messages. */
export function eventOf(messages: readonly Sent[]): SQSEvent {
  return { Records: messages.map(recordOf) };
}

function recordOf({ id, body, group, receives = 1 }: Sent): SQSRecord {
  return {
    messageId: id,
    receiptHandle: `${id} ${receives}`,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: '0',
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: '0',
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:local',
    awsRegion: 'us-east-1',
  };
}
