import type { Message } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type Invocation, invocationOf } from './invocation.ts';
import type { Queue } from './sqs-queue.ts';

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
  const { queue, load, timeoutMs, batchSize: max, maximumConcurrency: length } = source;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pass: QueueHandler = async (...given) => (await load())(...given);
  const workers = Array.from({ length }, async () => {
    while (!signal.aborted && !queue.isClosed)
      // Nothing is deleted after a crash; the function has logged why.
      await passBatch(queue, pass, timeoutMs, { max, waitSeconds, signal }).catch(() => {});
  });
  const stop = async () => {
    stopping.abort();
    await Promise.all(workers);
  };
  return { stop };
}

/** Passes the visible messages to a handler in this process, batch by batch. Returns their number. */
export async function drainQueue(queue: Queue, handler: QueueHandler, max = 10): Promise<number> {
  const { signal } = new AbortController();
  for (let messages = 0; ; ) {
    const passed = await passBatch(queue, handler, drainMs, { max, waitSeconds: 0, signal });
    if (passed === 0) return messages;
    messages += passed;
  }
}

async function passBatch(
  queue: Queue,
  handler: QueueHandler,
  timeoutMs: number,
  { signal, ...request }: { max: number; waitSeconds: number; signal: AbortSignal },
): Promise<number> {
  const received = await queue.receive({ ...request, visibilitySeconds: queue.visibilitySeconds }, signal);
  if (received.length === 0) return 0;
  const result = await handler(eventOf(received), invocationOf(timeoutMs));
  const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { MessageId, ReceiptHandle } of received)
    if (!failed.has(MessageId)) queue.remove(ReceiptHandle);
  return received.length;
}

/** The event that Lambda builds from messages. */
export function eventOf(messages: readonly Pick<Message, 'MessageId' | 'Body'>[]): SQSEvent {
  return { Records: messages.map(recordOf) };
}

function recordOf({
  MessageId = '',
  ReceiptHandle = '',
  Body = '',
  MD5OfBody = '',
  Attributes,
}: Message): SQSRecord {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: '0',
      ...Attributes,
    },
    messageAttributes: {},
    md5OfBody: MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:local',
    awsRegion: 'us-east-1',
  };
}
