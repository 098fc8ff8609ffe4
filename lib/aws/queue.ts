import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
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

const clients = new Map<string, SQSClient>();

/** All queues of a stage have one. */
function clientAt(endpoint: string): SQSClient {
  const requestHandler = { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true };
  const sqs = clients.get(endpoint) ?? new SQSClient({ endpoint, maxAttempts: 3, requestHandler });
  clients.set(endpoint, sqs);
  return sqs;
}

/** Sends messages, ten at a time, and throws unless the queue accepts all of them. */
export async function sendMessages(
  context: Context,
  QueueUrl: string,
  messages: readonly NewMessage[],
): Promise<void> {
  const sqs = clientAt(new URL(QueueUrl).origin);
  for (const part of inParts(messages, maxMessages)) {
    const Entries = part.map(({ body, group, delaySeconds }, place) => ({
      Id: String(place),
      MessageBody: JSON.stringify(body),
      MessageGroupId: group,
      DelaySeconds: delaySeconds,
    }));
    const command = new SendMessageBatchCommand({ QueueUrl, Entries });
    const { Failed = [] } = await sqs.send(command, untilDeadline(context));
    const [failed] = Failed;
    if (failed)
      throw new Error(`SQS did not accept ${Failed.length} of ${part.length} messages: ${failed.Code}`);
  }
}
