export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for text that is not a JSON object: the parser's error would quote it. */
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

/** Parses JSON whose numbers `JSON.stringify` writes as they were written, whatever a double makes of them. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, asWritten as (key: string, value: unknown) => unknown);
}

/** TypeScript does not declare the reviver's third argument yet. */
function asWritten(_: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value;
}
