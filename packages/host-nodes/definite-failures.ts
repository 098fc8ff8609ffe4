import type { StmtNode } from 'py-ast';

/** A line that ends the process that imports the pack. */
export const isExit = /^(?:sys\.)?(?:exit|quit)\(.*\)$/;

const kinds = /^(?:(Assertion|ZeroDivision|Name)|Import|ModuleNotFound|Syntax|System|JSONDecode)E/;
/** Before the first comma, so that the message of an assertion doesn't count. */
const readsElsewhere = /^[^,]*\b(?!assert)[a-z_]\w*[.([]|__/i;

/**
 * Whether a statement also fails in the host. Imports, the end of the process and invalid JSON do. So does a
 * line that asserts something false, divides by zero, or uses a name that occurs nowhere before. But the line
 * must have no call, attribute or item, which the evaluator may see wrongly, and no statement before it was
 * skipped, because the line may need its result.
 */
export function isDefinite(
  error: string,
  { lineno, end_lineno }: StmtNode,
  lines: readonly string[],
  hasSkipped: boolean,
): boolean {
  const [kind, own] = kinds.exec(error) ?? [];
  if (!own) return kind !== undefined;
  if (hasSkipped || lineno !== end_lineno || readsElsewhere.test(lines[lineno - 1] ?? '')) return false;
  const [, name] = error.split("'");
  const before = lines.slice(0, lineno - 1).join();
  return !name || !before.includes(name);
}
