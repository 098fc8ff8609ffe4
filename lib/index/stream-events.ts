import type { DynamoDBBatchResponse, DynamoDBStreamEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type NewMessage, sendMessages } from '../aws/queue.ts';
import { maxFilesAtOnce } from '../bucket/public-file.ts';
import * as config from '../config.ts';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { allEnded, inParallel, inParts } from '../in-parallel.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { listVersions } from '../registry/node-versions.ts';
import { ownedNodeRecord } from '../registry/records.ts';
import { hostNodeKey, type Key, keyName, nodeKey, ownedNodeKey, subjectOf } from '../store/keys.ts';
import { queryAll } from '../store/read.ts';
import { refreshPages } from './page-files.ts';
import { refreshPublishers } from './publisher-files.ts';
import { piecesWith, refreshPiece } from './catalog-files.ts';
import { refreshHostNodes, refreshNode, refreshReadme } from './node-files.ts';

/*
 * The table's stream says only which records changed. For each node, publisher and version that they belong
 * to, the files are made from the table's current state, so repeated, late or reordered records change
 * nothing.
 *
 * The stream repeats whole batches, and meanwhile reads nothing behind them. So failed work, and work that
 * exceeds one invocation, goes to a queue as the keys of its records. The queue also calls this function.
 *
 * It is no lane of lib/work: the stream already brings each write at least once, and an item that owed its files would
 * cost each publish a second write, by a function that may write no record. If both are lost, `index rebuild` makes all
 * files from the table; the age of what the stream brings, and a heartbeat, say so.
 */

/** A publisher with more nodes, or a node with more versions, is handed on in parts of this size. */
const partSize = 20;

/** Reserved for handing on unfinished work. */
const handOnMs = 8000;

/** Reserved for the catalog, or one slow node would fail the whole batch. */
const catalogMs = 10_000;

/** Changes of others wait behind the stream's batch, not behind a message. */
const streamMs = 20_000;

type IndexEvent = DynamoDBStreamEvent | SQSEvent;

export async function writeIndex(
  event: IndexEvent,
  invocation: EventInvocation,
): Promise<DynamoDBBatchResponse | SQSBatchResponse> {
  const fields = { function: 'writeIndex', function_request_id: invocation.awsRequestId };
  return withLogFields(fields, () => {
    const context = contextOf(invocation);
    return isOfStream(event) ? followStream(context, event) : takeMessages(context, event);
  });
}

function isOfStream(event: IndexEvent): event is DynamoDBStreamEvent {
  return event.Records.every((record) => !('body' in record));
}

async function followStream(
  context: Context,
  { Records }: DynamoDBStreamEvent,
): Promise<DynamoDBBatchResponse> {
  const keys = Records.map(({ dynamodb }) => ({
    pk: String(dynamodb?.Keys?.pk?.S),
    sk: String(dynamodb?.Keys?.sk?.S),
  }));
  const times = Records.map(({ dynamodb }) => Number(dynamodb?.ApproximateCreationDateTime) * 1000);
  try {
    const deadline = Math.min(context.deadline, Date.now() + streamMs + handOnMs);
    const { parts, failed, ...counts } = await writeChanges({ ...context, deadline }, keys);
    await handOn(context, [...parts, ...failed]);
    const left = { parts: parts.length, failed: failed.length };
    log('info', 'index', {
      records: keys.length,
      ...counts,
      lag_ms: Date.now() - Math.min(...times),
      ...left,
    });
    return { batchItemFailures: [] };
  } catch (error) {
    // Repeat the whole batch: files that are up to date are only read.
    log('error', 'index', { records: keys.length, ...describeError(error) });
    return { batchItemFailures: [{ itemIdentifier: String(Records[0]?.dynamodb?.SequenceNumber) }] };
  }
}

/** A failed message comes again, until the queue gives it up. */
async function takeMessages(context: Context, { Records }: SQSEvent): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const { messageId, body } of Records) {
    try {
      const { keys }: { keys: Key[] } = JSON.parse(body);
      const { parts, failed, ...counts } = await writeChanges(context, keys);
      await handOn(context, parts);
      log('info', 'index', { records: keys.length, ...counts, failed: failed.length });
      if (failed.length === 0) continue;
    } catch (error) {
      log('error', 'index', { message: messageId, ...describeError(error) });
    }
    batchItemFailures.push({ itemIdentifier: messageId });
  }
  return { batchItemFailures };
}

/** Most batches leave nothing, and don't need the queue. */
async function handOn(context: Context, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length > 0) await sendMessages(context, config.indexQueue().INDEX_QUEUE_URL, messages);
}

/** A group's messages wait for one another only: those of a publisher, however many nodes it has, or of a node. */
function messagesOf(keys: readonly Key[], group = keys[0]?.pk): NewMessage[] {
  return inParts(keys, partSize).map((part) => ({ body: { keys: part }, group }));
}

interface Written {
  nodes: number;
  host_nodes: number;
  /** The work left for other invocations. */
  parts: NewMessage[];
  /** What could not be written. */
  failed: NewMessage[];
}

async function writeChanges(context: Context, changed: readonly Key[]): Promise<Written> {
  const soon = { ...context, deadline: context.deadline - handOnMs };
  const sooner = { ...soon, deadline: soon.deadline - catalogMs };
  const parts: NewMessage[] = [];
  const failed = new Map<string, Key[]>();
  const attempt = async (name: string, of: Key[], work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      failed.set(name, of);
      log('error', 'index', { of: name, ...describeError(error) });
    }
  };
  const distinct = [...new Map(changed.map((key) => [keyName(key), key])).values()];
  const keys = [...distinct];
  for (const key of distinct)
    await attempt(`all of ${key.pk}`, [key], async () => {
      const below = await keysBelow(soon, key);
      if (below.length > partSize) parts.push(...messagesOf(below, key.pk));
      else keys.push(...below);
    });
  const { publishers = [], nodes: ofNodes = [] } = Object.groupBy(keys, kindOf);
  if (publishers.length > 0)
    await attempt('publishers', publishers, () => refreshPublishers(soon, publishers.map(idOf)));
  const nodes = Map.groupBy(ofNodes, idOf);
  await inParallel(nodes.entries(), maxFilesAtOnce, ([id, of]) =>
    attempt(id, of, () => refreshAllOf(sooner, id, labelsIn(of))),
  );
  await attempt('catalog', keys, async () => {
    const pieces = await piecesWith(soon, [...nodes.keys()]);
    await inParallel(pieces.entries(), maxFilesAtOnce, ([path, ids]) => {
      const of = ids.flatMap((id) => nodes.get(id) ?? []);
      return attempt(`catalog of ${ids.join(', ')}`, of, () => refreshPiece(soon, path, ids));
    });
  });
  return {
    nodes: nodes.size,
    host_nodes: [...nodes.values()].reduce((sum, of) => sum + labelsIn(of).length, 0),
    parts,
    failed: [...failed.values()].flatMap((of) => messagesOf(of)),
  };
}

/** A heartbeat, for example, belongs to neither. */
function kindOf(key: Key): 'publishers' | 'nodes' | 'others' {
  const { subject } = subjectOf(key) ?? {};
  if (subject === undefined) return 'others';
  return subject === 'PUBLISHER' ? 'publishers' : 'nodes';
}

function idOf(key: Key): string {
  return String(subjectOf(key)?.id);
}

/** The versions that changed, or whose host nodes did. */
function labelsIn(keys: readonly Key[]): string[] {
  return [...new Set(keys.flatMap((key) => subjectOf(key)?.label ?? []))];
}

/** A publisher's nodes, or the host nodes of all versions of a node whose bans changed. */
async function keysBelow(context: Context, key: Key): Promise<Key[]> {
  const { subject, id = '' } = subjectOf(key) ?? {};
  if (subject === 'PUBLISHER')
    return (await queryAll(context, ownedNodeKey(id, ''))).map((item) =>
      nodeKey(ownedNodeRecord(item).node_id),
    );
  if (subject === 'HOST_NODE_BANS')
    return (await listVersions(context, id)).map(({ version }) => hostNodeKey(id, version, ''));
  return [];
}

/** Writes the node's file before those that are made from it, its pages last; also if not all of its versions have room. */
async function refreshAllOf(context: Context, id: string, labels: readonly string[]): Promise<void> {
  try {
    await refreshNode(context, id, labels);
  } finally {
    await allEnded([
      refreshReadme(context, id),
      inParallel(labels.values(), maxFilesAtOnce, (label) => refreshHostNodes(context, id, label)),
    ]);
    await refreshPages(context, id, labels);
  }
}
