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
const numericId = /("(?:task_id|id)"\s*:\s*)(\d+)(?=\s*[,}])/g;

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

/** The body travels to the gateway as a JSON string, in which every quote and backslash takes two bytes. */
export function weightOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
