import type { Arena } from './arena.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What one hunt needs: somewhere to hunt, how long, and a source of randomness that can be had again. */
export interface HuntOptions {
  arena: Arena;
  random: SeededRandom;
  /** Seconds, a minute or two, or ten minutes, for hunts that find more in ten than in one. */
  length: 'short' | 'usual' | 'long';
}

export type Hunt = (options: HuntOptions) => Promise<Tally>;

const mostShown = 20;

/** What a hunt has done, and what it has found. A hunt that has found nothing must still show that it looked. */
export class Tally {
  readonly counts: Record<string, number> = {};
  readonly violations: string[] = [];

  count(what: string, by = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + by;
  }

  /** Notes a violation with what is needed to see it again. Many of one kind would only hide the others. */
  violate(what: string, ...evidence: unknown[]): void {
    this.count('violations');
    if (this.violations.length >= mostShown) return;
    this.violations.push([what, ...evidence.map(shown)].join(' · '));
  }
}

const longestEvidence = 600;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  return text.length > longestEvidence ? `${text.slice(0, longestEvidence)}…` : text;
}
