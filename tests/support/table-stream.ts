import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Key } from '../../lib/store/keys.ts';
import { readWrite } from '../../tools/local/dynamodb-protocol.ts';
import { keysRecord, streamRecord } from '../../tools/local/follow-table.ts';

/**
 * What the table's stream would pass on of the writes that a client sends. Writes that fail are in it too: a reader of
 * the stream must stand records of items that did not change.
 */
export function recordStream(client: DynamoDBClient): { take: () => DynamoDBRecord[]; stop: () => void } {
  const records: DynamoDBRecord[] = [];
  const name = 'recordStream';
  let sequence = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      for (const { attributes } of readWrite(Buffer.from(JSON.stringify(args.input))).actions) {
        sequence += 1;
        const record = streamRecord(attributes, sequence);
        if (record) records.push(record);
      }
      return result;
    },
    { step: 'initialize', name, override: true },
  );
  return { take: () => records.splice(0), stop: () => client.middlewareStack.remove(name) };
}

/** The stream's event about changes of some records. */
export function streamEventOf(...keys: Key[]): DynamoDBStreamEvent {
  return {
    Records: keys.map(({ pk, sk }, place) => keysRecord({ pk: { S: pk }, sk: { S: sk } }, place + 1)),
  };
}
