import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/write-index.ts';
import { VersionLabel } from '@node-registry/registry-rules/version-label';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { s3 } from '../../lib/bucket/bucket.ts';
import * as paths from '@node-registry/registry-rules/index-paths';
import { indexedHostNodes, indexedNode, publicVersion } from '../../lib/index/node-files.ts';
import { changeHostNode } from '../../lib/registry/host-nodes.ts';
import { changeNode } from '../../lib/registry/nodes.ts';
import { registerVersion } from '../../lib/registry/publish.ts';
import * as records from '../../lib/registry/records.ts';
import * as files from '@node-registry/registry-rules/schemas/index-files';
import { hostNodeBansKey, hostNodeKey, nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { extractArchive } from '../../lib/uploads/extract-archive.ts';
import { listItems } from '../../tools/admin/registry/administration.ts';
import { rebuildIndex } from '../../tools/admin/registry/index-files.ts';
import { admin } from '../support/admin.ts';
import { flagNodeVersion } from '../../tools/admin/registry/node-versions.ts';
import { drainQueue } from '../../tools/local/consume-queue.ts';
import { demo } from '../../tools/local/demo.ts';
import { keysBelow, readObject } from '../support/bucket-objects.ts';
import { intercept } from '../support/intercept.ts';
import { indexChanges } from '../support/queue.ts';
import { check, count, counts } from '@node-registry/testing/property-runs';
import { fc } from '@node-registry/testing/properties';
import { addPublisher, addToken, setPublisherFields, storedItem } from '../support/registry.ts';
import { recordStream } from '../support/table-stream.ts';
import { until } from '@node-registry/testing/until';
import { finalize, put } from '../support/uploads.ts';
import { zip } from '@node-registry/testing/zip';

const invocation = { getRemainingTimeInMillis: () => 60_000 };
const context = () => ({ deadline: Date.now() + 60_000 });
const secretEmail = 'private@example.com';
const owner = 'user-olga';
const caller = { userId: owner, isAdmin: false };
const labels = ['1.0.0', '1.1.0', '2.0.0-rc.1'] as const;
type Label = (typeof labels)[number];

const { catalogPath, configPath, hostNodesPath, nodePath, pieceOf, readmePath } = paths;
const taken = recordStream(dynamodb);
let history = 0;

beforeAll(async () => {
  await addPublisher(demo.publisherId, {});
  await deliver(taken(), []);
});

/** Each history has a publisher and a node of its own. */
interface Subject {
  publisherId: string;
  nodeId: string;
  token: string;
}

async function newSubject(): Promise<Subject> {
  history += 1;
  const publisherId = `publisher-${history}`;
  await addPublisher(publisherId, {});
  const member = { role: 'owner', name: 'Olga', email: secretEmail };
  await setPublisherFields(publisherId, { members: { [owner]: member } });
  return { publisherId, nodeId: `node-${history}`, token: await addToken(publisherId) };
}

const readmeOf = (label: string) => `# Version ${label}`;

const code = `class N:
    @classmethod
    def INPUT_TYPES(cls): return {"required": {"image": ("IMAGE",)}}
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Load / it": N}
`;

async function register({ publisherId, nodeId, token }: Subject, label: string) {
  const place = { publisherId, nodeId, node: {}, version: { version: VersionLabel.parse(label) } };
  const tokenHash = hashPersonalAccessToken(token);
  return (await registerVersion(context(), { ...place, tokenHash, caller: undefined })).upload;
}

const edit = ({ publisherId, nodeId }: Subject, changes: object) =>
  changeNode(context(), { publisherId, nodeId, changes, caller, ifMatch: undefined });

/** What may happen to a node, each a call of the product. One that the registry rejects changes nothing. */
const actions = {
  publish: async (subject: Subject, label: Label) => {
    const upload = await register(subject, label);
    const files = [
      { name: '__init__.py', data: code },
      { name: 'README.md', data: readmeOf(label) },
    ];
    await put(upload, zip(files));
    await finalize(upload);
  },
  register,
  extract: async ({ nodeId }: Subject, label: Label) => {
    const { pk, sk } = nodeVersionKey(nodeId, label);
    const version = records.nodeVersionRecord(await storedItem(pk, sk));
    return version?.archive_key && extractArchive(context(), version);
  },
  editHostNode: ({ nodeId }: Subject, label: Label) => {
    const changes = { category: label };
    return changeHostNode(context(), { nodeId, version: label, hostNodeName: 'Load / it', changes, caller });
  },
  describe: (subject: Subject, label: Label) => edit(subject, { description: `of ${label}` }),
  withdraw: (subject: Subject) => edit(subject, { status: 'NodeStatusDeleted' }),
  restore: (subject: Subject) => edit(subject, { status: 'NodeStatusActive' }),
  renamePublisher: ({ publisherId }: Subject, label: Label) =>
    setPublisherFields(publisherId, { name: `Named ${label}` }),
  banVersion: ({ nodeId }: Subject, label: Label) =>
    admin('node-version', 'ban', nodeId, label, '--reason', 'test'),
  unbanVersion: ({ nodeId }: Subject, label: Label) => admin('node-version', 'unban', nodeId, label),
  flagVersion: ({ nodeId }: Subject, label: Label) =>
    flagNodeVersion({ operator: 'admin' }, nodeId, label, 'test'),
  banNode: ({ nodeId }: Subject) => admin('node', 'ban', nodeId, '--reason', 'test'),
  unbanNode: ({ nodeId }: Subject) => admin('node', 'unban', nodeId),
  banPublisher: ({ publisherId }: Subject) => admin('publisher', 'ban', publisherId, '--reason', 'test'),
  unbanPublisher: ({ publisherId }: Subject) => admin('publisher', 'unban', publisherId),
};

type Step = [action: keyof typeof actions, label: Label];

async function readFile<Content>(key: string): Promise<Content | undefined> {
  const file = await readObject(key).catch(() => undefined);
  if (!file) return undefined;
  const { revision: _, ...content } = JSON.parse(file.text);
  return content as Content;
}

/** What the files of a node should say, from the whole table and without the index's own way of updating them. */
async function expected({ nodeId, publisherId }: Subject) {
  const at = async ({ pk, sk }: { pk: string; sk: string }) => storedItem(pk, sk);
  const node = records.nodeRecord(await at(nodeKey(nodeId)));
  const publisher = records.publisherRecord(await at(publisherKey(publisherId)));
  if (!node || !publisher) throw new Error(`The node ${nodeId} was not published.`);
  const stored = (await listItems(nodeVersionKey(nodeId, ''))).map((item) => records.nodeVersionRecord(item));
  const shown = stored.flatMap((version) => publicVersion(version) ?? []);
  const hostNodes = await Promise.all(
    stored.map(async (version) => {
      const items = await listItems(hostNodeKey(nodeId, version.version, ''));
      return indexedHostNodes(
        version,
        items.map((item) => records.hostNodeRecord(item)),
        records.hostNodeBansRecord(await at(hostNodeBansKey(nodeId))),
      );
    }),
  );
  return { file: indexedNode(node, publisher, shown), hostNodes };
}

/** What goes wrong with the writes of the index, in turn: they are late, or the function dies before or after one. */
type Disturbance = 'none' | 'late' | 'held' | 'crash before' | 'crash after';
const maxCrashes = 5;

/**
 * Disturbs the index's writes. The first one of a file that is held is sent only after everything else, when it knows the
 * oldest state of all. A crash is seen by the reader of the stream, which sends the same records again.
 */
function disturb(disturbances: readonly Disturbance[]) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = new Set<unknown>();
  let writes = 0;
  let crashes = 0;
  const stop = intercept(s3(), async ({ command, input, send }) => {
    if (command !== 'PutObjectCommand' || !String(input.Key).startsWith('index/')) return send();
    let what = disturbances[writes++ % disturbances.length] ?? 'none';
    if (what === 'held' && held.has(input.Key)) what = 'none';
    count(what);
    if (what === 'late') await pause(20);
    if (what === 'held') {
      held.add(input.Key);
      await released;
    }
    if (!what.startsWith('crash') || ++crashes > maxCrashes) return send();
    if (what === 'crash after') await send();
    throw new Error('The function died.');
  });
  return { release, stop, held };
}

/** Sends records as a stream does at its worst: in pieces, some twice, some late, and pieces at the same time. */
async function deliver(records: readonly DynamoDBRecord[], disorder: readonly number[]): Promise<void> {
  const chaotic = records.flatMap((record, place) =>
    disorder[place % disorder.length] === 0 ? [record, record] : [record],
  );
  const late = chaotic.filter((_, place) => disorder[place % disorder.length] === 1);
  const half = Math.ceil(chaotic.length / 2);
  const batches = [chaotic.slice(0, half), chaotic.slice(half), late]
    .map((Records) => ({ Records }))
    .filter(({ Records }) => Records.length);
  await Promise.all(
    batches.map(async (batch) => {
      // Lambda repeats a batch until none of its records has failed.
      while ((await handler(batch, invocation)).batchItemFailures.length > 0) await pause(1);
    }),
  );
}

const steps = fc.array(
  fc.tuple(
    fc.constantFrom(...(Object.keys(actions) as (keyof typeof actions)[])),
    fc.constantFrom(...labels),
  ),
  { minLength: 3, maxLength: 10 },
);
const disorders = fc.array(fc.nat(3), { minLength: 5, maxLength: 5 });
const disturbances = fc.array(
  fc.constantFrom<Disturbance>('none', 'none', 'late', 'held', 'crash before', 'crash after'),
  { minLength: 5, maxLength: 5 },
);

/** Everything that may happen, once. */
const eventful = `publish 1.1.0|extract 1.0.0|editHostNode 1.0.0|describe 1.0.0|register 2.0.0-rc.1
renamePublisher 1.0.0|flagVersion 1.0.0|banVersion 1.1.0|unbanVersion 1.1.0|banNode 1.0.0|unbanNode 1.0.0
banPublisher 1.0.0|unbanPublisher 1.0.0|withdraw 1.0.0|restore 1.0.0`
  .split(/[|\n]/)
  .map((step) => step.split(' ') as Step);

describe('the public index', () => {
  test('matches the table after any history, and has no private fields', async () => {
    await check(fc.tuple(steps, disorders, disturbances), requireHistory, {
      weight: 0.4,
      examples: [[eventful, [0, 1, 2, 3, 0], ['held', 'late', 'crash before', 'none', 'crash after']]],
    });
    // Every action and disturbance took part.
    const missing = [...Object.keys(actions), 'late', 'held', 'crash before', 'crash after'];
    expect(missing.filter((name) => !counts[name])).toEqual([]);
  });

  test('leaves nothing for a rebuild to correct', async () => {
    // No larger catalog.
    const linesPerPiece = Number.MAX_SAFE_INTEGER;
    const rebuilt = await rebuildIndex({ after: undefined, linesPerPiece, progress: () => {} });

    expect(rebuilt).toMatchObject({ nodes: history, written: [], removed: [] });
  });
});

async function requireHistory([given, disorder, disturbed]: [
  given: Step[],
  disorder: number[],
  disturbed: Disturbance[],
]): Promise<void> {
  const subject = await newSubject();
  const all: Step[] = [['publish', '1.0.0'], ...given, ['unbanPublisher', '1.0.0']];
  const { release, stop, held } = disturb(disturbed);
  const deliveries: Promise<void>[] = [];
  let delivered = 0;
  /** Writes that are held keep their deliveries from ending. */
  const behind = () => deliveries.length - delivered - held.size;
  for (const [action, label] of all) {
    // What the registry rejects in this state is part of the history.
    await Promise.resolve(actions[action](subject, label)).then(
      () => count(action),
      () => undefined,
    );
    // The stream is read while the next change is made.
    await until(() => behind() <= 1);
    deliveries.push(deliver(taken(), disorder).finally(() => (delivered += 1)));
  }
  await until(() => behind() <= 0);
  release();
  await Promise.all(deliveries);
  stop();
  // What failed was handed on.
  await drainQueue(indexChanges, (event) => handler(event, invocation));
  await requireIndex(subject);
}

async function requireIndex(subject: Subject): Promise<void> {
  const { nodeId } = subject;
  const wanted = JSON.parse(JSON.stringify(await expected(subject)));
  const file = files.IndexedNode.parse(await readFile(nodePath(nodeId)));
  expect(file).toEqual(wanted.file);
  const { catalog_pieces } = files.IndexConfig.parse(await readFile(configPath));
  const piece = await readFile(catalogPath(catalog_pieces, pieceOf(nodeId, catalog_pieces)));
  const lines = files.CatalogPiece.parse(piece).nodes.filter(({ id }) => id === nodeId);
  const latest = wanted.file.latest_version?.version;
  expect(lines.map(({ latest_version, publisher }) => [latest_version, publisher.name])).toEqual(
    file.status === 'NodeStatusActive' && latest !== undefined ? [[latest, file.publisher?.name]] : [],
  );
  const readme = files.IndexedReadme.parse(await readFile(readmePath(nodeId)));
  expect([readme.version, readme.text]).toEqual([latest, latest === undefined ? '' : readmeOf(latest)]);
  for (const hostNodes of wanted.hostNodes) {
    const stored = await readFile(hostNodesPath(nodeId, hostNodes.version));
    if (stored === undefined) expect(hostNodes.host_node_extract_status).toBe('pending');
    else expect(files.IndexedHostNodes.parse(stored)).toEqual(hostNodes);
  }
  await requireNothingPrivate(nodeId, JSON.stringify(piece));
}

async function requireNothingPrivate(nodeId: string, catalog: string): Promise<void> {
  const prefix = nodePath(nodeId).replace(/\.json$/, '');
  const own = (await keysBelow(prefix)).filter((key) => /^[./]/.test(key.slice(prefix.length)));
  const texts = await Promise.all(own.map(async (key) => JSON.stringify(await readFile(key))));
  const secrets = [secretEmail, owner, 'token_', 'tags_admin', 'revision', 'touched', '_by"', 'members'];
  for (const secret of secrets) expect(texts.join('') + catalog).not.toContain(secret);
}
