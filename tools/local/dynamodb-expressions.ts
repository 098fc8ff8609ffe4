const maxBytes = 4096;
const kinds = ['UpdateExpression', 'ConditionExpression'] as const;

type Expressions = Partial<Record<(typeof kinds)[number], string>>;

/** DynamoDB takes at most 4 KB of an expression, and the embedded one any length: what it says of a longer one. */
export function longExpression(body: Buffer): string | undefined {
  if (body.length <= maxBytes) return undefined;
  const { TransactItems = [], ...plain } = readRequest(body);
  const parts = [plain, ...TransactItems.flatMap((item) => Object.values(item))];
  for (const part of parts) {
    const kind = kinds.find((name) => Buffer.byteLength(part[name] ?? '') > maxBytes);
    if (kind) return `Invalid ${kind}: Expression size has exceeded the maximum allowed size;`;
  }
  return undefined;
}

/** What cannot be read has no expression; the server behind this one rejects it. */
function readRequest(body: Buffer): Expressions & { TransactItems?: Record<string, Expressions>[] } {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
}
