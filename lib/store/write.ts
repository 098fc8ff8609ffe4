import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { dynamodb, isCanceled, reasonsOf, tableName, tooLargeOr, untilAnswered } from './dynamodb.ts';
import {
  type AnyCondition,
  type Changes,
  type Condition,
  expressionsOf,
  fromAttributes,
  Plus,
  toAttributes,
  typedRead,
} from './items.ts';
import { type Key, keyOf } from './keys.ts';

/**
 * A conditional write that isn't sent yet. It knows the type of its record, so a misspelled attribute doesn't compile:
 * made with a key alone, it must name the type.
 */
interface WriteOf<Verb, Record = unknown> {
  /** As DynamoDB names the parts of a transaction. */
  verb: Verb;
  key: Key;
  /** The record to put, or the changes: undefined keeps a field, null clears it. */
  fields: object;
  when: AnyCondition;
  /** Has no value, only the type of the record. */
  record?: Record;
}

type LoneWrite<Record = unknown> = WriteOf<'Put' | 'Update' | 'Delete', Record>;
export type Write = LoneWrite | WriteOf<'ConditionCheck'>;

export function putting<Record extends Key>(
  record: Record,
  when: Condition<NoInfer<Record>>,
): LoneWrite<Record> {
  return { verb: 'Put', key: keyOf(record), fields: record, when };
}

/** A key alone has no fields to change. */
type Named<Record> = keyof Record extends keyof Key ? never : Record;

export function updating<Record extends Key>(
  key: Record | Key,
  changes: Changes<Named<NoInfer<Record>>>,
  when: Condition<NoInfer<Record>>,
): LoneWrite<Record> {
  return { verb: 'Update', key: keyOf(key), fields: changes, when };
}

/** Sent alone, it doesn't tell whether there was something to delete: repeated after a lost answer, it finds nothing. */
export function deleting<Record extends Key>(
  key: Record | Key,
  when: Condition<NoInfer<Record>>,
): LoneWrite<Record> {
  return { verb: 'Delete', key: keyOf(key), fields: {}, when };
}

export function checking<Record extends Key>(key: Record | Key, when: Condition<NoInfer<Record>>): Write {
  return { verb: 'ConditionCheck', key: keyOf(key), fields: {}, when };
}

/** Returns the whole record after an update. */
const calls = {
  Put: (input: Input) => dynamodb.send(new PutItemCommand(input)),
  Update: (input: Input) => dynamodb.send(new UpdateItemCommand({ ...input, ReturnValues: 'ALL_NEW' })),
  Delete: (input: Input) => dynamodb.send(new DeleteItemCommand(input)),
};

/** The result of a conditional write. `found` is the record that failed the condition. */
export type WriteResult<Record> =
  | { written: true; item: Record }
  | { written: false; found: Record | undefined };

/**
 * Writes one record for its result. A write with a lost reply is repeated, and may meet its own result: our `write_id`
 * means success. `isRepeatable` is false for additions: if one was applied without an answer, it would count twice.
 */
export async function writeOne<Record>(
  context: Context,
  one: LoneWrite<Record>,
  { isRepeatable = true } = {},
): Promise<WriteResult<Record>> {
  const record = typedRead<Record>();
  const write_id = randomUUID();
  const fields = { ...one.fields, write_id };
  const input = { ...inputOf({ ...one, fields }), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const send = async () => calls[one.verb](input);
  try {
    const { Attributes } = await untilAnswered(context, `${one.verb}Item`, send, isRepeatable);
    return { written: true, item: record(Attributes ? fromAttributes(Attributes) : fields) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw tooLargeOr(error);
    const found = error.Item && fromAttributes(error.Item);
    return found?.write_id === write_id
      ? { written: true, item: record(found) }
      : { written: false, found: record(found) };
  }
}

/** Without a new revision, so it fails no decision on the record. Changes nothing if the condition doesn't hold. */
export async function updateQuietly(
  context: Context,
  key: Key,
  changes: object,
  when: AnyCondition,
): Promise<void> {
  const where = { TableName: tableName(), Key: toAttributes(keyOf(key)) };
  const command = new UpdateItemCommand({ ...where, ...expressionsOf(when, changes) });
  await untilAnswered(context, 'UpdateItem', () => dynamodb.send(command)).catch((error: unknown) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
}

type Input = ReturnType<typeof inputOf>;

function inputOf({ verb, key, fields, when }: Write) {
  const isPut = verb === 'Put';
  return {
    TableName: tableName(),
    Item: isPut ? toAttributes(fields) : undefined,
    Key: isPut ? undefined : toAttributes(key),
    ...expressionsOf(when, verb === 'Update' ? { ...fields, revision: next } : {}),
  };
}

const next = new Plus(1);

/** Writes all or nothing, one write without a transaction. False if a condition didn't hold. */
export async function write(context: Context, ...writes: readonly Write[]): Promise<boolean> {
  const [only, ...others] = writes;
  if (!only) return true;
  return others.length === 0 && only.verb !== 'ConditionCheck'
    ? (await writeOne(context, only)).written
    : transact(context, writes);
}

async function transact(context: Context, writes: readonly Write[]): Promise<boolean> {
  const TransactItems = writes.map((each) => ({ [each.verb]: inputOf(each) }));
  // With the same token, a transaction that was applied without an answer isn't applied again.
  const command = new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: randomUUID() });
  try {
    await untilAnswered(context, 'TransactWriteItems', () => dynamodb.send(command));
    return true;
  } catch (error) {
    if (reasonsOf(error).some(({ Code }) => Code === 'ConditionalCheckFailed')) return false;
    throw givenUpBy(error);
  }
}

function givenUpBy(error: unknown): unknown {
  if (!isCanceled(error)) return tooLargeOr(error);
  const reasons = reasonsOf(error);
  return reasons.some(({ Code }) => Code === 'ValidationError')
    ? tooLargeOr(error, reasons.map(({ Message }) => Message).join(' '))
    : new ApiError('unavailable', { cause: error });
}
