import type { DynamoDBRecord, S3Event, S3EventRecord, SQSRecord } from 'aws-lambda';
import { maxMessages } from '../../lib/aws/queue.ts';
import { eventOf } from '../../tools/local/consume-queue.ts';
import type { Attributes } from '../../tools/local/dynamodb-protocol.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import type { Sqs } from '../../tools/local/sqs.ts';

/** What calls functions without a request, each with its function and the size of its batches in serverless.yml. */
export const sources = {
  stream: { name: 'write-index', batch: 100 },
  uploads: { name: 'finalize-upload', batch: 1 },
  extractions: { name: 'extract-host-nodes', batch: 1 },
  notifications: { name: 'deliver-notifications', batch: 10 },
} as const;
export type Source = keyof typeof sources;

export interface Waiting {
  source: Source;
  record: DynamoDBRecord | S3EventRecord | SQSRecord;
  receives: number;
}

/** SQS delays no message for longer. */
const maxDelayMs = 900_000;
const neverVisible = 43_200;

/** The events of a table, a bucket and queues. They wait until a release is given them. */
export class Events {
  readonly #sqs: Sqs;
  #waiting: Waiting[] = [];
  #sequence = 0;

  constructor(sqs: Sqs) {
    this.#sqs = sqs;
  }

  wrote(attributes: Attributes): void {
    this.#sequence += 1;
    const record = streamRecord(attributes, this.#sequence);
    if (record) this.#waiting.push({ source: 'stream', record, receives: 0 });
  }

  /** Uploads go to their function, published archives to their queue. */
  stored(event: S3Event): void {
    for (const record of event.Records)
      if (record.s3.object.key.startsWith('staging/'))
        this.#waiting.push({ source: 'uploads', record, receives: 0 });
      else if (record.s3.object.key.startsWith('archives/'))
        this.#sqs.queue('extractions').send(JSON.stringify(event));
  }

  again(event: Waiting): void {
    this.#waiting.push({ ...event, receives: event.receives + 1 });
  }

  /** The events that contain a mark, taken out. */
  async take(mark: string, source?: Source): Promise<Waiting[]> {
    await Promise.all([this.#collect('extractions'), this.#collect('notifications')]);
    const isTaken = (event: Waiting) =>
      (source === undefined || event.source === source) && JSON.stringify(event.record).includes(mark);
    const taken = this.#waiting.filter(isTaken);
    this.#waiting = this.#waiting.filter((event) => !taken.includes(event));
    return taken;
  }

  /** What a queue has, also what it would show later. */
  async #collect(source: 'extractions' | 'notifications'): Promise<void> {
    const queue = this.#sqs.queue(source);
    queue.advance(maxDelayMs);
    const request = { max: maxMessages, waitSeconds: 0, visibilitySeconds: neverVisible };
    for (;;) {
      const messages = await queue.receive(request, new AbortController().signal);
      if (messages.length === 0) return;
      for (const record of eventOf(messages).Records) this.#waiting.push({ source, record, receives: 0 });
      for (const { ReceiptHandle } of messages) queue.remove(ReceiptHandle);
    }
  }
}
