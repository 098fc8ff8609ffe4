const maxDepth = 500;
const maxValues = 100_000;

/**
 * Why a body with free-form JSON is rejected, if it is: nested too deep, no JSON writer gets it out again, and reading it
 * with the numbers as written takes thirty times as long. This keeps its own stack.
 */
export function freeFormIssue(root: unknown): string | undefined {
  const pending: [unknown, number][] = [[root, 0]];
  let found = 1;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === maxDepth) return `must be nested at most ${maxDepth} deep`;
    const inner = Object.values(value);
    found += inner.length;
    if (found > maxValues) return `must hold at most ${maxValues} values`;
    for (const each of inner) pending.push([each, depth + 1]);
  }
  return undefined;
}
