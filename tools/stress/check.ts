import fc from 'fast-check';
import type { Harness } from './harness.ts';
import { Report } from './report.ts';

/** Seconds, a minute or two, or ten minutes. */
export type Length = 'short' | 'usual' | 'long';

export interface CheckOptions {
  harness: Harness;
  length: Length;
  seed: number;
  /** Only these properties, by their full names; all of them if absent. */
  properties?: readonly string[] | undefined;
  /** One failure of an earlier run of one property, as its report names it. */
  path?: string | undefined;
}

export type Check = (options: CheckOptions) => Promise<Report>;

interface Property<Value> {
  name: string;
  runs: number;
  values: fc.Arbitrary<Value>;
  /** Values to try first, counted as runs. */
  examples?: readonly Value[];
  /** Throws if the value shows a failure. */
  holds: (value: Value) => Promise<void>;
}

/** The time limit of shrinking: after it, the smallest value so far is shown. */
const maxShrinkMs = 60_000;

/** A running check: its report, and the properties that fast-check tries and shrinks for it. */
export class CheckRun {
  readonly report = new Report();
  readonly options: CheckOptions;

  constructor(options: CheckOptions) {
    this.options = options;
  }

  /** Model commands need the rest of the path too: which of them were run. */
  get replayPath(): { replayPath?: string } {
    const [, replayPath] = this.options.path?.split('/') ?? [];
    return replayPath === undefined ? {} : { replayPath };
  }

  async property<Value>({ name, runs, values, examples = [], holds }: Property<Value>): Promise<void> {
    const { seed, properties, path } = this.options;
    if (properties && !properties.includes(name)) return;
    let failedAt = Number.POSITIVE_INFINITY;
    const property = fc.asyncProperty(values, async (value) => {
      if (Date.now() > failedAt + maxShrinkMs) return;
      this.report.count(`${name}: runs`);
      try {
        await holds(value);
      } catch (error) {
        failedAt = Math.min(failedAt, Date.now());
        throw error;
      }
    });
    const replay = path && { path: path.split('/')[0] ?? '', numRuns: 1, endOnFailure: true };
    const { counterexample, counterexamplePath, errorInstance, numShrinks } = await fc.check(property, {
      seed,
      numRuns: runs,
      examples: examples.map((value): [Value] => [value]),
      ...replay,
    });
    if (!counterexample) return;
    const value = fc.stringify(counterexample[0]);
    const [, commandPath] = /replayPath="([^"]+)"/.exec(value) ?? [];
    const fullPath = [counterexamplePath, commandPath].filter(Boolean).join('/');
    this.report.violate(
      `${name} fails, after ${numShrinks} shrinks`,
      // An error of another realm, as in tests, is not an instance of this realm's Error.
      (errorInstance as Partial<Error> | undefined)?.message ?? String(errorInstance),
      value,
      `npm run stress -- --only ${name} --seed ${seed} --path ${fullPath}`,
    );
  }
}

/** Some of the items, always the same for one seed; all of them if the count is high enough. */
export function sampleOf<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  if (count >= items.length) return [...items];
  const some = fc.shuffledSubarray([...items], { minLength: count, maxLength: count });
  return fc.sample(some, { seed, numRuns: 1 })[0] ?? [];
}
