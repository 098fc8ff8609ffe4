type Unit = 'times' | 'KB' | 'MB' | 'ms' | 'a second';

/** One result: a ratio to something measured in the same run, or a size. */
export interface Figure {
  name: string;
  unit: Unit;
  median: number;
  /** The middle half of all rounds lies between these. */
  low: number;
  high: number;
  /** The goal: at most this. */
  reach?: number;
  /** The same figure for the usual alternative, measured in the same run. */
  usual?: number;
}

type Goal = Pick<Figure, 'reach' | 'usual'>;

/** The ratio of two series that were measured in turns: a disturbance of a round affects both. */
export function ratio(name: string, times: number[], base: number[], goal: Goal = {}): Figure {
  const ratios = times.map((time, round) => time / Number(base[round]));
  return {
    name,
    unit: 'times',
    median: quantile(ratios, 0.5),
    low: quantile(ratios, 0.25),
    high: quantile(ratios, 0.75),
    ...goal,
  };
}

export function amount(name: string, unit: Unit, value: number, goal: Goal = {}): Figure {
  return { name, unit, median: value, low: value, high: value, ...goal };
}

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = Number(sorted[Math.floor(place)]);
  return below + (Number(sorted[Math.ceil(place)]) - below) * (place % 1);
}

/** Runs everything in turns, A, B, A, B and so on, and returns each one's results in the order of rounds. */
export async function inTurns<Name extends string, Result>(
  rounds: number,
  runs: Record<Name, () => Promise<Result>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(runs) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results[name].push(await runs[name]());
  }
  return results;
}
