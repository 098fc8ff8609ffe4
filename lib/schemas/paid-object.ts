import * as z from 'zod/mini';
import { isUnset } from './media.ts';

/**
 * An object of a paid request. Unknown fields are dropped, but not one that looks like a misspelled field which is
 * absent: the task would cost the same and be a different one than was meant.
 */
export function paidObject<Shape extends Record<string, z.ZodMiniType>>(shape: Shape) {
  const known = Object.keys(shape).map((name) => ({ name, plain: plainName(name) }));
  const checkNames = z.transform((input, { issues }) => {
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      issues.push(...nearMisses(known, input as Record<string, unknown>));
    }
    return input;
  });
  return z.pipe(checkNames, z.object(shape));
}

interface KnownField {
  name: string;
  plain: string;
}

/** No real client sends this many unknown fields, and what we do must not depend on how many there are. */
const maxUnknownFields = 100;

function nearMisses(known: readonly KnownField[], input: Record<string, unknown>) {
  const absent = known.filter(({ name }) => isUnset(input[name]));
  const names = new Set(known.map(({ name }) => name));
  const issues: NearMiss[] = [];
  let unknownFields = 0;
  for (const field in input) {
    if (names.has(field) || isUnset(input[field])) continue;
    unknownFields += 1;
    if (unknownFields > maxUnknownFields) break;
    const meant = nearest(field, absent);
    if (meant) issues.push(nearMiss(field, meant, input));
  }
  return issues;
}

type NearMiss = ReturnType<typeof nearMiss>;

/** zod goes on after an issue of this code, so that all issues of a request are listed at once. */
function nearMiss(field: string, meant: string, input: Record<string, unknown>) {
  const message = `is unknown; did you mean \`${meant}\`?`;
  return { code: 'unrecognized_keys' as const, keys: [field], path: [field], message, input };
}

function nearest(field: string, known: readonly KnownField[]): string | undefined {
  const plain = plainName(field.slice(0, maxNameLength));
  let found: { name: string; distance: number } | undefined;
  for (const { name, plain: candidate } of known) {
    const limit = maxDistance(candidate);
    if (Math.abs(candidate.length - plain.length) > limit) continue;
    const distance = editDistance(plain, candidate);
    if (distance <= limit && distance < (found?.distance ?? Number.POSITIVE_INFINITY))
      found = { name, distance };
  }
  return found?.name;
}

/** Longer than any field, whatever separators it is written with. */
const maxNameLength = 100;

/** `callbackUrl`, `CALLBACK-URL` and `callback_url` are the same name. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Short words are near many others: `seed` and `speed` are two fields. */
function maxDistance({ length }: string): number {
  return length < 5 ? 0 : length < 8 ? 1 : 2;
}

/** Insertions, deletions, substitutions and swaps of neighbors that lead from one text to the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (current[column - 1] ?? 0) + 1,
        (last[column] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
