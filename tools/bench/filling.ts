import { createHash } from 'node:crypto';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { stagingKey } from '../../lib/bucket/object-keys.ts';
import { hashPersonalAccessToken } from '../../lib/auth/personal-access-tokens.ts';
import { type Item, toAttributes } from '../../lib/store/items.ts';
import { hostNodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { registerVersion } from '../../lib/registry/publishing.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { demo } from '../local/demo.ts';
import { demoArchive } from '../local/demo-archive.ts';

/** The records that the measured functions find in the store, in addition to the demo publisher. */

const maxWrite = 25;
let uploads = 0;

/** Uploads an archive for a new version, like a publisher, and returns its key. */
export async function uploadArchive(): Promise<string> {
  uploads += 1;
  const { publisherId, nodeId, personalAccessToken, owner } = demo;
  const version = `2.0.${uploads}`;
  const { upload } = await registerVersion(
    { deadline: Date.now() + 10_000 },
    {
      publisherId,
      nodeId,
      node: {},
      version: { version },
      tokenHash: hashPersonalAccessToken(personalAccessToken),
      caller: { userId: owner, isAdmin: false },
    },
  );
  const key = stagingKey(upload);
  await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key: key, Body: await demoArchive(version) }));
  return key;
}

/** One version of each of the nodes `node-0`, `node-1` and so on, with the usual size of a version. */
export async function addNodes(count: number): Promise<void> {
  await write(Array.from({ length: count }, (_, index) => versionOf(`node-${index}`, '1.0.0')));
}

export async function addVersions(nodeId: string, count: number): Promise<void> {
  await write(Array.from({ length: count }, (_, index) => versionOf(nodeId, `0.1.${index}`)));
}

export async function addHostNodes(nodeId: string, version: string, count: number): Promise<void> {
  const nameOf = (index: number) => `Host node ${index}`;
  await write(
    Array.from({ length: count }, (_, index) => ({
      ...hostNodeKey(nodeId, version, nameOf(index)),
      host_node_name: nameOf(index),
      description: 'One of many',
      revision: 1,
    })),
  );
}

/** Versions whose texts and lists differ as those of real packs do, with the digests of a published archive. */
export async function addPacks(packs: readonly { node_id: string; version: string }[]): Promise<void> {
  await write(
    packs.map(({ node_id, version }) => ({ ...versionOf(node_id, version), ...publishedFields(node_id) })),
  );
}

const sentences = [
  'Fixed a crash when the mask is empty.',
  'The sampler takes a seed of its own, so that two runs with the same settings give the same image.',
  'Checkpoints load twice as fast, because the file is mapped and not read.',
  'New node for tiling an image with an overlap, by @lena.',
  'Renamed the input "strength" to "weight"; old workflows are converted when they are opened.',
  'Works with Python 3.13 and numpy 2.',
  'Less memory for batches: previews are freed after each step (#214).',
  'Translations for French and Japanese, thanks to everyone who helped.',
];
const packages = [
  'numpy>=2',
  'pillow',
  'opencv-python-headless',
  'torch>=2.4',
  'transformers==4.46.3',
  'einops',
];
const systems = ['OS Independent', 'Windows', 'Linux', 'macOS'];

function publishedFields(name: string): Item {
  const digest = createHash('sha256').update(name).digest();
  const some = (list: readonly string[], from: number) => list.filter((_, index) => (from >> index) & 1);
  const sha256 = digest.toString('hex');
  const id = `${sha256.slice(0, 8)}-${sha256.slice(8, 12)}-4${sha256.slice(13, 16)}-a${sha256.slice(17, 20)}-${sha256.slice(20, 32)}`;
  return {
    id,
    changelog: some(sentences, digest.readUInt8(0)).join('\n'),
    dependencies: some(packages, digest.readUInt8(1)),
    supported_os: some(systems, digest.readUInt8(2)),
    supported_host_version: `>=0.3.${digest.readUInt8(3)}`,
    createdAt: new Date(1_760_000_000_000 + digest.readUInt32BE(4)).toISOString(),
    published_at: new Date(1_760_000_000_000 + digest.readUInt32BE(4) + 9000).toISOString(),
    host_node_extract_status: 'success',
    archive_key: `archives/${name}/1.0.0/${id}-${sha256}.zip`,
    sha256,
    size_bytes: digest.readUInt32BE(8) >> 8,
  };
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
