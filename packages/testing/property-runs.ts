import { jest } from '@jest/globals';
import { fc } from './properties.ts';

/** How often a property is tried, times its weight: 10 in the gate, 1,000 with `npm run test:long`. */
const runs = Number(process.env.PROPERTY_RUNS ?? 10);

/** The failure that an earlier run reported for its seed. */
const path = process.env.PROPERTY_PATH;

/** Shrinking a slow property may take hours; after this time the smallest value so far is shown. */
const maxShrinkMs = 60_000;

// A run takes seconds at most, even on a busy machine.
jest.setTimeout(120_000 + runs * 20_000);

interface Options<Value> {
  /** More for a cheap property, less for a slow one. */
  weight?: number;
  /** Values to try first, counted as runs. */
  examples?: readonly Value[];
}

export function runsOf(weight: number): number {
  return Math.max(1, Math.round(runs * weight));
}

/** Tries a property with generated values, and fails with the smallest value for which `holds` throws. */
export async function check<Value>(
  values: fc.Arbitrary<Value>,
  holds: (value: Value) => Promise<void>,
  { weight = 1, examples = [] }: Options<Value> = {},
): Promise<void> {
  // Tests move Date.
  let failedAt = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(values, async (value) => {
    if (performance.now() > failedAt + maxShrinkMs) return;
    await holds(value).catch((error: unknown) => {
      failedAt = Math.min(failedAt, performance.now());
      throw error;
    });
  });
  await fc.assert(property, {
    numRuns: runsOf(weight),
    examples: examples.map((value): [Value] => [value]),
    ...(path && { path, endOnFailure: true }),
  });
}

/** Counts cases that the runs of this file have met, so that a test can check that they covered something. */
export const counts: Record<string, number> = {};

export function count(name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
