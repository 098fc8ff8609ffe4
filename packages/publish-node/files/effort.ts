import { Failure } from '../failure.ts';

const indexSentence =
  'The indexes of the repository and its submodules have too many files, or too long names.';

const limits = {
  /** Comparisons of names with patterns. */
  steps: { most: 100_000_000, sentence: 'The folder has too many or too deep files for its ignore files.' },
  patterns: { most: 20_000, sentence: 'The ignore files have too many patterns for so many files.' },
  patternBytes: { most: 4_000_000, sentence: 'The ignore files are too long.' },
  indexBytes: { most: 512_000_000, sentence: indexSentence },
  indexFiles: { most: 300_000, sentence: indexSentence },
  indexNameBytes: { most: 64_000_000, sentence: indexSentence },
};

/** The limits for reading a folder, whose author may be an attacker. Honest folders never reach them. */
export class Effort {
  readonly #spent = new Map<keyof typeof limits, number>();

  spend(cost: keyof typeof limits, amount: number): void {
    const spent = (this.#spent.get(cost) ?? 0) + amount;
    this.#spent.set(cost, spent);
    if (spent > limits[cost].most) throw new Failure('usage', limits[cost].sentence);
  }
}
