import { expect } from '@jest/globals';
import { handler } from '../../functions/write-index.ts';
import type { HostNodeRecord } from '../../lib/registry/records.ts';
import { absent } from '../../lib/store/items.ts';
import { hostNodeKey, type Key, nodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { putting, write } from '../../lib/store/write.ts';
import { catalogPath, pieceOf } from '@node-registry/registry-rules/index-paths';
import { readIndexFile, readObject } from './bucket-objects.ts';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import './patience.ts';
import { indexChanges } from './queue.ts';
import { addNode, addVersion, soon } from './registry.ts';
import { streamEventOf } from './table-stream.ts';

/* Published nodes for the index, and the changes that it follows. */

export const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 120_000 };
export const published = {
  archive_key: 'archives/some/1.0.0/id-0.zip',
  sha256: '0'.repeat(64),
  size_bytes: 10,
  published_at: '2026-01-01T00:00:00.000Z',
  createdAt: '2026-01-01T00:00:00.000Z',
  host_node_extract_status: 'success',
};
export const active = { status: 'NodeVersionStatusActive', version: '1.0.0' };

export async function followOnce(...keys: Key[]): Promise<void> {
  expect(await handler(streamEventOf(...keys), context)).toEqual({ batchItemFailures: [] });
}

/** To its end: on a crowded machine, an invocation leaves files to the queue. */
export async function follow(...keys: Key[]): Promise<void> {
  await followOnce(...keys);
  await drainQueue(indexChanges, (event) => handler(event, context));
}

export const own = (id: string): Key[] => [nodeKey(id), nodeVersionKey(id, '1.0.0')];

export async function addPublishedNode(id: string, publisherId = 'acme', fields: object = {}): Promise<void> {
  const latest_version = { ...published, id: '1', ...active };
  await addNode(publisherId, id, { name: `Node ${id}`, latest_version, ...fields });
  await addVersion(publisherId, id, '1.0.0', published);
}

export async function addHostNode(
  nodeId: string,
  host_node_name: string,
  display_name?: string,
): Promise<void> {
  const fields = { host_node_name, ...(display_name && { display_name }), touched: [] };
  const record: HostNodeRecord = { ...hostNodeKey(nodeId, '1.0.0', host_node_name), revision: 1, ...fields };
  await write(soon(), putting(record, absent));
}

/** One that the index has followed. */
export async function addFollowedNode(id: string, publisherId = 'acme', fields: object = {}): Promise<void> {
  await addPublishedNode(id, publisherId, fields);
  await follow(...own(id));
}

/** A node's lines in the catalog. */
export async function linesOf(id: string): Promise<object[]> {
  const { content } = await readIndexFile(catalogPath(16, pieceOf(id, 16)));
  return content.nodes.filter((entry: { id: string }) => entry.id === id);
}

export const page = async (key: string) => (await readObject(key)).text;
