import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { Key } from '../../lib/store/keys.ts';
import { keysRecord } from '../../tools/local/follow-table.ts';

/** The stream's event about changes of some records. */
export function streamEventOf(...keys: Key[]): DynamoDBStreamEvent {
  return {
    Records: keys.map(({ pk, sk }, place) => keysRecord({ pk: { S: pk }, sk: { S: sk } }, place + 1)),
  };
}
