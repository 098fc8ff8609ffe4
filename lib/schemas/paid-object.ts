import * as z from 'zod/mini';
import { isUnset } from './media.ts';
import { isNearMiss } from './near-miss.ts';

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
