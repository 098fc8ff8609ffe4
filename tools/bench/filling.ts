import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { type Item, toAttributes } from '../../lib/store/items.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { demo } from '../local/demo.ts';
import { uploadVersion } from '../local/seed.ts';

/** The records that the measured functions find in the store, in addition to the demo publisher. */

const maxWrite = 25;
let uploads = 0;

/** Uploads an archive for a new version, like a publisher, and returns its key. */
export function uploadArchive(): Promise<string> {
  uploads += 1;
  return uploadVersion({ deadline: Date.now() + 10_000 }, { version: `2.0.${uploads}` });
}

/** One version of each of the nodes `node-0`, `node-1` and so on, with the usual size of a version. */
export async function addNodes(count: number): Promise<void> {
  await write(Array.from({ length: count }, (_, index) => versionOf(`node-${index}`, '1.0.0')));
}

function versionOf(nodeId: string, version: string): Item {
  return {
    ...nodeVersionKey(nodeId, version),
    id: `${nodeId}-${version}`,
    node_id: nodeId,
    publisher_id: demo.publisherId,
    version,
    status: 'NodeVersionStatusActive',
    changelog: 'One or two sentences about what is new in this version and what has been fixed.',
    dependencies: ['numpy>=2', 'pillow'],
    createdAt: '2026-11-20T12:00:00.000Z',
    downloadUrl: `https://downloads.example.com/archives/${nodeId}/${version}/archive.zip`,
    revision: 1,
  };
}

async function write(items: Item[]): Promise<void> {
  for (let start = 0; start < items.length; start += maxWrite) {
    const requests = items
      .slice(start, start + maxWrite)
      .map((item) => ({ PutRequest: { Item: toAttributes(item) } }));
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [tableName()]: requests } }));
  }
}
