/** Random numbers that are the same in each run, so that a seed that failed can be looked at again. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) % 2_147_483_647 || 1;
  }

  /** From 0 up to, not including, the bound. */
  below(bound: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % bound;
  }

  /** True once in so many times. */
  isOnceIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: this.below(1_000_000) }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }
}
