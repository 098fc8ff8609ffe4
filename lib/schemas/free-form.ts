const maxDepth = 500;
const maxValues = 100_000;

/**
 * What keeps free-form JSON from being stored: it can be nested so deep that no JSON writer gets it out again, and
 * hold numbers that another reader, or JSON itself, writes back as something different. It keeps its own stack.
 */
export function freeFormIssue(root: unknown): string | undefined {
  const pending: [unknown, number][] = [[root, 0]];
  let found = 1;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next;
    if (typeof value === 'number' && !isExact(value)) {
      return 'must hold only numbers that every reader of JSON reads alike; send others as text';
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth === maxDepth) return `must be nested at most ${maxDepth} deep`;
    const inner = Object.values(value);
    found += inner.length;
    if (found > maxValues) return `must hold at most ${maxValues} values`;
    for (const each of inner) pending.push([each, depth + 1]);
  }
  return undefined;
}

/** `1e400` is read as Infinity, and of a whole number past 2^53 the last digits are lost. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}
