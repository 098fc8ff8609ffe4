import type { StmtNode } from 'py-ast';

/** A line that ends the process which imports the pack. */
export const isExit = /^(?:sys\.)?(?:exit|quit)\(.*\)$/;

const kinds = /^(?:(Assertion|ZeroDivision|Name)|Import|ModuleNotFound|Syntax|System|JSONDecode)E/;
/** Before the first comma, so that the sentence of an assertion does not count. */
const readsElsewhere = /^[^,]*\b(?!assert)[a-z_]\w*[.([]|__/i;

/**
 * Whether a statement fails for the host as well. Imports, the end of the process and a text that is no JSON do. So does a line that asserts
 * something false, divides by zero, or uses a name that occurs nowhere before, if it has no call, attribute or item,
 * which the evaluator may see wrongly, and if nothing was skipped before, whose result it may lack.
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
