import { parseObject } from '../../lib/json.ts';

const maxBytes = 4096;
const kinds = ['UpdateExpression', 'ConditionExpression'] as const;

type Expressions = Partial<Record<(typeof kinds)[number], string>> & {
  ExpressionAttributeNames?: Record<string, string>;
};

type Request = Expressions & { TransactItems?: Record<string, Expressions>[] };

/** DynamoDB's message for a write whose expressions it rejects and the embedded server accepts. */
export function expressionIssue(body: Buffer): string | undefined {
  if (body.length <= maxBytes && !body.includes('":""')) return undefined;
  // An unreadable request has no expression: the server behind this one rejects it.
  const { TransactItems = [], ...plain }: Request = parseObject(body.toString()) ?? {};
  const parts = [plain, ...TransactItems.flatMap((item) => Object.values(item))];
  return parts.map(issueOf).find((issue) => issue !== undefined);
}

function issueOf({ ExpressionAttributeNames = {}, ...expressions }: Expressions): string | undefined {
  const long = kinds.find((kind) => Buffer.byteLength(expressions[kind] ?? '') > maxBytes);
  if (long) return `Invalid ${long}: Expression size has exceeded the maximum allowed size;`;
  const [nameless] = Object.entries(ExpressionAttributeNames).find(([, name]) => name === '') ?? [];
  return nameless && `ExpressionAttributeNames contains invalid value: Empty attribute name for ${nameless}`;
}
