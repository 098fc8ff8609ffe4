import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import {
  type AttributeMap,
  type Changes,
  type Condition,
  conditionExpression,
  fromAttributes,
  toAttributes,
  typedRead,
  updateExpression,
} from './items.ts';
import { type Key, keyOf } from './keys.ts';
import {
  dynamodb,
  isCanceled,
  reasonsOf,
  storeError,
  tableName,
  tooLargeOr,
  untilAnswered,
} from './dynamodb.ts';

/** The result of a conditional write. `found` is the record that failed the condition. */
export type WriteResult<Record, Written = Record> =
  | { written: true; item: Written }
  | { written: false; found: Record | undefined };

export function put<Record extends Key>(
  context: Context,
  record: Record,
  condition: Condition<NoInfer<Record>>,
): Promise<WriteResult<Record>> {
  const write_id = randomUUID();
  const item = { ...record, write_id };
  return write(context, { operation: 'PutItem', write_id }, async () => {
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

type Update = <Record extends Key = never>(
  context: Context,
  key: Key,
  changes: Changes<NoInfer<Record>>,
  condition: Condition<NoInfer<Record>>,
) => Promise<WriteResult<Record>>;

/**
 * Changes the named fields of a record: undefined keeps, null clears. Returns the whole record. Name the
 * record's type, so that a misspelled attribute doesn't compile.
 */
export const update: Update = updateSent(true);

/** The same for additions. It isn't retried without an answer: if it was applied, it would count twice. */
export const updateOnce: Update = updateSent(false);

function updateSent(isRepeatable: boolean): Update {
  return <Record extends Key>(
    context: Context,
    key: Key,
    changes: Changes<Record>,
    condition: Condition<Record>,
  ) => {
    const write_id = randomUUID();
    return write<Record>(context, { operation: 'UpdateItem', write_id, isRepeatable }, async () => {
      const { Attributes = {} } = await dynamodb.send(
        new UpdateItemCommand({
          TableName: tableName(),
          Key: toAttributes(keyOf(key)),
          ...updateExpression({ ...changes, write_id }, condition),
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return typedRead<Record>()(fromAttributes(Attributes));
    });
  };
}

export function remove<Record extends Key = Key>(
  context: Context,
  key: Key,
  condition: Condition<NoInfer<Record>>,
): Promise<WriteResult<Record, Record | Key>> {
  return write<Record, Key>(context, { operation: 'DeleteItem', write_id: randomUUID() }, async () => {
    await dynamodb.send(
      new DeleteItemCommand({
        TableName: tableName(),
        Key: toAttributes(keyOf(key)),
        ...conditionExpression(condition),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return key;
  });
}

/** A write with a lost reply is repeated, and may meet its own result: our `write_id` means success. */
async function write<Record, Written = Record>(
  context: Context,
  { operation, write_id, isRepeatable }: { operation: string; write_id: string; isRepeatable?: boolean },
  call: () => Promise<Written>,
): Promise<WriteResult<Record, Record | Written>> {
  try {
    return { written: true, item: await untilAnswered(context, operation, call, isRepeatable) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw storeError(error);
    const found = readItem(error.Item);
    const record = typedRead<Record>()(found);
    return record !== undefined && found?.write_id === write_id
      ? { written: true, item: record }
      : { written: false, found: record };
  }
}

export type Write = TransactWriteItem;

export function putting<Record extends Key>(record: Record, when: Condition<NoInfer<Record>>): Write {
  return { Put: { TableName: tableName(), Item: toAttributes(record), ...conditionExpression(when) } };
}

export function updating<Record extends Key = never>(
  key: Key,
  changes: Changes<NoInfer<Record>>,
  when: Condition<NoInfer<Record>>,
): Write {
  const Key = toAttributes(keyOf(key));
  return { Update: { TableName: tableName(), Key, ...updateExpression(changes, when) } };
}

export function deleting<Record extends Key = Key>(key: Key, when?: Condition<NoInfer<Record>>): Write {
  const Key = toAttributes(keyOf(key));
  return { Delete: { TableName: tableName(), Key, ...(when && conditionExpression(when)) } };
}

export function checking<Record extends Key = Key>(key: Key, when: Condition<NoInfer<Record>>): Write {
  const Key = toAttributes(keyOf(key));
  return { ConditionCheck: { TableName: tableName(), Key, ...conditionExpression(when) } };
}

/** Writes all or nothing. Returns the positions of the failed conditions; empty if everything was written. */
export async function transact(context: Context, writes: readonly Write[]): Promise<number[]> {
  // With the same token, a transaction that was applied without an answer isn't applied again.
  const command = { TransactItems: [...writes], ClientRequestToken: randomUUID() };
  try {
    await untilAnswered(context, 'TransactWriteItems', () =>
      dynamodb.send(new TransactWriteItemsCommand(command)),
    );
    return [];
  } catch (error) {
    const reasons = reasonsOf(error);
    const failed = reasons.flatMap(({ Code }, place) => (Code === 'ConditionalCheckFailed' ? [place] : []));
    if (failed.length > 0) return failed;
    if (!isCanceled(error)) throw storeError(error);
    if (!reasons.some(({ Code }) => Code === 'ValidationError'))
      throw new ApiError('unavailable', { cause: error });
    throw tooLargeOr(error, reasons.map(({ Message }) => Message).join(' '));
  }
}

function readItem(attributes: AttributeMap | undefined) {
  return attributes && fromAttributes(attributes);
}
