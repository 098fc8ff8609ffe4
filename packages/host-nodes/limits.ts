/**
 * The limits for one pack. Every statement, expression and item of a walk takes a step, so no program,
 * however it is written, runs, grows or recurses beyond these numbers. Hostile input showed that each is
 * needed.
 */
export const limits = {
  fileCharacters: 1_000_000,
  parsedCharacters: 16_000_000,
  packSteps: 3_000_000,
  nodeSteps: 300_000,
  names: 5_000,
  callDepth: 120,
  ancestors: 100,
  importDepth: 60,
  integerBits: 4_096,
  textCharacters: 1_000_000,
  patternCharacters: 500,
  matchedCharacters: 20_000,
  /** Of one node, which leaves room in the registry's item for what its owner writes, and of all: six known packs. */
  nodeBytes: 80_000,
  packBytes: 2_000_000,
  flags: 1_000,
  jsonCharacters: 80_000,
  reasonCharacters: 500,
  notes: 50,
  riskParts: 1_000_000,
  riskCharacters: 3_000_000,
} as const;

/** Ends the evaluation: the pack's `except` can't catch it. */
export class LimitReached extends Error {}

/** The steps of a pack, with a smaller allowance for each node in turn. */
export class Budget {
  used = 0;
  #end: number;
  #depth = 0;

  constructor(steps: number = limits.packSteps) {
    this.#end = steps;
  }

  spend(steps = 1): void {
    this.used += steps;
    if (this.used > this.#end) throw new LimitReached('it takes too many steps');
  }

  /** Building text: this limits memory as steps limit time. If a text grows, only the added part counts. */
  text(characters: number, whole = characters): void {
    if (whole > limits.textCharacters) throw new LimitReached('it builds too long a text');
    this.spend(Math.ceil(characters / 32));
  }

  /** Items or characters that are read. */
  read(size: number): void {
    this.spend(Math.floor(size / 32));
  }

  /** Runs a part with an allowance of its own, within the rest of the pack's. */
  allow<Result>(steps: number, part: () => Result): Result {
    const end = this.#end;
    this.#end = Math.min(end, this.used + steps);
    try {
      return part();
    } finally {
      this.#end = end;
    }
  }

  /** Whether few calls are nested: work that doubles with each must not go deep. */
  get isShallow(): boolean {
    return this.#depth < 4;
  }

  /** Runs a call of the pack's; beyond the allowed depth, its result is unknown. */
  descend<Result>(part: () => Result, beyond: () => Result): Result {
    if (this.#depth >= limits.callDepth) return beyond();
    this.#depth += 1;
    try {
      return part();
    } finally {
      this.#depth -= 1;
    }
  }
}
