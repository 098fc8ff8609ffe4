export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for text that is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
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
