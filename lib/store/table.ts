import {
  BatchGetItemCommand,
  type CancellationReason,
  DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { readEnvironment } from '../environment.ts';
import { ApiError } from '../errors.ts';
import { type AttributeMap, fromAttributes, type Item, toAttributes } from './attribute-values.ts';
import type { Key } from './keys.ts';

export const tableName = readEnvironment('registry').TABLE_NAME;

export const dynamodb = new DynamoDBClient({
  maxAttempts: 3,
  // Without the third the SDK only warns of a request that takes longer, and waits on.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true },
});

// It copies each request and each answer in case somebody logs them: a sixth of the time of 1,000 versions.
dynamodb.middlewareStack.remove('loggerMiddleware');

/** DynamoDB's own bound on one BatchGetItem. */
const largestBatch = 100;

/** How often a batch may fail as a whole, after the SDK's own retries, before its keys are given up. */
const maxFailures = 3;

interface BatchRead {
  /** In the order of the keys; undefined where there is no such item. */
  items: (Item | undefined)[];
  /** Indexes of the keys that the store, throttled, had not answered by the deadline. */
  unread: Set<number>;
}

/** Reads any number of distinct keys: batches of 100 side by side, throttled keys asked for again. */
export async function readBatches(keys: readonly Key[], deadline: number): Promise<BatchRead> {
  const starts = Array.from(
    { length: Math.ceil(keys.length / largestBatch) },
    (_, index) => index * largestBatch,
  );
  const found = new Map<string, Item>();
  const left = new Set<string>();
  await Promise.all(
    starts.map((start) => readBatch(keys.slice(start, start + largestBatch), deadline, found, left)),
  );
  return {
    items: keys.map((key) => found.get(nameOf(key))),
    unread: new Set(keys.flatMap((key, index) => (left.has(nameOf(key)) ? [index] : []))),
  };
}

/** Reads all keys in one request, or fails as a whole: what an operation needs before it decides anything. */
export async function readTogether<Keys extends readonly Key[]>(
  deadline: number,
  ...keys: Keys
): Promise<{ [K in keyof Keys]: Item | undefined }> {
  const { items, unread } = await readBatches(keys, deadline);
  if (unread.size > 0) throw new ApiError('unavailable');
  return items as { [K in keyof Keys]: Item | undefined };
}

async function readBatch(
  keys: Key[],
  deadline: number,
  found: Map<string, Item>,
  left: Set<string>,
): Promise<void> {
  let pending: AttributeMap[] = keys.map(toAttributes);
  let failures = 0;
  for (let attempt = 0; pending.length > 0; attempt += 1) {
    if (attempt > 0) {
      const wait = jitter(attempt);
      if (Date.now() + wait > deadline) break;
      await pause(wait);
    }
    const request = { RequestItems: { [tableName]: { Keys: pending, ConsistentRead: true } } };
    const reply = await dynamodb.send(new BatchGetItemCommand(request)).catch((error: unknown) => {
      if (isOverload(error)) return undefined;
      throw error;
    });
    if (reply === undefined) {
      failures += 1;
      if (failures === maxFailures) break;
      continue;
    }
    for (const attributes of reply.Responses?.[tableName] ?? []) {
      const item = fromAttributes(attributes);
      found.set(nameOf(item as Key), item);
    }
    pending = reply.UnprocessedKeys?.[tableName]?.Keys ?? [];
  }
  for (const attributes of pending) left.add(nameOf(fromAttributes(attributes) as Key));
}

/** How often a transaction that met another one is sent again before the caller is asked to. */
const maxConflicts = 10;

/**
 * Writes all or nothing. Returns the reasons where a condition failed, one per item, and undefined when done.
 * Transactions that touch the same item at the same time are cancelled by DynamoDB; they are sent again.
 */
export async function transact(
  items: TransactWriteItem[],
  deadline: number,
): Promise<CancellationReason[] | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: items }));
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw storeError(error);
      const reasons = error.CancellationReasons ?? [];
      const codes = reasons.map(({ Code }) => Code);
      if (codes.includes('ConditionalCheckFailed')) return reasons;
      if (codes.includes('ValidationError'))
        throw tooLargeOr(error, reasons.map(({ Message }) => Message).join(' '));
      if (!codes.includes('TransactionConflict')) throw new ApiError('unavailable', { cause: error });
      const wait = jitter(attempt);
      if (attempt === maxConflicts || Date.now() + wait > deadline)
        throw new ApiError('conflict', { cause: error });
      await pause(wait);
    }
  }
}

/** What a failed call to the store means to the caller. */
export function storeError(error: unknown): unknown {
  if (isOverload(error)) return new ApiError('unavailable', { cause: error });
  return tooLargeOr(error, error instanceof Error ? error.message : '');
}

function tooLargeOr(error: unknown, message: string): unknown {
  return /size .*exceeded|exceeds .*size|too large/i.test(message)
    ? new ApiError('record_too_large', { cause: error })
    : error;
}

const overloadNames = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'LimitExceededException',
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
]);

/** Throttled, failing on its side, or not to be reached: worth another try, and not the caller's fault. */
function isOverload(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  return (
    overloadNames.has(error.name) ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    (typeof code === 'string' && /^E[A-Z]+$/.test(code))
  );
}

function nameOf({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}

/** Full jitter: any time up to a bound that doubles, so that those who met once do not meet again. */
function jitter(attempt: number): number {
  return Math.random() * Math.min(1000, 20 * 2 ** attempt);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
