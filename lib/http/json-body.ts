import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors.ts';
import { isObject, type JsonObject, parseAsWritten } from '../json.ts';

/** The names that lead to a field of a body. */
type Path = readonly string[];

/** Parses the body at the first call: it may contain a token, and reports issues once the caller is known. */
export function readOnce(request: BodyCarrier, asWritten: Path | undefined): () => unknown {
  let read: { body: unknown } | undefined;
  return () => {
    read ??= { body: parseJsonBody(request, asWritten) };
    return read.body;
  };
}

interface BodyCarrier {
  /** A missing body may arrive as absent, null or empty. */
  body?: string | null | undefined;
  isBase64Encoded?: boolean;
  headers: Record<string, string | undefined>;
}

/** Lambda accepts 6 MB an invocation. The gateway enforces that when deployed; this enforces it locally. */
const maxBytes = 6 * 1024 * 1024;

/** Parses a request's JSON body. A request without a Content-Type is read as JSON. */
export function parseJsonBody(
  { body, isBase64Encoded, headers }: BodyCarrier,
  asWritten: Path = [],
): unknown {
  // The gateway may add a Content-Type to a missing body, so check the body first.
  if (!body) throw bodyIssue('is missing; send a JSON object');
  const contentType = headers['content-type'];
  if (contentType && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw new ApiError('unsupported_media_type');
  }
  if (Buffer.byteLength(body) > maxBytes) throw new ApiError('request_too_large');
  const coding = headers['content-encoding'] || 'identity';
  // Otherwise, it would be reported as invalid JSON.
  if (coding.toLowerCase() !== 'identity')
    throw new ApiError('unsupported_media_type', {
      message: `The request body is compressed (${coding.slice(0, 40)}). Send it uncompressed.`,
    });
  const text = textOf(body, isBase64Encoded);
  if (text === undefined || (!isBase64Encoded && isRepaired(body, headers['content-length'])))
    throw bodyIssue(notUnicode);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bodyIssue('is not valid JSON');
  }
  const [holder, field = ''] = [holderOf(value, asWritten), asWritten.at(-1)];
  const issue = issueIn(value, text.includes('\\u'), holder ? maxValues : Infinity);
  if (issue !== undefined) throw bodyIssue(issue);
  // The other fields have types of their own, with numbers as doubles.
  if (holder) holder[field] = holderOf(parseAsWritten(text), asWritten)?.[field];
  return value;
}

/** The object that has the field, or undefined if that has no object. */
function holderOf(body: unknown, [name, ...below]: Path): JsonObject | undefined {
  if (!isObject(body) || name === undefined) return undefined;
  if (below.length > 0) return holderOf(body[name], below);
  return isObject(body[name]) ? body : undefined;
}

const maxDepth = 500;

/** For a body with a field that is kept as written: reading its numbers so takes thirty times as long. */
const maxValues = 100_000;

/**
 * Why a parsed body is rejected, if it is. No JSON writer can serialize deeper nesting again, and JSON.parse
 * accepts an escaped half of a surrogate pair, which no UTF-8 store can hold. Uses its own stack.
 */
function issueIn(root: unknown, hasEscapes: boolean, limit: number): string | undefined {
  const isHalf = (value: unknown) => hasEscapes && typeof value === 'string' && !value.isWellFormed();
  const pending: [object, number][] = [[[root], -1]];
  let found = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [holder, depth] = next;
    if (depth === maxDepth) return `must be nested at most ${maxDepth} deep`;
    const values: unknown[] = Array.isArray(holder) ? holder : Object.values(holder);
    found += values.length;
    if (found > limit) return `must hold at most ${limit} values`;
    if (!Array.isArray(holder) && Object.keys(holder).some(isHalf)) return notUnicode;
    for (const value of values) {
      if (isHalf(value)) return notUnicode;
      if (typeof value === 'object' && value !== null) pending.push([value, depth + 1]);
    }
  }
  return undefined;
}

/** The gateway's replacement for bytes that aren't UTF-8. An ordinary character if the caller sent it. */
const replacement = '\ufffd';

/** The gateway replaces each invalid piece by three bytes of UTF-8, so the length is not the one sent. */
function isRepaired(text: string, contentLength: string | undefined): boolean {
  if (!contentLength || !text.includes(replacement)) return false;
  return Buffer.byteLength(text) !== Number(contentLength);
}

/** The text of a body, without a mark of its byte order; undefined if it isn't Unicode: it would be stored as if intended. */
export function textOf(body: string, isBase64Encoded = false): string | undefined {
  // The gateway encodes bodies that it doesn't consider text.
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : undefined;
  if (bytes ? !isUtf8(bytes) : !body.isWellFormed()) return undefined;
  return (bytes?.toString() ?? body).replace(/^\ufeff/, '');
}

const notUnicode = 'contains text that is not valid Unicode';

function bodyIssue(message: string): ApiError {
  return new ApiError('invalid_request', {
    message: `The request body ${message}.`,
    details: [{ path: 'body', message }],
  });
}
