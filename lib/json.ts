import { ApiError } from './errors.ts';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the text isn't a JSON object: the parser's error would quote it. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Task ids may be numbers too long for a double. */
const numericId = /("(?:task_id|id)"\s*:\s*)(-?\d+)(?=\s*[,}])/g;

/** The same for a provider's text. Its numeric ids become strings before they are parsed. */
export function parseWithIds(text: string): JsonObject | undefined {
  return parseObject(text.replace(numericId, '$1"$2"'));
}

declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** Parses JSON so that `JSON.stringify` writes its numbers as they were written, with all digits. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, asWritten as (key: string, value: unknown) => unknown);
}

/** TypeScript does not declare the reviver's third argument yet. */
function asWritten(_: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value;
}

/** A reply body that is already JSON, because its parts had to be measured one by one. */
export class SerializedJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Lambda limits a response to 6 MB of JSON around the body; this leaves some room for the headers. */
export const maxAnswerBytes = 6 * 1024 * 1024 - 32 * 1024;

/**
 * Writes `{"<name>":[...]}` within Lambda's limit. Each entry first reserves room for its short form, made by
 * `shorten`, so that long entries early in the list can't crowd out later ones.
 */
export function boundedList<Entry>(
  name: string,
  entries: readonly Entry[],
  shorten: (entry: Entry) => unknown,
): SerializedJson {
  const texts = allTexts(entries) ?? fittingTexts(name, entries, shorten);
  return new SerializedJson(`{"${name}":[${texts.join(',')}]}`);
}

/** The entries' full texts; undefined if they are so long that their sizes must be added up. */
function allTexts(entries: readonly unknown[]): string[] | undefined {
  const texts: string[] = [];
  let length = 0;
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    length += text.length;
    if (length >= maxAnswerBytes / 6) return undefined;
    texts.push(text);
  }
  return texts;
}

const tooLong = 'must be short enough to be repeated in an answer of 6 MB';

function fittingTexts<Entry>(
  name: string,
  entries: readonly Entry[],
  shorten: (entry: Entry) => unknown,
): string[] {
  const short = entries.map((entry) => JSON.stringify(shorten(entry)));
  let left = maxAnswerBytes - short.reduce((total, text) => total + weightOf(text), 0);
  // The short form repeats the caller's text, and escaping can double its length.
  if (left < 0)
    throw new ApiError('invalid_request', { details: [{ path: `body.${name}`, message: tooLong }] });
  // Once this much was written without fitting, the response is full: the rest isn't even measured.
  let work = 2 * maxAnswerBytes;
  return entries.map((entry, index) => {
    const replacement = String(short[index]);
    if (work <= 0) return replacement;
    const text = JSON.stringify(entry);
    work -= text.length;
    const extra = weightOf(text) - weightOf(replacement);
    if (extra > left) return replacement;
    left -= Math.max(0, extra);
    return text;
  });
}

/** Writes an object within Lambda's limit. If it is too long, drops the largest of its optional fields. */
export function boundedObject(
  required: Record<string, unknown>,
  optional: Record<string, unknown>,
): SerializedJson {
  const whole = JSON.stringify({ ...required, ...optional });
  if (whole.length < maxAnswerBytes / 6) return new SerializedJson(whole);
  const weighed = Object.entries(optional)
    .map(([name, value]) => ({ name, value, weight: weightOf(JSON.stringify({ [name]: value })) }))
    .sort((a, b) => a.weight - b.weight);
  let left = maxAnswerBytes - weightOf(JSON.stringify(required));
  const fitting = weighed.filter(({ weight }) => {
    left -= weight;
    return left >= 0;
  });
  const kept = Object.fromEntries(fitting.map(({ name, value }) => [name, value]));
  return new SerializedJson(JSON.stringify({ ...required, ...kept }));
}

/** The body travels to the gateway as a JSON string, in which every quote and backslash takes two bytes. */
function weightOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
