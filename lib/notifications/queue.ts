import { queueAt } from '../aws/queue.ts';
import * as config from '../config.ts';
import type { Context } from '../context.ts';
import { isObject } from '../json.ts';

/*
 * The record says what must be done; a message only says when. A message names the notification and the attempt, so a
 * repeated or late one finds its attempt made.
 */

const send = queueAt(() => config.notificationQueue().NOTIFICATION_QUEUE_URL);

export interface QueuedAttempt {
  /** The notification. */
  id: string;
  /** How many attempts were begun before. */
  attempts: number;
}

interface NewAttempt extends QueuedAttempt {
  caller_hash: string;
  delaySeconds?: number;
}

/** Sends up to ten messages; throws unless the queue has taken them all. */
export function enqueue(context: Context, ...messages: NewAttempt[]): Promise<void> {
  return send(
    context,
    messages.map(({ id, attempts, caller_hash, delaySeconds = 0 }) => ({
      body: { id, attempts },
      group: caller_hash,
      delaySeconds,
    })),
  );
}

export function readMessage(body: string): QueuedAttempt {
  const content: unknown = JSON.parse(body);
  const { id, attempts } = isObject(content) ? content : {};
  if (typeof id !== 'string' || !Number.isSafeInteger(attempts))
    throw new Error('A queue message does not name an attempt.');
  return { id, attempts: Number(attempts) };
}
