import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors.ts';

interface BodyCarrier {
  body?: string | undefined;
  isBase64Encoded?: boolean;
  headers: Record<string, string | undefined>;
}

/** Lambda takes 6 MB an invocation. The gateway keeps this bound when deployed; here it holds locally too. */
const maxBytes = 6 * 1024 * 1024;

/** Parses a request's JSON body. A request without a Content-Type is read as JSON. */
export function parseJsonBody({ body, isBase64Encoded, headers }: BodyCarrier): unknown {
  const contentType = headers['content-type'];
  if (contentType && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw new ApiError('unsupported_media_type');
  }
  if (body === undefined || body === '') throw bodyFault('is missing; send a JSON object');
  const text = isBase64Encoded ? decode(body) : body;
  if (body.length > maxBytes || isLongerInUtf8(text, maxBytes)) throw new ApiError('request_too_large');
  refuseMalformed(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bodyFault('is not valid JSON');
  }
  if (text.includes('__proto__') || text.includes('\\u')) refuseTrickyText(value);
  return value;
}

/** Of UTF-8, for a unit of UTF-16; a pair of them takes four. */
const mostBytesPerUnit = 3;
const pieceLength = 16 * 1024;
const scratch = Buffer.allocUnsafe(mostBytesPerUnit * pieceLength);

/** Encodes piece by piece, in a quarter of the time in which `Buffer.byteLength` counts characters. */
function isLongerInUtf8(text: string, limit: number): boolean {
  if (text.length * mostBytesPerUnit <= limit) return false;
  let bytes = 0;
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + pieceLength;
    const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
    if (splitsPair) end -= 1;
    bytes += scratch.write(text.slice(start, end));
  }
  return bytes > limit;
}

/** Bytes that are no UTF-8 would else become replacement characters, and be stored as if they had been meant. */
function decode(body: string): string {
  const bytes = Buffer.from(body, 'base64');
  if (!isUtf8(bytes)) throw bodyFault(notUnicode);
  return bytes.toString();
}

/**
 * Two kinds of text pass JSON.parse and hurt later: a key named `__proto__` (own property here, prototype once
 * copied), and half of a surrogate pair, which no UTF-8 store can hold. Both need one of the two substrings
 * above, so that ordinary bodies skip this walk. It keeps its own stack: a body can be nested very deep.
 */
function refuseTrickyText(root: unknown): void {
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') refuseMalformed(value);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (key === '__proto__') throw bodyFault('has a key named __proto__');
        refuseMalformed(key);
        pending.push(inner);
      }
    }
  }
}

function refuseMalformed(text: string): void {
  if (!text.isWellFormed()) throw bodyFault(notUnicode);
}

const notUnicode = 'contains text that is not valid Unicode';

function bodyFault(message: string): ApiError {
  return new ApiError('invalid_request', {
    message: `The request body ${message}.`,
    details: [{ path: 'body', message }],
  });
}
