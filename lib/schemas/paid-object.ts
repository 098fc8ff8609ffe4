import * as z from 'zod/mini';
import { isUnset } from './media.ts';

/**
 * An object of a paid request. Unknown fields are dropped, but not one that looks like a misspelled field which is
 * absent: the task would cost the same and be a different one than was meant.
 */
export function paidObject<Shape extends Record<string, z.ZodMiniType>>(shape: Shape) {
  const known = Object.keys(shape);
  const checkNames = z.transform((input, { issues }) => {
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      issues.push(...nearMisses(known, input as Record<string, unknown>));
    }
    return input;
  });
  return z.pipe(checkNames, z.object(shape));
}

/** No real client sends this many unknown fields, and the cost of a request must not depend on their number. */
const maxUnknownFields = 100;

function nearMisses(known: readonly string[], input: Record<string, unknown>) {
  const absent = known.filter((name) => isUnset(input[name]));
  const issues: NearMiss[] = [];
  let unknownFields = 0;
  for (const field in input) {
    if (isUnset(input[field]) || known.includes(field)) continue;
    unknownFields += 1;
    if (unknownFields > maxUnknownFields) break;
    const meant = absent.find((name) => isNearMiss(field, name));
    if (meant !== undefined) issues.push(nearMiss(field, meant, input));
  }
  return issues;
}

type NearMiss = ReturnType<typeof nearMiss>;

/** zod goes on after an issue of this code, so that all issues of a request are listed at once. */
function nearMiss(field: string, meant: string, input: Record<string, unknown>) {
  const message = `is unknown; did you mean \`${meant}\`?`;
  return { code: 'unrecognized_keys' as const, keys: [field], path: [field], message, input };
}

/** Short words are near many others. */
const minEditedLength = 4;

/**
 * Whether a name is the other one with other case or separators, or with one edit: a character that was added, lost,
 * changed, or swapped with its neighbor. Nothing wider, because real clients have fields of their own.
 */
function isNearMiss(name: string, meant: string): boolean {
  if (Math.abs(name.length - meant.length) > maxSeparators) return false;
  return lettersOf(name) === lettersOf(meant) || (meant.length >= minEditedLength && isOneEdit(name, meant));
}

/** More than a name has places for. It bounds the work for a name of megabytes. */
const maxSeparators = 100;

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function isOneEdit(name: string, meant: string): boolean {
  if (Math.abs(name.length - meant.length) > 1) return false;
  let same = 0;
  while (same < name.length && name[same] === meant[same]) same += 1;
  const [a, b] = [name.slice(same), meant.slice(same)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || isSwapped;
}
