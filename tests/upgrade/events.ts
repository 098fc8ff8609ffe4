import type { DynamoDBRecord, S3Event, S3EventRecord, SQSRecord } from 'aws-lambda';
import { maxMessages } from '../../lib/aws/queue.ts';
import { eventOf } from '../../tools/local/consume-queue.ts';
import type { Attributes } from '../../tools/local/dynamodb-protocol.ts';
import { streamRecord } from '../../tools/local/follow-table.ts';
import type { Sqs } from '../../tools/local/sqs.ts';

/** What calls functions without a request, each with its function. */
export const sources = {
  stream: 'write-index',
  uploads: 'finalize-upload',
  extractions: 'extract-host-nodes',
  notifications: 'deliver-notifications',
} as const;
export type Source = keyof typeof sources;

export type EventRecord = DynamoDBRecord | S3EventRecord | SQSRecord;

/** A release that can be given events. */
export interface Handler {
  name: string;
  /** Returns the records that must come again: none if it is the last time. */
  handle: (
    source: Source,
    records: readonly EventRecord[],
    isLast: boolean,
  ) => Promise<readonly EventRecord[]>;
}

interface Waiting {
  source: Source;
  record: EventRecord;
  text: string;
  /** The release whose work it came from; undefined if several were at work. */
  cause: string | undefined;
  receives: number;
  /** Who failed it gets it again: another release may be gone by then. */
  handler?: Handler;
}

interface Selection {
  source?: Source;
  /** The events that contain one of these. */
  marks?: readonly string[];
}

/** As in serverless.yml. */
const maxBatch: Record<Source, number> = { stream: 100, uploads: 1, extractions: 1, notifications: 10 };
const maxReceives = 3;
const maxRounds = 30;
/** SQS delays no message for longer. */
const longestDelayMs = 900_000;
const neverVisible = 43_200;

/** The events of a stage, from its table, its bucket and its queues. They wait until a release is given them. */
export class Events {
  /** How many events of each source went from one release to another, as `stream: old > new`. */
  readonly ways = new Map<string, number>();
  readonly #sqs: Sqs;
  readonly #working: string[] = [];
  readonly #running = new Set<Promise<unknown>>();
  #waiting: Waiting[] = [];
  #sequence = 0;

  constructor(sqs: Sqs) {
    this.#sqs = sqs;
  }

  /** Of the table's stream. */
  wrote(attributes: Attributes): void {
    this.#sequence += 1;
    const record = streamRecord(attributes, this.#sequence);
    if (record) this.#add('stream', record);
  }

  /** Of the bucket: uploads go to their function, published archives to their queue. */
  stored(event: S3Event): void {
    for (const record of event.Records)
      if (record.s3.object.key.startsWith('staging/')) this.#add('uploads', record);
      else if (record.s3.object.key.startsWith('archives/'))
        this.#sqs.queue('extractions').send(JSON.stringify(event));
  }

  /** What comes meanwhile is the work of this release. */
  async during<Result>(release: string, work: () => Promise<Result>): Promise<Result> {
    await this.#collect();
    this.#working.push(release);
    try {
      return await work();
    } finally {
      await this.#collect();
      this.#working.splice(this.#working.indexOf(release), 1);
    }
  }

  async lose(source: Source, marks: readonly string[]): Promise<void> {
    await this.#collect();
    this.#take({ source, marks });
  }

  /** Passes what waits now to the releases that `choose` names. What comes of it waits. Returns how many events it was. */
  async handle(choose: () => Handler, selection: Selection = {}): Promise<number> {
    await this.#collect();
    const taken = this.#take(selection);
    const work = this.#passAll(taken, choose);
    const running = work.catch(() => {}).finally(() => this.#running.delete(running));
    this.#running.add(running);
    await work;
    // Another step may have taken some of them.
    await Promise.all(this.#running);
    return taken.length;
  }

  /** The same until nothing waits. */
  async settle(choose: () => Handler, selection: Selection = {}): Promise<void> {
    for (let round = 0; (await this.handle(choose, selection)) > 0; round += 1)
      if (round === maxRounds)
        throw new Error(`no event fails: ${JSON.stringify(this.#waiting.slice(0, 3))}`);
  }

  async #passAll(taken: readonly Waiting[], choose: () => Handler): Promise<void> {
    const bySource = Map.groupBy(taken, ({ source, handler }) => `${source} ${handler?.name}`);
    for (const events of bySource.values())
      while (events[0]) {
        const [{ source, handler }] = events as [Waiting];
        await this.#pass(events.splice(0, maxBatch[source]), handler ?? choose());
      }
  }

  async #pass(batch: readonly Waiting[], handler: Handler): Promise<void> {
    const [{ source, receives } = { source: 'stream' as const, receives: 0 }] = batch;
    for (const { cause } of batch) {
      const way = `${source}: ${cause} > ${handler.name}`;
      this.ways.set(way, (this.ways.get(way) ?? 0) + 1);
    }
    const records = batch.map(({ record }) => record);
    const failed = await handler.handle(source, records, receives >= maxReceives - 1);
    for (const event of batch)
      if (failed.includes(event.record))
        this.#waiting.push({ ...event, receives: event.receives + 1, handler });
  }

  #take({ source, marks }: Selection): Waiting[] {
    const isWanted = (event: Waiting) => {
      if (source !== undefined && event.source !== source) return false;
      return marks === undefined || marks.some((mark) => event.text.includes(mark));
    };
    const taken = this.#waiting.filter(isWanted);
    if (taken.length > 0) this.#waiting = this.#waiting.filter((event) => !taken.includes(event));
    return taken;
  }

  #add(source: Source, record: EventRecord): void {
    const cause = new Set(this.#working).size === 1 ? this.#working[0] : undefined;
    this.#waiting.push({ source, record, text: JSON.stringify(record), cause, receives: 0 });
  }

  /** What the queues have, also what they would show later. */
  async #collect(): Promise<void> {
    const request = { max: maxMessages, waitSeconds: 0, visibilitySeconds: neverVisible };
    for (const name of ['extractions', 'notifications'] as const) {
      const queue = this.#sqs.queue(name);
      queue.skip(longestDelayMs);
      for (;;) {
        const messages = await queue.receive(request, new AbortController().signal);
        for (const record of eventOf(messages).Records) this.#add(name, record);
        for (const { ReceiptHandle } of messages) queue.remove(ReceiptHandle);
        if (messages.length === 0) break;
      }
    }
  }
}
