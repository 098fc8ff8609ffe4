import type { Context as Invocation, DynamoDBStreamEvent, EventBridgeEvent } from 'aws-lambda';
import type { Context } from '../context.ts';
import { log } from '../log.ts';
import { type Key, keyName, keyOf } from '../store/keys.ts';
import type { Run } from './deliver.ts';

interface Handlers {
  deliverNew: (context: Context, keys: readonly Key[]) => Promise<unknown[]>;
  deliverDue: (context: Context) => Promise<Run>;
}

type DeliveryEvent = DynamoDBStreamEvent | EventBridgeEvent<'Scheduled Event', unknown>;

const reservedMs = 1000;

/**
 * Turns two handlers into one for the table's stream and for a schedule. What went wrong because of us is thrown, so that
 * the function's alarm rings; it is tried again by its time in the outbox, and not by Lambda.
 */
export function deliveryEvents({ deliverNew, deliverDue }: Handlers) {
  return async (
    event: DeliveryEvent,
    invocation: Pick<Invocation, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const context: Context = { deadline: Date.now() + invocation.getRemainingTimeInMillis() - reservedMs };
    const errors =
      'Records' in event ? await deliverNew(context, keysIn(event)) : await runAll(context, deliverDue);
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} deliveries were interrupted.`);
  };
}

/** It leaves a line each minute, also where nothing is due: its absence is what an alarm looks for. */
async function runAll(context: Context, deliverDue: Handlers['deliverDue']): Promise<unknown[]> {
  const { oldestMs, due, left, errors } = await deliverDue(context);
  log('info', 'delivery_run', { due, left, interrupted: errors.length, oldest_due_ms: oldestMs });
  return errors;
}

/** Each once: a batch of keys is refused whole if one is in it twice. */
function keysIn({ Records }: DynamoDBStreamEvent): Key[] {
  const keys = Records.map(({ dynamodb }) => keyOf({ pk: dynamodb?.Keys?.pk?.S, sk: dynamodb?.Keys?.sk?.S }));
  return [...new Map(keys.map((key) => [keyName(key), key])).values()];
}
