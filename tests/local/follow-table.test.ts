import { describe, expect, test } from '@jest/globals';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { followTable } from '../../tools/local/follow-table.ts';

const written = (pk: string, sk: string) => ({ pk: { S: pk }, sk: { S: sk } });

/** A function that fails so many times, with what it was called with and an end that a test can wait for. */
function reader(failures: number, records: number) {
  const calls: string[][] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let left = failures;
  let seen = 0;
  const handler = async ({ Records }: DynamoDBStreamEvent) => {
    calls.push(Records.map(({ dynamodb }) => String(dynamodb?.Keys?.sk?.S)));
    left -= 1;
    if (left >= 0) return { batchItemFailures: [{ itemIdentifier: '1' }] };
    seen += Records.length;
    if (seen === records) resolve();
    return { batchItemFailures: [] };
  };
  return { calls, done, follow: followTable(async () => handler) };
}

describe('the local stream of the table', () => {
  test('passes on the keys that the index follows, in order, and no others', async () => {
    const { calls, done, follow } = reader(0, 4);
    follow(written('NODE#a', 'NODE'));
    follow(written('CALLER#x', 'ACCOUNT'));
    follow(written('NODE#a', 'VERSION#1.0.0'));
    follow(written('NODE#a', 'HISTORY#now'));
    follow(written('NODE#a#1.0.0', 'HOST_NODE#Load it'));
    follow(written('PUBLISHER#p', 'PUBLISHER'));
    await done;

    expect(calls).toEqual([['NODE', 'VERSION#1.0.0', 'HOST_NODE#Load it', 'PUBLISHER']]);
  });

  test('repeats a batch that failed, before the next one', async () => {
    const { calls, done, follow } = reader(1, 501);
    for (let index = 0; index < 501; index += 1) follow(written(`NODE#${index}`, 'NODE'));
    await done;

    expect(calls.map(({ length }) => length)).toEqual([500, 500, 1]);
  });
});
