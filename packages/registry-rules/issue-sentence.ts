import type * as z from 'zod/mini';

type Issue = z.core.$ZodIssue;

/** The sentence for each kind of issue. zod's own messages aren't in the bundles. */
export function issueSentence(issue: Issue, input: unknown): string {
  if (issue.code !== 'custom' && valueAt(input, issue.path) === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).filter(Boolean).join(', ')}`;
    case 'too_small':
      return `must ${measure(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${measure(issue.origin, 'at most', Number(issue.maximum))}`;
    default:
      return issue.message;
  }
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
