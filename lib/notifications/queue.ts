import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { isObject } from '../json-object.ts';

/*
 * The record says what must be done; a message only says when. A message names the notification and the attempt, so a
 * repeated or late one finds its attempt made.
 */

const queueUrl = () => config.notificationQueue().NOTIFICATION_QUEUE_URL;

const sqs = config.configured(
  () =>
    new SQSClient({
      endpoint: new URL(queueUrl()).origin,
      maxAttempts: 3,
      requestHandler: { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true },
    }),
);

export interface QueuedAttempt {
  /** The notification. */
  id: string;
  /** How many attempts were begun before. */
  attempts: number;
}

interface NewMessage extends QueuedAttempt {
  /** The message group, which makes the standard queue a fair one. */
  caller_hash: string;
  delaySeconds?: number;
}

/** SQS's own bounds. */
export const maxMessages = 10;
export const maxDelaySeconds = 900;

/** Sends up to ten messages; throws unless the queue has taken them all. */
export async function enqueue({ deadline }: Context, ...messages: NewMessage[]): Promise<void> {
  const { Failed = [] } = await sqs().send(
    new SendMessageBatchCommand({
      QueueUrl: queueUrl(),
      Entries: messages.map(({ id, attempts, caller_hash, delaySeconds = 0 }, place) => ({
        Id: String(place),
        MessageBody: JSON.stringify({ id, attempts }),
        MessageGroupId: caller_hash,
        DelaySeconds: delaySeconds,
      })),
    }),
    { abortSignal: AbortSignal.timeout(Math.max(1, deadline - Date.now())) },
  );
  const [failed] = Failed;
  if (failed)
    throw new Error(`SQS did not take ${Failed.length} of ${messages.length} messages: ${failed.Code}`);
}

export function readMessage(body: string): QueuedAttempt {
  const content: unknown = JSON.parse(body);
  const { id, attempts } = isObject(content) ? content : {};
  if (typeof id !== 'string' || !Number.isSafeInteger(attempts))
    throw new Error('A message of the queue names no attempt.');
  return { id, attempts: Number(attempts) };
}
