import { createHash, randomUUID } from 'node:crypto';

interface Message {
  id: string;
  body: string;
  group: string | undefined;
  sentAt: number;
  visibleAt: number;
  receives: number;
  /** The handle of the latest receive; an older one is stale. */
  handle: string | undefined;
  /** Shown once more, although it is deleted by then. */
  isDuplicated: boolean;
}

interface DeadLetter {
  maxReceiveCount: number;
  send: (body: string, group: string | undefined) => void;
}

interface Request {
  max: number;
  waitSeconds: number;
  visibilitySeconds: number;
}

/** A message as `ReceiveMessage` returns it. */
interface Received {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  MD5OfBody: string;
  Attributes: Record<string, string>;
}

const lookAgainMs = 20;

/** A standard queue: at least once, in any order. It passes groups on, and leaves fairness to AWS. */
export class Queue {
  readonly visibilitySeconds: number;
  /** A test's faults: the share of messages that are shown twice, whether their order is lost, an outage. */
  readonly faults = { duplicates: 0, isShuffled: false, isDown: false };
  isClosed = false;
  readonly #deadLetter: DeadLetter | undefined;
  readonly #messages = new Map<string, Message>();
  readonly #byHandle = new Map<string, Message>();
  #skippedMs = 0;
  #changed = Promise.withResolvers<void>();

  constructor(visibilitySeconds: number, deadLetter?: DeadLetter) {
    this.visibilitySeconds = visibilitySeconds;
    this.#deadLetter = deadLetter;
  }

  /** Moves the queue's clock forward. */
  advance(milliseconds: number): void {
    this.#skippedMs += milliseconds;
    this.#wake();
  }

  /** Ends all waiting receives. */
  close(): void {
    this.isClosed = true;
    this.#wake();
  }

  get bodies(): string[] {
    return [...this.#messages.values()].map(({ body }) => body);
  }

  /** The seconds until each invisible message becomes visible. */
  get waits(): number[] {
    const waits = [...this.#messages.values()].map(({ visibleAt }) => (visibleAt - this.#now()) / 1000);
    return waits.filter((seconds) => seconds > 0);
  }

  send(
    body: string,
    { group, delaySeconds = 0 }: { group?: string | undefined; delaySeconds?: number } = {},
  ): string {
    const id = randomUUID();
    const now = this.#now();
    this.#messages.set(id, {
      id,
      body,
      group,
      sentAt: now,
      visibleAt: now + delaySeconds * 1000,
      receives: 0,
      handle: undefined,
      isDuplicated: Math.random() < this.faults.duplicates,
    });
    this.#wake();
    return id;
  }

  /** Waits until there is a message, or until the caller's time is up. */
  async receive({ max, waitSeconds, visibilitySeconds }: Request, signal: AbortSignal): Promise<Received[]> {
    const end = Date.now() + waitSeconds * 1000;
    for (;;) {
      const taken = signal.aborted || this.isClosed ? [] : this.#take(max, visibilitySeconds);
      if (taken.length > 0 || signal.aborted || this.isClosed || Date.now() >= end) return taken;
      // A delay or a visibility timeout ends without an event.
      const tick = Promise.withResolvers<void>();
      const timer = setTimeout(tick.resolve, lookAgainMs);
      await Promise.race([this.#changed.promise, tick.promise]);
      clearTimeout(timer);
    }
  }

  /** As on AWS, a stale handle deletes nothing, without an error. */
  remove(handle: string): void {
    const message = this.#byHandle.get(handle);
    if (!message) return;
    this.#byHandle.delete(handle);
    if (message.isDuplicated)
      Object.assign(message, { isDuplicated: false, handle: undefined, visibleAt: 0 });
    else this.#messages.delete(message.id);
    this.#wake();
  }

  #take(max: number, visibilitySeconds: number): Received[] {
    const now = this.#now();
    const visible = [...this.#messages.values()].filter((message) => this.#isVisible(message, now));
    if (this.faults.isShuffled) visible.sort(() => Math.random() - 0.5);
    return visible.slice(0, max).map((message) => this.#show(message, now + visibilitySeconds * 1000));
  }

  /** A message that was received too often moves to the dead-letter queue instead. */
  #isVisible(message: Message, now: number): boolean {
    if (message.visibleAt > now) return false;
    if (!this.#deadLetter || message.receives < this.#deadLetter.maxReceiveCount) return true;
    this.#messages.delete(message.id);
    this.#deadLetter.send(message.body, message.group);
    return false;
  }

  #show(message: Message, visibleAt: number): Received {
    const { id, body, group, sentAt, handle: stale } = message;
    if (stale !== undefined) this.#byHandle.delete(stale);
    const handle = randomUUID();
    this.#byHandle.set(handle, message);
    Object.assign(message, { handle, visibleAt, receives: message.receives + 1 });
    return {
      MessageId: id,
      ReceiptHandle: handle,
      Body: body,
      MD5OfBody: createHash('md5').update(body).digest('hex'),
      Attributes: {
        ApproximateReceiveCount: String(message.receives),
        SentTimestamp: String(sentAt),
        ...(group !== undefined && { MessageGroupId: group }),
      },
    };
  }

  #now(): number {
    return Date.now() + this.#skippedMs;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
