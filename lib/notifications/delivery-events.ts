import type { EventBridgeEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import type { HandOver } from './hand-over.ts';
import { type QueuedAttempt, readMessage } from './queue.ts';
import { shownHashOf } from './records.ts';

interface Handlers {
  deliver: (context: Context, message: QueuedAttempt) => Promise<void>;
  handOverDue: (context: Context) => Promise<HandOver>;
}

type DeliveryEvent = SQSEvent | EventBridgeEvent<'Scheduled Event', unknown>;

/** Turns two handlers into one for the messages of the queue, and for the schedule that hands over what is due. */
export function deliveryEvents({ deliver, handOverDue }: Handlers) {
  return async (event: DeliveryEvent, invocation: EventInvocation): Promise<SQSBatchResponse | undefined> => {
    const context = contextOf(invocation);
    const fields = { function: 'deliverNotifications', function_request_id: invocation.awsRequestId };
    return withLogFields(fields, async () => {
      if ('Records' in event) return deliverBatch(deliver, context, event);
      await runHandOver(handOverDue, context);
      return undefined;
    });
  };
}

async function runHandOver(handOverDue: Handlers['handOverDue'], context: Context): Promise<void> {
  const { due, handed, unread_shards, oldestMs, errors } = await handOverDue(context);
  const interrupted = errors.length;
  log('info', 'hand_over', { due, handed, unread_shards, interrupted, oldest_due_ms: oldestMs });
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps of the run failed.`);
}

/** Side by side, and each by itself: only a message that we failed comes again. */
async function deliverBatch(
  deliver: Handlers['deliver'],
  context: Context,
  { Records }: SQSEvent,
): Promise<SQSBatchResponse> {
  const failures = await Promise.all(
    Records.map(({ messageId, body }) =>
      withLogFields({}, async () => {
        try {
          const message = readMessage(body);
          note({ notification: message.id, ticket_hash: shownHashOf(message) });
          await deliver(context, message);
          return [];
        } catch (error) {
          log('error', 'delivery', { outcome: 'interrupted', message: messageId, ...describeError(error) });
          return [{ itemIdentifier: messageId }];
        }
      }),
    ),
  );
  return { batchItemFailures: failures.flat() };
}
