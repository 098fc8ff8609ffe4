import type { EventBridgeEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { describeError, log, note, withLogFields } from '../log.ts';
import type { ExtractionResult } from './extract-archive.ts';
import { archiveKeysOf, maxReceives } from './extraction-queue.ts';
import type { HandOver } from './hand-over-extractions.ts';

interface Handlers {
  extract: (context: Context, objectKey: string) => Promise<ExtractionResult>;
  handOverDue: (context: Context) => Promise<HandOver>;
}

type ExtractionEvent = SQSEvent | EventBridgeEvent<'Scheduled Event', unknown>;

/** May end otherwise another time. The version is listed, so after the last receive the sweep has it read again. */
const unended: readonly ExtractionResult[] = ['early', 'unfinished', 'interrupted'];

/** Turns two handlers into one for the messages of the queue, and for the schedule that hands over what is due. */
export function extractionEvents({ extract, handOverDue }: Handlers) {
  return async (
    event: ExtractionEvent,
    invocation: EventInvocation,
  ): Promise<SQSBatchResponse | undefined> => {
    const context = contextOf(invocation);
    const fields = { function: 'extractHostNodes', function_request_id: invocation.awsRequestId };
    return withLogFields(fields, async () => {
      if ('Records' in event) return extractBatch(extract, context, event);
      const { failed } = await handOverDue(context);
      if (failed > 0) throw new Error(`${failed} versions could not be handed to the queue.`);
      return undefined;
    });
  };
}

/** One after the other: each takes the memory of the function. Deployed, a batch is one message. */
async function extractBatch(
  extract: Handlers['extract'],
  context: Context,
  { Records }: SQSEvent,
): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const { messageId, body, attributes } of Records) {
    const sent = Number(attributes.SentTimestamp);
    const isDone = await withLogFields({ message: messageId }, async () => {
      try {
        let isDone = true;
        for (const objectKey of archiveKeysOf(body))
          if (unended.includes(await extractOne(extract, context, objectKey, sent)))
            isDone = isLast(attributes);
        return isDone;
      } catch (error) {
        log('error', 'extraction', { outcome: 'failed', ...describeError(error) });
        return false;
      }
    });
    if (!isDone) batchItemFailures.push({ itemIdentifier: messageId });
  }
  return { batchItemFailures };
}

function isLast({ ApproximateReceiveCount }: { ApproximateReceiveCount: string }): boolean {
  return Number(ApproximateReceiveCount) >= maxReceives;
}

async function extractOne(
  extract: Handlers['extract'],
  context: Context,
  objectKey: string,
  sent: number,
): Promise<ExtractionResult> {
  const started = performance.now();
  note({ key: objectKey });
  const outcome = await extract(context, objectKey);
  const ms = Math.round(performance.now() - started);
  log('info', 'extraction', { outcome, ms, lag_ms: Date.now() - sent });
  return outcome;
}
