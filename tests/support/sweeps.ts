import type { Context } from '../../lib/context.ts';
import type { Period, Visited } from '../../lib/store/due.ts';

type Sweep = (
  context: Context,
  period: Period,
  onVisited: (entry: { nodeId: string }, visited: Visited<string>) => void,
) => Promise<unknown>;

/** The findings of a sweep, by the node of each version. */
export async function collected(
  sweep: Sweep,
  context: Context,
  period: Period,
): Promise<Record<string, Visited<string>>> {
  const found: Record<string, Visited<string>> = {};
  await sweep(context, period, ({ nodeId }, visited) => {
    found[nodeId] = visited;
  });
  return found;
}
