import type { EventBridgeEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { readTextFiles } from '../archives/text-files.ts';
import { findObject } from '../bucket/bucket.ts';
import { publishedKeyOf } from '../bucket/object-keys.ts';
import { extractInWorker } from '@node-registry/host-nodes/in-worker';
import { describeError, log, note, withLogFields } from '../log.ts';
import {
  beginExtraction,
  type ExtractionState,
  finishExtraction,
  type FoundHostNodes,
  giveUpExtraction,
  writeHostNodes,
} from '../registry/extraction.ts';
import { entriesOf } from '@node-registry/registry-rules/host-node-entries';
import { handOverExtractions, maxReceives, namedArchives, sendLater } from './extraction-queue.ts';

/** Increased when an extractor finds something else in the same archive: then it may run again. */
export const extractor = 5;

/**
 * The result of an extraction. `early`: its version isn't active yet; `superseded`: it now has another
 * archive or a newer extraction; `missing`: the object doesn't exist; `interrupted`: it ran out of time or
 * memory, although the pack may be fine; `unfinished`: there was no time to write all of its entries, and
 * another try writes the rest.
 */
type ExtractionResult =
  | 'success'
  | 'failed'
  | 'missing'
  | 'superseded'
  | 'interrupted'
  | 'unfinished'
  | Exclude<ExtractionState, 'awaited'>;

type ExtractionEvent = SQSEvent | EventBridgeEvent<'Scheduled Event', unknown>;

/** May end differently next time. The version is listed, so after the last receive the sweep retries it. */
const unended: readonly ExtractionResult[] = ['unfinished', 'interrupted'];

/** Handles the queue's messages, and the schedule that queues due extractions. */
export async function extractHostNodes(
  event: ExtractionEvent,
  invocation: EventInvocation,
): Promise<SQSBatchResponse | undefined> {
  const context = contextOf(invocation);
  const fields = { function: 'extractHostNodes', function_request_id: invocation.awsRequestId };
  return withLogFields(fields, async () => {
    if ('Records' in event) return extractBatch(context, event);
    const { failed } = await handOverExtractions(context);
    if (failed > 0) throw new Error(`${failed} versions could not be handed to the queue.`);
    return undefined;
  });
}

/** Sequential: each takes the memory of the function. Deployed, a batch is one message. */
async function extractBatch(context: Context, { Records }: SQSEvent): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const { messageId, body, attributes } of Records) {
    const sent = Number(attributes.SentTimestamp);
    const isDone = await withLogFields({ message: messageId }, async () => {
      try {
        let isDone = true;
        for (const archive of namedArchives(body)) {
          const outcome = await extractOne(context, archive.key, sent);
          if (outcome === 'early') await sendLater(context, archive);
          if (unended.includes(outcome)) isDone = isLast(attributes);
        }
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

async function extractOne(context: Context, objectKey: string, sent: number): Promise<ExtractionResult> {
  const started = performance.now();
  note({ key: objectKey });
  const outcome = await extractArchive(context, objectKey);
  const ms = Math.round(performance.now() - started);
  log('info', 'extraction', { outcome, ms, lag_ms: Date.now() - sent });
  return outcome;
}

/** Reads the host nodes from an archive, and writes them. Trusts only the object key in the event. */
export async function extractArchive(context: Context, objectKey: string): Promise<ExtractionResult> {
  const archive = publishedKeyOf(objectKey);
  if (!archive) return 'unknown';
  note({ node_id: archive.nodeId, version: archive.version });
  const begun = await beginExtraction(context, archive, extractor);
  if (begun === 'exhausted') await giveUpExtraction(context, archive, extractor);
  if (begun !== 'awaited') return begun;
  const found = await readHostNodes(objectKey, archive.nodeId);
  if (found === 'missing' || found === 'interrupted') return found;
  if (!(await writeHostNodes(context, archive, found))) return 'unfinished';
  return (await finishExtraction(context, archive, found)) ? found.status : 'superseded';
}

/** The host nodes and risks of an archive, in the stored form. */
export async function readHostNodes(
  objectKey: string,
  nodeId: string,
): Promise<FoundHostNodes | 'missing' | 'interrupted'> {
  const object = await findObject(objectKey);
  if (!object) return 'missing';
  const extraction = await extractInWorker(await readTextFiles(object), nodeId);
  if (extraction.status === 'interrupted') {
    note({ extractor, reason: extraction.reason });
    return 'interrupted';
  }
  const { nodes, status, reason, steps, risks } = extraction;
  const { entries, problem } = entriesOf(nodes);
  const why = problem ?? reason;
  const openFields = nodes.reduce((total, { open }) => total + open.length, 0);
  note({
    extractor,
    host_nodes: entries.size,
    open_fields: openFields,
    steps,
    ...(why && { reason: why }),
  });
  return {
    by: extractor,
    status: why === undefined ? status : 'failed',
    reason: why,
    nodes: entries,
    openFields,
    tags: risks,
  };
}
