import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { fileOf, loadPaidContracts } from '../../infra/operations.ts';
import { toAttributes } from '../../lib/store/items.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { type Figure, inTurns, ratio } from './figures.ts';
import { type ColdStart, Lambda } from './lambda.ts';
import { readEvent } from './servers.ts';

/** Each measured function with its goal, as a multiple of the floor. */
const reach: Record<string, number> = {
  ...Object.fromEntries((await loadPaidContracts()).map(({ name }) => [fileOf(name), 2.75])),
  'update-node': 2.75,
  'update-host-node': 2.75,
  'publish-node-version': 2.8,
  'bulk-node-versions': 4.8,
};

/** From the start of each function's process to its response, relative to a handler without dependencies. */
export async function measureColdStarts(
  environment: NodeJS.ProcessEnv,
  folder: string,
  rounds: number,
): Promise<Figure[]> {
  const bulk = JSON.stringify({ node_versions: await addNodes(1000) });
  const lambda = new Lambda();
  const runOf = async (file: string, name: string) => {
    const sample = await readEvent(name);
    const event = name === 'bulk-node-versions' ? { ...sample, body: bulk } : sample;
    return async () => requireSuccess(await lambda.start({ file, event, environment }));
  };
  try {
    const runs = { floor: await runOf(await writeFloor(folder), 'text-to-video') };
    for (const name of Object.keys(reach))
      Object.assign(runs, { [name]: await runOf(join('dist', name, 'index.js'), name) });
    const results: Record<string, ColdStart[]> = await inTurns(rounds, runs);
    const timesOf = (name: string) => (results[name] ?? []).map(({ totalMs }) => totalMs);
    return Object.entries(reach).map(([name, most]) =>
      ratio(`cold: ${name}`, timesOf(name), timesOf('floor'), most),
    );
  } finally {
    await lambda.stop();
  }
}

/** No handler can start faster. */
async function writeFloor(folder: string): Promise<string> {
  await mkdir(join(folder, 'floor'));
  const file = join(folder, 'floor/index.mjs');
  const answer = '({ statusCode: 200, body: JSON.stringify(JSON.parse(body)) })';
  await writeFile(file, `export const handler = async ({ body }) => ${answer};`);
  return file;
}

/** One version of each of `count` nodes, with the usual size of a version. */
async function addNodes(count: number): Promise<{ node_id: string; version: string }[]> {
  const pairs = Array.from({ length: count }, (_, index) => ({ node_id: `node-${index}`, version: '1.0.0' }));
  const puts = pairs.map(({ node_id, version }) => ({
    PutRequest: {
      Item: toAttributes({
        ...nodeVersionKey(node_id, version),
        id: `${node_id}-${version}`,
        node_id,
        version,
        publisher_id: 'demo',
        revision: 1,
        status: 'NodeVersionStatusActive',
        changelog: 'One or two sentences about what is new in this version and what has been fixed.',
        dependencies: ['numpy>=2', 'pillow'],
        createdAt: '2026-11-20T12:00:00.000Z',
        downloadUrl: `https://downloads.example.com/archives/${node_id}/${version}/archive.zip`,
      }),
    },
  }));
  for (let start = 0; start < count; start += 25) {
    const RequestItems = { [tableName()]: puts.slice(start, start + 25) };
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems }));
  }
  return pairs;
}

function requireSuccess(start: ColdStart): ColdStart {
  const { statusCode = 200 } = (start.answer ?? {}) as { statusCode?: number };
  if (statusCode < 300) return start;
  throw new Error(`A measured function answered ${JSON.stringify(start.answer)}.`);
}
