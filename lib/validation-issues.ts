import { issueSentence } from 'registry-rules/issue-sentence';
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

function isAboutType({ code }: Issue): boolean {
  return code === 'invalid_type';
}
