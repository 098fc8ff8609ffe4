import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { configured } from '../config.ts';
import { type Context, untilDeadline } from '../context.ts';
import { inParts } from '../in-parallel.ts';

export interface NewMessage {
  body: unknown;
  /** The message group, which makes the standard queue a fair one. */
  group?: string | undefined;
  delaySeconds?: number;
}

/** Limits of SQS. */
export const maxMessages = 10;
export const maxDelaySeconds = 900;

/** Sends messages, ten at a time, and throws unless the queue accepts all of them. */
// @__NO_SIDE_EFFECTS__
export function queueAt(
  url: () => string,
): (context: Context, messages: readonly NewMessage[]) => Promise<void> {
  const sqs = configured(
    () =>
      new SQSClient({
        endpoint: new URL(url()).origin,
        maxAttempts: 3,
        requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
      }),
  );
  return async (context, messages) => {
    for (const part of inParts(messages, maxMessages)) {
      const Entries = part.map(({ body, group, delaySeconds }, place) => ({
        Id: String(place),
        MessageBody: JSON.stringify(body),
        MessageGroupId: group,
        DelaySeconds: delaySeconds,
      }));
      const command = new SendMessageBatchCommand({ QueueUrl: url(), Entries });
      const { Failed = [] } = await sqs().send(command, untilDeadline(context));
      const [failed] = Failed;
      if (failed)
        throw new Error(`SQS did not accept ${Failed.length} of ${part.length} messages: ${failed.Code}`);
    }
  };
}
