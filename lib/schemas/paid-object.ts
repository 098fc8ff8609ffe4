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
  const issues: NearMiss[] = [];
  let unknownFields = 0;
  for (const field in input) {
    if (isUnset(input[field]) || known.some(({ name }) => name === field)) continue;
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

/** The absent field that takes the fewest edits. */
function nearest(field: string, absent: readonly KnownField[]): string | undefined {
  const plain = plainName(field.slice(0, maxNameLength));
  for (let edits = 0; edits <= 2; edits += 1) {
    const found = absent.find(
      (known) => edits <= maxEdits(known.plain, plain) && isNear(plain, known.plain, edits),
    );
    if (found) return found.name;
  }
  return undefined;
}

/** Longer than any field, even with separators between all letters. */
const maxNameLength = 100;

/**
 * `callbackUrl`, `CALLBACK-URL` and `callback_url` are the same name. So is `callback`: the last word only says what kind
 * of value it is, and is often left out or added, as in `model_name`. `img` is short for `image`.
 */
function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace('img', 'image')
    .replace(/(?:ur[il]|name|id)$/, '');
}

/** Short words are near many others: `seed` and `speed` are two fields, but nothing else is `seed` less a letter. */
function maxEdits({ length }: string, from: string): number {
  return length < 5 ? Number(length === 4 && from.length < 4) : length < 8 ? 1 : 2;
}

/** Whether so many insertions, deletions, substitutions and swaps of neighbors lead from one text to the other. */
function isNear(from: string, to: string, edits: number): boolean {
  let same = 0;
  while (same < from.length && from[same] === to[same]) same += 1;
  const a = from.slice(same);
  const b = to.slice(same);
  if (a === b) return true;
  if (edits === 0) return false;
  const isSwapped = a[0] === b[1] && a[1] === b[0];
  return (
    isNear(a.slice(1), b, edits - 1) ||
    isNear(a, b.slice(1), edits - 1) ||
    isNear(a.slice(1), b.slice(1), edits - 1) ||
    (isSwapped && isNear(a.slice(2), b.slice(2), edits - 1))
  );
}
