import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DynamoDBStreamEvent } from 'aws-lambda';

type Deliverer = (
  event: DynamoDBStreamEvent,
  context: { getRemainingTimeInMillis: () => number },
) => Promise<void>;

interface Item {
  pk?: { S?: string };
  sk?: { S?: string };
}

const limitMs = 60_000;

/**
 * Lets the embedded DynamoDB call the function that delivers notifications as the stream of the deployed table does, with
 * each new one; serverless-offline runs its schedule. What fails is made up for by that.
 */
export function deliverOnWrite(load: () => Promise<Deliverer>): (item: Item) => void {
  return ({ pk, sk }) => {
    if (pk?.S === undefined || !sk?.S?.startsWith('NOTIFICATION#')) return;
    const event: DynamoDBStreamEvent = {
      Records: [{ eventName: 'INSERT', dynamodb: { Keys: { pk: { S: pk.S }, sk: { S: sk.S } } } }],
    };
    const end = Date.now() + limitMs;
    load()
      .then((deliver) => deliver(event, { getRemainingTimeInMillis: () => end - Date.now() }))
      // The function has logged why.
      .catch(() => {});
  };
}

export async function loadDeliverer(): Promise<Deliverer> {
  const { handler } = await import(pathToFileURL(resolve('dist/deliver-notifications/index.js')).href);
  return handler;
}
