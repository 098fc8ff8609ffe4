import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Key } from '../../lib/store/keys.ts';
import { readWrite } from '../../tools/local/dynamodb-protocol.ts';
import { keysRecord, streamRecord } from '../../tools/local/follow-table.ts';

/**
 * What the table's stream would pass on of the writes that a client sends. Writes that fail are in it too: a reader of
 * the stream must stand records of items that did not change. The returned function takes what has gathered.
 */
export function recordStream(client: DynamoDBClient): () => DynamoDBRecord[] {
  const records: DynamoDBRecord[] = [];
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
    { step: 'initialize', name: 'recordStream', override: true },
  );
  return () => records.splice(0);
}

/** The stream's event about changes of some records. */
export function streamEventOf(...keys: Key[]): DynamoDBStreamEvent {
  return {
    Records: keys.map(({ pk, sk }, place) => keysRecord({ pk: { S: pk }, sk: { S: sk } }, place + 1)),
  };
}
