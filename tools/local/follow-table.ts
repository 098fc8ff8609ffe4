import { setTimeout as pause } from 'node:timers/promises';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { Attributes } from './dynamodb-conflicts.ts';
import { type Invocation, invocationOf } from './invocation.ts';

export type StreamHandler = (
  event: DynamoDBStreamEvent,
  invocation: Invocation,
) => Promise<DynamoDBBatchResponse>;

/** As in serverless.yml. */
const limitMs = 60_000;
const batchSize = 500;
const maxAttempts = 11;
const followed = /^(?:NODE|PUBLISHER|HEARTBEAT|HOST_NODE_BANS|VERSION#.*|HOST_NODE#.*)$/s;

/** Shorter than a stage's, because a person waits. */
const windowMs = 200;
const retryMs = 1000;

/**
 * Calls a function with the keys of writes to the embedded DynamoDB, as the stream of the deployed table
 * does: in order, one batch at a time; a failed batch is repeated until it is given up.
 */
export function followTable(load: () => Promise<StreamHandler>): (written: Attributes) => void {
  const waiting: DynamoDBRecord[] = [];
  let sequence = 0;
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    await pause(windowMs);
    const handler = await load();
    while (waiting.length > 0) await deliver(handler, waiting.splice(0, batchSize));
    isRunning = false;
  };
  return (written) => {
    sequence += 1;
    const record = streamRecord(written, sequence);
    if (!record) return;
    waiting.push(record);
    if (!isRunning) void run();
  };
}

/** The stream's record of a write; undefined if the filter of serverless.yml drops it. */
export function streamRecord(written: Attributes, sequence: number): DynamoDBRecord | undefined {
  const { S } = written.sk as { S: string };
  return followed.test(S) ? keysRecord(written, sequence) : undefined;
}

/** The stream has only the keys. */
export function keysRecord({ pk, sk }: Attributes, sequence: number): DynamoDBRecord {
  const Keys = { pk: pk as { S: string }, sk: sk as { S: string } };
  const ApproximateCreationDateTime = Date.now() / 1000;
  return {
    eventName: 'MODIFY',
    dynamodb: { Keys, SequenceNumber: String(sequence), ApproximateCreationDateTime },
  };
}

async function deliver(handler: StreamHandler, Records: DynamoDBRecord[]): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const reply = await handler({ Records }, invocationOf(limitMs)).catch(() => undefined);
    if (reply?.batchItemFailures.length === 0) return;
    await pause(retryMs);
  }
}
