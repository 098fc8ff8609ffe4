export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

declare global {
  /** TypeScript does not declare these yet. */
  interface JSON {
    parse(
      text: string,
      revive: (key: string, value: unknown, context: { source: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  }
}

type Parse = (text: string) => unknown;

/** Undefined if the text isn't a JSON object: the parser's error would quote it. */
export function parseObject(text: string, parse: Parse = JSON.parse): JsonObject | undefined {
  try {
    const value = parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An object of a provider. Its numeric ids, which may be too long for a double, become strings, unless it is nested too deep. */
export function parseWithIds(text: string): JsonObject | undefined {
  const isId = (key: string, source: string) => (key === 'task_id' || key === 'id') && /^\d+$/.test(source);
  const parse = () =>
    JSON.parse(text, (key, value, { source }) =>
      typeof value === 'number' && isId(key, source) ? source : value,
    );
  // A reviver recurses, and the parser doesn't.
  return parseObject(text, parse) ?? parseObject(text);
}

/** Parses JSON so that `JSON.stringify` writes its numbers as they were written, with all digits. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value,
  );
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
