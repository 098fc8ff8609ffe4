import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { type Context, contextOf, type EventInvocation } from '../context.ts';
import { allEnded, inParallel } from '../in-parallel.ts';
import { describeError, log, withLogFields } from '../log.ts';
import { foldNodeId } from 'registry-rules/names';
import { refreshReadme } from './readme-file.ts';
import { maxFilesAtOnce, nodesOf, refreshCatalog, refreshHostNodes, refreshNode } from './write-files.ts';

/*
 * The table's stream says only which records changed. For each node, publisher and version that they belong to, the
 * files are made from what the table says now: so records that come twice, late or out of order change nothing.
 */

interface Changes {
  /** The labels of the versions that changed, by node. */
  nodes: Map<string, Set<string>>;
  /** Node and label of versions whose host nodes changed. */
  hostNodes: Map<string, [nodeId: string, label: string]>;
  publishers: Set<string>;
}

export async function writeIndex(
  event: DynamoDBStreamEvent,
  invocation: EventInvocation,
): Promise<DynamoDBBatchResponse> {
  const fields = { function: 'writeIndex', function_request_id: invocation.awsRequestId };
  return withLogFields(fields, () => writeChanges(contextOf(invocation), event));
}

async function writeChanges(context: Context, event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  try {
    const { nodes, hostNodes } = await refreshAll(context, changesIn(event));
    const lagMs = Date.now() - oldestOf(event);
    log('info', 'index', { records: event.Records.length, nodes, host_nodes: hostNodes, lag_ms: lagMs });
    return { batchItemFailures: [] };
  } catch (error) {
    // All of it again: files that are up to date already are only read.
    log('error', 'index', { records: event.Records.length, ...describeError(error) });
    const first = event.Records[0]?.dynamodb?.SequenceNumber;
    if (first === undefined) throw error;
    return { batchItemFailures: [{ itemIdentifier: first }] };
  }
}

function changesIn({ Records }: DynamoDBStreamEvent): Changes {
  const changes: Changes = { nodes: new Map(), hostNodes: new Map(), publishers: new Set() };
  for (const { dynamodb } of Records) {
    const [kind, id = '', version] = String(dynamodb?.Keys?.pk?.S).split('#');
    const [subject, ...rest] = String(dynamodb?.Keys?.sk?.S).split('#');
    const label = version ?? rest.join('#');
    if (kind === 'PUBLISHER' && subject === 'PUBLISHER') changes.publishers.add(id);
    if (kind !== 'NODE') continue;
    if (subject === 'HOST_NODE' || subject === 'VERSION')
      changes.hostNodes.set(`${id} ${label}`, [id, label]);
    if (subject !== 'NODE' && subject !== 'VERSION') continue;
    const labels = changes.nodes.get(id) ?? new Set();
    if (subject === 'VERSION') labels.add(label);
    changes.nodes.set(id, labels);
  }
  return changes;
}

async function refreshAll(context: Context, { nodes, hostNodes, publishers }: Changes) {
  for (const publisher of publishers)
    for await (const page of nodesOf(context, publisher))
      for (const id of page) if (!nodes.has(foldNodeId(id))) nodes.set(foldNodeId(id), new Set());
  await inParallel(nodes.entries(), maxFilesAtOnce, ([id, labels]) => refreshNode(context, id, [...labels]));
  await allEnded([
    inParallel(nodes.keys(), maxFilesAtOnce, (id) => refreshReadme(context, id)),
    refreshCatalog(context, [...new Set([...nodes.keys(), ...[...hostNodes.values()].map(([id]) => id)])]),
    inParallel(hostNodes.values(), maxFilesAtOnce, ([id, label]) => refreshHostNodes(context, id, label)),
  ]);
  return { nodes: nodes.size, hostNodes: hostNodes.size };
}

function oldestOf({ Records }: DynamoDBStreamEvent): number {
  return Math.min(...Records.map(({ dynamodb }) => Number(dynamodb?.ApproximateCreationDateTime) * 1000));
}
