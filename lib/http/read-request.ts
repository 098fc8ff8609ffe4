import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import type * as z from 'zod/mini';
import type { BodyOf, Contract, QueryOf } from '../contract.ts';
import { ApiError, type ErrorDetail } from '../errors.ts';
import { note } from '../log.ts';
import type { GatewayRequest } from './gateway-handler.ts';

/** The path, query and body of a request, with the types of its contract. */
export interface CheckedRequest<C extends Contract> {
  path: z.infer<C['parameters']>;
  query: QueryOf<C>;
  body: BodyOf<C>;
}

/** Checks all parts together, so that the response names all issues at once. */
export function readRequest<C extends Contract>(
  contract: C,
  schema: z.ZodMiniType,
  request: GatewayRequest,
  readBody: () => unknown,
): CheckedRequest<C> {
  if (contract.path.includes('+}') && hasQuery(request)) throw nameIsCut();
  const input = readBody();
  const parameters = request.pathParameters ?? {};
  const asked = request.queryStringParameters ?? {};
  const path = contract.parameters.safeParse(parameters);
  const query = contract.query?.safeParse(asked);
  const body = schema.safeParse(input);
  if (path.error || query?.error || body.error) {
    const details = issueDetails([
      { root: 'path', error: path.error, input: parameters },
      { root: 'query', error: query?.error, input: asked },
      { root: 'body', error: body.error, input },
    ]);
    throw new ApiError('invalid_request', { details });
  }
  note(namesIn(path.data));
  return {
    path: path.data as CheckedRequest<C>['path'],
    query: query?.data as CheckedRequest<C>['query'],
    body: body.data as CheckedRequest<C>['body'],
  };
}

/** The path's parameters as fields of the log line: `nodeId` is `node_id`. */
function namesIn(path: Record<string, string>): Record<string, string> {
  const inSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(path).map(([name, value]) => [inSnakeCase(name), value]));
}

/** A parameter that takes the rest of the path may be cut. An empty query shows only in a path. */
function hasQuery({ rawQueryString, rawPath, requestContext }: GatewayRequest): boolean {
  return Boolean(rawQueryString) || `${rawPath}${requestContext.http.path}`.includes('?');
}

/** A gateway treats a "?" in a name as the start of a query, so the rest of the name may be another one. */
function nameIsCut(): ApiError {
  const message = 'would cut the name; encode a "?" in the path twice, as "%253F"';
  return new ApiError('invalid_request', { details: [{ path: 'query', message }] });
}

type Issue = z.core.$ZodIssue;

/** The result of checking one part of a request. */
interface Checked {
  root: string;
  error: z.core.$ZodError | undefined;
  input: unknown;
}

/** Keeps error responses small: the most details, and the most characters in each path and message. */
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

/** A value of a wrong type may also break rules of the right type: a string is also too long to be a list. */
function distinctIssues(issues: readonly Issue[]): Issue[] {
  const wrongTypes = new Set(issues.filter(isAboutType).map(({ path }) => path.join('.')));
  return issues.filter((issue) => isAboutType(issue) || !wrongTypes.has(issue.path.join('.')));
}

function isAboutType({ code }: Issue): boolean {
  return code === 'invalid_type';
}
