import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Key } from '../../lib/store/keys.ts';

type Attributes = Record<string, { S?: string }>;
type Target = { Item?: Attributes; Key?: Attributes };
type Writes = Target & { TransactItems?: TransactItem[] };
type TransactItem = Partial<Record<'Put' | 'Update' | 'Delete', Target>>;

/**
 * What the table's stream would say of the writes that a client sends, with keys only. Writes that fail are in it too:
 * a reader of the stream must stand records of items that did not change.
 */
export function recordStream(client: DynamoDBClient): { take: () => DynamoDBRecord[]; stop: () => void } {
  const records: DynamoDBRecord[] = [];
  const name = 'recordStream';
  let sequence = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      for (const keys of keysIn(args.input as Writes)) {
        sequence += 1;
        records.push({
          eventName: 'MODIFY',
          dynamodb: {
            Keys: keys,
            SequenceNumber: String(sequence),
            ApproximateCreationDateTime: Date.now() / 1000,
          },
        });
      }
      return result;
    },
    { step: 'initialize', name, override: true },
  );
  return { take: () => records.splice(0), stop: () => client.middlewareStack.remove(name) };
}

function keysIn(input: Writes): { pk: { S: string }; sk: { S: string } }[] {
  const targets = input.TransactItems?.flatMap(({ Put, Update, Delete }) => Put ?? Update ?? Delete ?? []);
  return (targets ?? [input]).flatMap(({ Item, Key }) => {
    const { pk, sk } = Item ?? Key ?? {};
    return pk?.S !== undefined && sk?.S !== undefined ? [{ pk: { S: pk.S }, sk: { S: sk.S } }] : [];
  });
}

/** The stream's event about changes of some records. */
export function streamEventOf(...keys: Key[]): DynamoDBStreamEvent {
  return {
    Records: keys.map(({ pk, sk }, place) => ({
      eventName: 'MODIFY',
      dynamodb: {
        Keys: { pk: { S: pk }, sk: { S: sk } },
        SequenceNumber: String(place + 1),
        ApproximateCreationDateTime: Date.now() / 1000,
      },
    })),
  };
}

/** As the filter of serverless.yml passes records on. */
export function filtered(records: readonly DynamoDBRecord[]): DynamoDBStreamEvent {
  const isFollowed = /^(?:NODE|PUBLISHER|VERSION#.*|HOST_NODE#.*)$/s;
  return { Records: records.filter(({ dynamodb }) => isFollowed.test(String(dynamodb?.Keys?.sk?.S))) };
}
