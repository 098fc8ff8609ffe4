import { randomUUID } from 'node:crypto';
import {
  type CancellationReason,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { ApiError } from '../errors.ts';
import { type AttributeMap, fromAttributes, type Item, toAttributes } from './attribute-values.ts';
import { type Condition, conditionExpression, updateExpression } from './expressions.ts';
import { type Key, keyOf } from './keys.ts';
import { pauseBefore } from './retries.ts';
import { storeError, tooLargeOr } from './store-errors.ts';
import { dynamodb, tableName } from './table.ts';

/** What became of a conditional write; `found` is the item that the condition did not hold for. */
export type WriteResult = { written: true; item: Item } | { written: false; found: Item | undefined };

/** Writes a whole record. */
export async function put<Record extends Key>(
  record: Record,
  condition: Condition,
  deadline: number,
): Promise<WriteResult> {
  const write_id = randomUUID();
  const item = { ...record, write_id };
  return attemptWrite(write_id, deadline, async () => {
    await dynamodb.send(
      new PutItemCommand({
        TableName: tableName(),
        Item: toAttributes(item),
        ...conditionExpression(condition),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return item;
  });
}

/** Changes the named fields of a record: undefined keeps, null clears. The item is the whole record afterwards. */
export async function update(
  key: Key,
  changes: object,
  condition: Condition,
  deadline: number,
): Promise<WriteResult> {
  const write_id = randomUUID();
  return attemptWrite(write_id, deadline, async () => {
    const { Attributes = {} } = await dynamodb.send(
      new UpdateItemCommand({
        TableName: tableName(),
        Key: toAttributes(keyOf(key)),
        ...updateExpression({ ...changes, write_id }, condition),
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return fromAttributes(Attributes);
  });
}

export async function remove(key: Key, condition: Condition, deadline: number): Promise<WriteResult> {
  return attemptWrite(randomUUID(), deadline, async () => {
    await dynamodb.send(
      new DeleteItemCommand({
        TableName: tableName(),
        Key: toAttributes(keyOf(key)),
        ...conditionExpression(condition),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return {};
  });
}

/**
 * The SDK sends a write again when its answer is lost, and the second one can meet what the first one wrote: an
 * item with our own `write_id` means that the write went through.
 */
async function attemptWrite(
  writeId: string,
  deadline: number,
  send: () => Promise<object>,
): Promise<WriteResult> {
  try {
    return { written: true, item: { ...(await untilFree(send, deadline)) } };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw storeError(error);
    const found = readItem(error.Item);
    return found?.write_id === writeId ? { written: true, item: found } : { written: false, found };
  }
}

/** One part of a transaction. */
export type Write =
  | { put: Key & object; when: Condition }
  | { update: Key; changes: object; when: Condition }
  | { check: Key; when: Condition };

/** Writes all or nothing. Returns the places of the writes whose condition did not hold: none where all are done. */
export async function transact(writes: readonly Write[], deadline: number): Promise<number[]> {
  const command = { TransactItems: writes.map(transactItem) };
  try {
    await untilFree(() => dynamodb.send(new TransactWriteItemsCommand(command)), deadline);
    return [];
  } catch (error) {
    const reasons = reasonsOf(error);
    const failed = reasons.flatMap(({ Code }, place) => (Code === 'ConditionalCheckFailed' ? [place] : []));
    if (failed.length > 0) return failed;
    if (!(error instanceof TransactionCanceledException)) throw storeError(error);
    if (!reasons.some(({ Code }) => Code === 'ValidationError'))
      throw new ApiError('unavailable', { cause: error });
    throw tooLargeOr(error, reasons.map(({ Message }) => Message).join(' '));
  }
}

function transactItem(write: Write): TransactWriteItem {
  const TableName = tableName();
  if ('put' in write) {
    return { Put: { TableName, Item: toAttributes(write.put), ...conditionExpression(write.when) } };
  }
  if ('check' in write) {
    const Key = toAttributes(keyOf(write.check));
    return { ConditionCheck: { TableName, Key, ...conditionExpression(write.when) } };
  }
  const Key = toAttributes(keyOf(write.update));
  return { Update: { TableName, Key, ...updateExpression(write.changes, write.when) } };
}

/** How often a write that met a transaction is sent again before the caller is asked to. */
const maxAttempts = 20;

/**
 * DynamoDB refuses a write to an item that a transaction is being applied to, or cancels one of two transactions,
 * and the SDK leaves both to us. Nothing is written then, so it is a lost race like any other: try again.
 */
async function untilFree<Result>(send: () => Promise<Result>, deadline: number): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const collision = collisionOf(error);
      if (collision === undefined) throw error;
      if (attempt === maxAttempts || !(await pauseBefore(attempt, deadline)))
        throw new ApiError(collision, { cause: error });
    }
  }
}

const throttledCodes = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

function collisionOf(error: unknown): 'conflict' | 'unavailable' | undefined {
  if (error instanceof TransactionConflictException || error instanceof TransactionInProgressException) {
    return 'conflict';
  }
  const codes = reasonsOf(error).map(({ Code }) => String(Code));
  if (codes.includes('ConditionalCheckFailed') || codes.includes('ValidationError')) return undefined;
  if (codes.includes('TransactionConflict')) return 'conflict';
  return codes.some((code) => throttledCodes.has(code)) ? 'unavailable' : undefined;
}

function reasonsOf(error: unknown): CancellationReason[] {
  return error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
}

function readItem(attributes: AttributeMap | undefined): Item | undefined {
  return attributes && fromAttributes(attributes);
}
