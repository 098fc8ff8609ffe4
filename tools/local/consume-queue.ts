import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type Invocation, invocationOf } from './invocation.ts';
import type { Queue } from './sqs-queue.ts';

export type QueueHandler = (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse | undefined>;

/** As in serverless.yml. */
interface Mapping {
  timeoutMs: number;
  batchSize: number;
  maximumConcurrency: number;
}

interface EventSource extends Mapping {
  queueUrl: string;
  load: () => Promise<QueueHandler>;
}

const waitSeconds = 5;

/**
 * Lets a queue call a function as Lambda's event source mapping does: batches in parallel up to a limit;
 * messages that the function doesn't report as failed are deleted.
 */
export function consumeQueue(source: EventSource): { stop: () => Promise<void> } {
  const client = new SQSClient({
    endpoint: new URL(source.queueUrl).origin,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const stopping = new AbortController();
  const workers = Array.from({ length: source.maximumConcurrency }, async () => {
    while (!stopping.signal.aborted) await consumeBatch(client, source, stopping.signal);
  });
  const stop = async () => {
    stopping.abort();
    await Promise.all(workers);
    client.destroy();
  };
  return { stop };
}

async function consumeBatch(client: SQSClient, source: EventSource, signal: AbortSignal): Promise<void> {
  const { queueUrl: QueueUrl, load, timeoutMs, batchSize } = source;
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: batchSize,
    WaitTimeSeconds: waitSeconds,
    MessageSystemAttributeNames: ['All'],
  });
  const { Messages = [] } = await client
    .send(command, { abortSignal: signal })
    .catch(() => ({ Messages: [] }));
  if (Messages.length === 0) return;
  const result = await load()
    .then((handler) => handler(eventOf(Messages), invocationOf(timeoutMs)))
    // Nothing is deleted after a crash; the function has logged why.
    .catch(() => ({
      batchItemFailures: Messages.map(({ MessageId = '' }) => ({ itemIdentifier: MessageId })),
    }));
  const failed = failuresIn(result);
  const Entries = Messages.filter(({ MessageId = '' }) => !failed.has(MessageId)).map(
    ({ MessageId: Id, ReceiptHandle }) => ({ Id, ReceiptHandle }),
  );
  if (Entries.length > 0)
    await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries })).catch(() => {});
}

/** Passes the visible messages to a handler in this process, batch by batch. Returns their number. */
export async function drainQueue(queue: Queue, handler: QueueHandler, batchSize = 10): Promise<number> {
  const never = new AbortController().signal;
  for (let messages = 0; ; ) {
    const request = { max: batchSize, waitSeconds: 0, visibilitySeconds: queue.visibilitySeconds };
    const received = await queue.receive(request, never);
    if (received.length === 0) return messages;
    messages += received.length;
    const result = await handler(eventOf(received), invocationOf(drainMs));
    const failed = failuresIn(result);
    for (const { MessageId, ReceiptHandle } of received)
      if (!failed.has(MessageId)) queue.remove(ReceiptHandle);
  }
}

const drainMs = 30_000;

function failuresIn(result: SQSBatchResponse | undefined): Set<string> {
  return new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
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
