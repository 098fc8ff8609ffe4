/** How many attempts run at once, and how many of these belong to one caller, and go to one host. */
const maxAtOnce = 32;
const maxPerCaller = 8;
const maxPerHost = 8;
/** The attempts of one caller to one host: several callers may share a host, and one of them may keep it busy. */
const maxPerLane = 2;
/** Second and later attempts take at most half of all places, and of a caller's. */
const maxRepeatsAtOnce = maxAtOnce / 2;
const maxRepeatsPerCaller = maxPerCaller / 2;

interface Job {
  /** Who pays for it; a caller can name any number of hosts, but has one account. */
  caller: string;
  host: string;
  /** It has been tried before. */
  isRepeat: boolean;
  /** Never rejects. */
  run: () => Promise<void>;
}

/** The jobs of each caller to each host. Both maps are in the order of turns: who has had one goes to the end. */
type Waiting = Map<string, Map<string, Job[]>>;

/**
 * Runs jobs so that neither a slow host nor a caller of many slow hosts delays anyone else: callers take turns, then the
 * hosts of each caller, and what has failed before never takes the places of what is new. Nothing is started after `until`.
 */
export class Lanes {
  readonly #until: number;
  readonly #first: Waiting = new Map();
  readonly #repeats: Waiting = new Map();
  /** By the name of what is limited. */
  readonly #running = new Map<string, number>();
  #waiting = 0;
  #whenIdle: (() => void) | undefined;

  constructor(until: number) {
    this.#until = until;
  }

  /** Starts it at once where it has a place: nothing that waits could take that place. */
  add(job: Job): void {
    if (Date.now() < this.#until && this.#hasPlace(placesOf(job))) {
      void this.#run(job);
      return;
    }
    const callers = job.isRepeat ? this.#repeats : this.#first;
    const hosts = callers.get(job.caller) ?? new Map<string, Job[]>();
    const lane = hosts.get(job.host) ?? [];
    lane.push(job);
    callers.set(job.caller, hosts.set(job.host, lane));
    this.#waiting += 1;
  }

  /** Resolves when nothing runs any more, with the number of jobs that there was no time for. */
  async idle(): Promise<number> {
    if (this.#running.size > 0)
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    return this.#waiting;
  }

  #startNext(): void {
    if (Date.now() < this.#until) {
      this.#startFrom(this.#first, false);
      this.#startFrom(this.#repeats, true);
    }
    if (this.#running.size === 0) this.#whenIdle?.();
  }

  #startFrom(callers: Waiting, isRepeat: boolean): void {
    // A caller that goes to the end of the map while this runs is met there again.
    for (const [caller, hosts] of callers) {
      if (!this.#hasPlace(sharedPlaces(isRepeat))) return;
      const job = this.#hasPlace(placesOfCaller(caller, isRepeat)) && this.#takeNext(hosts);
      if (!job) continue;
      callers.delete(caller);
      if (hosts.size > 0) callers.set(caller, hosts);
      this.#waiting -= 1;
      void this.#run(job);
    }
  }

  #takeNext(hosts: Map<string, Job[]>): Job | undefined {
    for (const [host, lane] of hosts) {
      const [job] = lane;
      if (!job || !this.#hasPlace(placesOf(job))) continue;
      lane.shift();
      hosts.delete(host);
      if (lane.length > 0) hosts.set(host, lane);
      return job;
    }
    return undefined;
  }

  async #run(job: Job): Promise<void> {
    const places = placesOf(job);
    this.#count(places, 1);
    await job.run();
    this.#count(places, -1);
    this.#startNext();
  }

  #hasPlace(places: readonly Place[]): boolean {
    return places.every(([name, max]) => (this.#running.get(name) ?? 0) < max);
  }

  #count(places: readonly Place[], by: 1 | -1): void {
    for (const [name] of places) {
      const running = (this.#running.get(name) ?? 0) + by;
      if (running > 0) this.#running.set(name, running);
      else this.#running.delete(name);
    }
  }
}

/** What a job counts toward while it runs, and how many may. */
type Place = readonly [name: string, max: number];

function placesOf({ caller, host, isRepeat }: Job): Place[] {
  return [
    ...sharedPlaces(isRepeat),
    ...placesOfCaller(caller, isRepeat),
    [`host ${host}`, maxPerHost],
    [`lane ${caller} ${host}`, maxPerLane],
  ];
}

function sharedPlaces(isRepeat: boolean): Place[] {
  return [['all', maxAtOnce], ...(isRepeat ? [['repeats', maxRepeatsAtOnce] as const] : [])];
}

function placesOfCaller(caller: string, isRepeat: boolean): Place[] {
  const all = [`caller ${caller}`, maxPerCaller] as const;
  return isRepeat ? [all, [`repeats of ${caller}`, maxRepeatsPerCaller]] : [all];
}
