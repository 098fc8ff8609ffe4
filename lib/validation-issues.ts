import type * as z from 'zod/mini';
import type { ErrorDetail } from './errors.ts';

type Issue = z.core.$ZodIssue;

/** Turns the issues of a zod error into details that a person can act on, each with its full path. */
export function faultsOf(root: string, error: z.core.$ZodError, input: unknown): ErrorDetail[] {
  const wrongTypes = new Set(error.issues.filter(isAboutType).map(({ path }) => path.join('.')));
  return error.issues
    .filter((issue) => isAboutType(issue) || !wrongTypes.has(issue.path.join('.')))
    .map((issue) => ({
      path: [root, ...issue.path].map(String).join('.'),
      message: sentenceOf(issue, input),
    }));
}

/** What is wrong, for a person: zod's own messages are not in the bundles, so each kind of issue is worded here. */
export function sentenceOf(issue: Issue, input: unknown): string {
  if (issue.code !== 'custom' && valueAt(input, issue.path) === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must ${measure(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${measure(issue.origin, 'at most', Number(issue.maximum))}`;
    default:
      return issue.message;
  }
}

/** A value of a wrong type may break rules of the right one too: a text is also too long to be a list. */
function isAboutType({ code }: Issue): boolean {
  return code === 'invalid_type';
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(
    (value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key],
    input,
  );
}

const typeNames: Record<string, string> = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function measure(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return `have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `have ${bound} ${limit} ${limit === 1 ? 'item' : 'items'}`;
  return `be ${bound} ${limit}`;
}
