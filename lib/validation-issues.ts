import type * as z from 'zod/mini';
import type { ErrorDetail } from './errors.ts';

type Issue = z.core.$ZodIssue;

/** One part of a request, as a schema found it. */
interface Checked {
  root: string;
  error: z.core.$ZodError | undefined;
  input: unknown;
}

/** No request makes a large answer: so many details, and so many characters in each path and message. */
const maxDetails = 100;
const maxLength = 200;

/** Turns the issues of a request into details that a person can act on, each with its full path. */
export function issueDetails(checked: readonly Checked[]): ErrorDetail[] {
  const found = checked.flatMap(({ root, error, input }) =>
    distinctIssues(error?.issues ?? []).map((issue) => ({ root, issue, input })),
  );
  const isComplete = found.length <= maxDetails;
  const shown = isComplete ? found : found.slice(0, maxDetails - 1);
  const details = shown.map(({ root, issue, input }) => ({
    path: shorten([root, ...issue.path].map((part) => shorten(String(part))).join('.')),
    message: shorten(issueSentence(issue, input)),
  }));
  if (!isComplete) {
    details.push({ path: 'body', message: `has ${found.length - shown.length} more issues` });
  }
  return details;
}

function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…`.toWellFormed() : text;
}

/** A value of a wrong type may break rules of the right one too: a text is also too long to be a list. */
function distinctIssues(issues: readonly Issue[]): Issue[] {
  const wrongTypes = new Set(issues.filter(isAboutType).map(({ path }) => path.join('.')));
  return issues.filter((issue) => isAboutType(issue) || !wrongTypes.has(issue.path.join('.')));
}

/** The sentence for each kind of issue. zod's own messages are not in the bundles. */
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
