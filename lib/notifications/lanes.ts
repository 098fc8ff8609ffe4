/** How many attempts run at once; how many of these are no first ones; and how many go to one host. */
const maxAtOnce = 32;
const maxRepeatsAtOnce = 16;
const maxPerHost = 2;

interface Job {
  host: string;
  /** It has been tried before. */
  isRepeat: boolean;
  /** Never rejects. */
  run: () => Promise<void>;
}

/**
 * Runs jobs so that a slow host delays nobody else: each host has a lane of its own with two places, hosts take turns,
 * and what has failed before never takes the places of what is new. Nothing is started after `until`.
 */
export class Lanes {
  readonly #until: number;
  readonly #first = new Map<string, Job[]>();
  readonly #repeats = new Map<string, Job[]>();
  readonly #runningAt = new Map<string, number>();
  #running = 0;
  #runningRepeats = 0;
  #whenIdle: (() => void) | undefined;

  constructor(until: number) {
    this.#until = until;
  }

  add(job: Job): void {
    const lanes = job.isRepeat ? this.#repeats : this.#first;
    const lane = lanes.get(job.host);
    if (lane) lane.push(job);
    else lanes.set(job.host, [job]);
    this.#startNext();
  }

  /** Resolves when nothing runs any more, with the number of jobs that there was no time for. */
  async idle(): Promise<number> {
    if (this.#running > 0)
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    const lanes = [...this.#first.values(), ...this.#repeats.values()];
    return lanes.reduce((sum, lane) => sum + lane.length, 0);
  }

  #startNext(): void {
    if (Date.now() < this.#until) {
      this.#startFrom(this.#first, () => this.#running < maxAtOnce);
      this.#startFrom(
        this.#repeats,
        () => this.#running < maxAtOnce && this.#runningRepeats < maxRepeatsAtOnce,
      );
    }
    if (this.#running === 0) this.#whenIdle?.();
  }

  #startFrom(lanes: Map<string, Job[]>, hasPlace: () => boolean): void {
    for (const [host, lane] of lanes) {
      if (!hasPlace()) return;
      if ((this.#runningAt.get(host) ?? 0) >= maxPerHost) continue;
      const job = lane.shift();
      // To the end of the map: the other hosts come first.
      lanes.delete(host);
      if (lane.length > 0) lanes.set(host, lane);
      if (job) void this.#run(job);
    }
  }

  async #run({ host, isRepeat, run }: Job): Promise<void> {
    this.#count(host, isRepeat, 1);
    await run();
    this.#count(host, isRepeat, -1);
    this.#startNext();
  }

  #count(host: string, isRepeat: boolean, by: 1 | -1): void {
    const running = (this.#runningAt.get(host) ?? 0) + by;
    if (running > 0) this.#runningAt.set(host, running);
    else this.#runningAt.delete(host);
    this.#running += by;
    if (isRepeat) this.#runningRepeats += by;
  }
}
