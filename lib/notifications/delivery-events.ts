import type { Context as Invocation, EventBridgeEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Context } from '../context.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import type { HandOver } from './hand-over.ts';
import { type QueuedAttempt, readMessage } from './queue.ts';

interface Handlers {
  deliver: (context: Context, message: QueuedAttempt) => Promise<void>;
  handOverDue: (context: Context) => Promise<HandOver>;
}

type DeliveryEvent = SQSEvent | EventBridgeEvent<'Scheduled Event', unknown>;

const reservedMs = 1000;

/** Turns two handlers into one for the messages of the queue, and for the schedule that hands over what is due. */
export function deliveryEvents({ deliver, handOverDue }: Handlers) {
  return async (
    event: DeliveryEvent,
    invocation: Pick<Invocation, 'getRemainingTimeInMillis'>,
  ): Promise<SQSBatchResponse | undefined> => {
    const context = { deadline: Date.now() + invocation.getRemainingTimeInMillis() - reservedMs };
    if ('Records' in event) return deliverBatch(deliver, context, event);
    const { due, handed, oldestMs, errors } = await handOverDue(context);
    log('info', 'hand_over', { due, handed, interrupted: errors.length, oldest_due_ms: oldestMs });
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps of the run failed.`);
    return undefined;
  };
}

/** Side by side, and each by itself: only a message that we failed comes again. */
async function deliverBatch(
  deliver: Handlers['deliver'],
  context: Context,
  { Records }: SQSEvent,
): Promise<SQSBatchResponse> {
  const failures = await Promise.all(
    Records.map(({ messageId, body }) =>
      withLogFields({ function: 'deliverNotifications' }, async () => {
        try {
          const message = readMessage(body);
          note({ notification: message.id });
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
