export interface Counts {
  mutants: number;
  killed: number;
  /** Those of the killed that ran out of time. On a busy machine that can also be a mutant that no test noticed. */
  timedOut: number;
}

interface Score {
  line: string;
  /** Why it is not good enough. */
  problem: string | undefined;
}

/** An area without mutants fails: its files were renamed, or everything in them is ignored. */
export function scoreOf(name: string, { mutants, killed, timedOut }: Counts, minScore: number): Score {
  if (mutants === 0)
    return { line: `${name}: no mutants`, problem: `${name}: nothing was changed and tested.` };
  const percent = (100 * killed) / mutants;
  return {
    line: `${name}: ${killed} of ${mutants} mutants killed, ${percent.toFixed(1)} % (${timedOut} by running out of time)`,
    problem: percent < minScore ? `${name}: at least ${minScore} % must be killed.` : undefined,
  };
}
