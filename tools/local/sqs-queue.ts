import { randomUUID } from 'node:crypto';

/** A message as it is received. */
export interface Message {
  id: string;
  body: string;
  group: string | undefined;
  /** How often it was received so far. */
  receives: number;
}

interface Kept extends Message {
  visibleAt: number;
  /** Shown once more, although it is deleted by then. */
  isDuplicated: boolean;
}

/** A standard queue: at least once, in any order. It passes groups on, and leaves fairness to AWS. */
export class Queue {
  /** A test's faults: the share of messages that are shown twice, whether their order is lost, an outage. */
  readonly faults = { duplicates: 0, isShuffled: false, isDown: false };
  isClosed = false;
  readonly #visibilitySeconds: number;
  readonly #messages = new Map<string, Kept>();
  #skippedMs = 0;
  #changed = Promise.withResolvers<void>();

  constructor(visibilitySeconds: number) {
    this.#visibilitySeconds = visibilitySeconds;
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
    this.#messages.set(id, {
      id,
      body,
      group,
      visibleAt: this.#now() + delaySeconds * 1000,
      receives: 0,
      isDuplicated: Math.random() < this.faults.duplicates,
    });
    this.#wake();
    return id;
  }

  /** Waits until there is a message, or until the caller's time is up. */
  async receive(max: number, waitSeconds = 0): Promise<Message[]> {
    const end = this.#now() + waitSeconds * 1000;
    for (;;) {
      const taken = this.isClosed ? [] : this.#take(max);
      const left = Math.min((end - this.#now()) / 1000, ...this.waits);
      if (taken.length > 0 || this.isClosed || left <= 0) return taken;
      // A delay or a visibility timeout ends without an event.
      const tick = Promise.withResolvers<void>();
      const timer = setTimeout(tick.resolve, left * 1000);
      await Promise.race([this.#changed.promise, tick.promise]);
      clearTimeout(timer);
    }
  }

  /** As on AWS, deletes nothing if the message was received again since, without an error. */
  remove({ id, receives }: Message): void {
    const message = this.#messages.get(id);
    if (message?.receives !== receives) return;
    if (message.isDuplicated) Object.assign(message, { isDuplicated: false, visibleAt: 0 });
    else this.#messages.delete(id);
    this.#wake();
  }

  #take(max: number): Message[] {
    const now = this.#now();
    const visible = [...this.#messages.values()].filter(({ visibleAt }) => visibleAt <= now);
    if (this.faults.isShuffled) visible.sort(() => Math.random() - 0.5);
    return visible.slice(0, max).map((message) => {
      message.visibleAt = now + this.#visibilitySeconds * 1000;
      message.receives += 1;
      return { ...message };
    });
  }

  #now(): number {
    return Date.now() + this.#skippedMs;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
