import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/write-index.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { downloadUrl } from '../../lib/bucket/download-url.ts';
import { catalogPath, configPath, hostNodesPath, nodePath, pieceOf } from '../../lib/index/paths.ts';
import { indexedHostNodes, indexedNode, publicVersion, showsVersions } from '../../lib/index/views.ts';
import { changeHostNode } from '../../lib/registry/host-nodes.ts';
import {
  hostNodeRecord,
  nodeRecord,
  nodeVersionRecord,
  publisherRecord,
} from '../../lib/registry/records.ts';
import type { CatalogPiece } from '../../lib/schemas/index-files.ts';
import * as files from '../../lib/schemas/index-files.ts';
import { hostNodeKey, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { banNode, unbanNode } from '../../packages/admin/registry/nodes.ts';
import {
  banNodeVersion,
  flagNodeVersion,
  unbanNodeVersion,
} from '../../packages/admin/registry/node-versions.ts';
import { listItems } from '../../packages/admin/registry/administration.ts';
import {
  banPublisher,
  createPublisher,
  putMember,
  unbanPublisher,
} from '../../packages/admin/registry/publishers.ts';
import { putPersonalAccessToken } from '../../packages/admin/registry/tokens.ts';
import { hashPersonalAccessToken } from '../../lib/auth/personal-access-tokens.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { intercept } from '../support/intercept.ts';
import { check } from '../support/property-runs.ts';
import { fc } from '../support/properties.ts';
import { setFields, storedItem } from '../support/registry.ts';
import { filtered, recordStream } from '../support/table-stream.ts';
import { demo } from '../../tools/local/demo.ts';
import { finalize, publish, put } from '../support/uploads.ts';
import { zip } from '../support/zip.ts';

const archive = zip([{ name: 'node.py', data: 'NODE_CLASS_MAPPINGS = {}\n' }]);
const context = { getRemainingTimeInMillis: () => 60_000 };
const secretEmail = 'private@example.com';
const labels = ['1.0.0', '1.1.0', '2.0.0-rc.1'] as const;

const stream = recordStream(dynamodb);
let history = 0;

beforeAll(async () => {
  await createPublisher({ id: demo.publisherId, name: 'Demo Publisher' });
  await putMember(demo.publisherId, demo.owner, { role: 'owner', name: 'Olga', email: secretEmail });
  await putPersonalAccessToken({
    publisherId: demo.publisherId,
    hash: hashPersonalAccessToken(demo.personalAccessToken),
    label: 'test',
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  });
});

afterAll(() => stream.stop());

type Step = [action: keyof typeof actions, label: (typeof labels)[number]];

/** What may happen to a node, each a call of the product. One that the registry rejects changes nothing. */
const actions = {
  publish: async (nodeId: string, label: string) => {
    const upload = await publish(nodeId, label);
    await put(upload, archive);
    await finalize(upload);
  },
  register: (nodeId: string, label: string) => publish(nodeId, label),
  banVersion: (nodeId: string, label: string) => banNodeVersion(nodeId, label, 'test'),
  unbanVersion: (nodeId: string, label: string) => unbanNodeVersion(nodeId, label),
  flagVersion: (nodeId: string, label: string) => flagNodeVersion(nodeId, label, 'test'),
  banNode: (nodeId: string) => banNode(nodeId, 'test'),
  unbanNode: (nodeId: string) => unbanNode(nodeId),
  banPublisher: () => banPublisher(demo.publisherId, 'test'),
  unbanPublisher: () => unbanPublisher(demo.publisherId),
  withdraw: (nodeId: string) => setFields(nodeKey(nodeId), { status: 'NodeStatusDeleted' }),
  restore: (nodeId: string) => setFields(nodeKey(nodeId), { status: 'NodeStatusActive' }),
  describe: (nodeId: string, label: string) => setFields(nodeKey(nodeId), { description: `of ${label}` }),
  editHostNode: (nodeId: string, label: string) =>
    changeHostNode(
      { deadline: Date.now() + 10_000 },
      {
        nodeId,
        version: label,
        hostNodeName: 'Load / it',
        changes: { category: label },
        caller: { userId: demo.owner, isAdmin: true },
      },
    ),
  extracted: (nodeId: string, label: string) =>
    setFields(nodeVersionKey(nodeId, label), { host_node_extract_status: 'success' }),
};

async function readFile<Content>(key: string): Promise<Content | undefined> {
  const answer = await s3()
    .send(new GetObjectCommand({ Bucket: bucketName(), Key: key }))
    .catch(() => undefined);
  return answer && JSON.parse((await answer.Body?.transformToString()) ?? '');
}

/** What the file of a node should say, from the whole table and without the index's own way of updating it. */
async function expected(nodeId: string) {
  const at = async ({ pk, sk }: { pk: string; sk: string }) => storedItem(pk, sk);
  const node = nodeRecord(await at(nodeKey(nodeId)));
  const publisher = publisherRecord(await at(publisherKey(demo.publisherId)));
  if (!node || !publisher) return undefined;
  const versions = (await listItems(nodeVersionKey(nodeId, ''))).map((item) => nodeVersionRecord(item));
  const shown = versions.flatMap((version) => publicVersion(version, downloadUrl) ?? []);
  const isShown = showsVersions(node, publisher);
  const hostNodes = await Promise.all(
    versions.map(async (version) => {
      const entries = (await listItems(hostNodeKey(nodeId, version.version, ''))).map((item) =>
        hostNodeRecord(item),
      );
      return indexedHostNodes(version, isShown, entries);
    }),
  );
  return { file: indexedNode(node, publisher, shown, downloadUrl), shown, hostNodes, node, publisher };
}

/** Lets some of the index's writes arrive late, after those of others who have read later. */
function slowWrites(disorder: readonly number[]): () => void {
  let writes = 0;
  return intercept(s3(), async ({ command, input, send }) => {
    writes += 1;
    const isFile = command === 'PutObjectCommand' && String(input.Key).startsWith('index/');
    if (isFile) await pause(Number(disorder[writes % disorder.length]) * 20);
    return send();
  });
}

/** Sends records as a stream does at its worst: in pieces, some twice, some late, and pieces at the same time. */
async function deliver(records: readonly DynamoDBRecord[], disorder: readonly number[]): Promise<void> {
  const chaotic = records.flatMap((record, place) =>
    disorder[place % disorder.length] === 0 ? [record, record] : [record],
  );
  const late = chaotic.filter((_, place) => disorder[place % disorder.length] === 1);
  const half = Math.ceil(chaotic.length / 2);
  const batches = [chaotic.slice(0, half), chaotic.slice(half), late]
    .map(filtered)
    .filter(({ Records }) => Records.length);
  const replies = await Promise.all(batches.map((batch) => handler(batch, context)));
  expect(replies.flatMap(({ batchItemFailures }) => batchItemFailures)).toEqual([]);
}

const steps = fc.array(
  fc.tuple(
    fc.constantFrom(...(Object.keys(actions) as (keyof typeof actions)[])),
    fc.constantFrom(...labels),
  ),
  { minLength: 3, maxLength: 10 },
);

describe('the public index', () => {
  test('says what the table says after any history, and nothing that is private', async () => {
    const disorders = fc.array(fc.nat(3), { minLength: 5, maxLength: 5 });
    await check(fc.tuple(steps, disorders), async ([given, disorder]) => {
      history += 1;
      const nodeId = `node-${history}`;
      const all: Step[] = [['publish', '1.0.0'], ...given, ['unbanPublisher', '1.0.0']];
      const quicken = slowWrites(disorder);
      const deliveries: Promise<void>[] = [];
      for (const [action, label] of all) {
        // What the registry rejects in this state is part of the history.
        await Promise.resolve(actions[action](nodeId, label)).catch(() => undefined);
        // The stream is read while the next change is made.
        deliveries.push(deliver(stream.take(), disorder));
      }
      await Promise.all(deliveries);
      quicken();
      await requireIndex(nodeId);
    });
  });
});

async function requireIndex(nodeId: string): Promise<void> {
  const wanted = await expected(nodeId);
  if (!wanted) throw new Error(`The node ${nodeId} was not published.`);
  const file = await readFile<object>(nodePath(nodeId));
  expect(file).toEqual(JSON.parse(JSON.stringify(wanted.file)));
  expect(() => files.IndexedNode.parse(file)).not.toThrow();
  const config = files.IndexConfig.parse(await readFile(configPath));
  const piece = await readFile<CatalogPiece>(
    catalogPath(config.catalog_pieces, pieceOf(nodeId, config.catalog_pieces)),
  );
  const lines = files.CatalogPiece.parse(piece).nodes.filter(({ id }) => id === nodeId);
  const isListed = wanted.node.status === 'NodeStatusActive' && wanted.node.latest_version !== undefined;
  expect(lines.map(({ latest_version }) => latest_version)).toEqual(
    isListed ? [wanted.node.latest_version?.version] : [],
  );
  for (const hostNodes of wanted.hostNodes) {
    const stored = await readFile<object>(hostNodesPath(nodeId, hostNodes.version));
    if (stored === undefined) expect(hostNodes.host_node_extract_status).toBe('pending');
    else expect(stored).toEqual(JSON.parse(JSON.stringify(hostNodes)));
    expect(JSON.stringify(stored ?? {})).not.toContain('touched');
  }
  const text = JSON.stringify([file, piece]);
  for (const secret of [
    secretEmail,
    demo.owner,
    'token_',
    'tags_admin',
    'revision',
    'published_by',
    'members',
  ])
    expect(text).not.toContain(secret);
}
