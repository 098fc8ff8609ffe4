import { PutObjectCommand } from '@aws-sdk/client-s3';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { stagingKey, type Upload } from '../../lib/bucket/object-keys.ts';
import { callerName } from '../../lib/caller.ts';
import type { Context } from '../../lib/context.ts';
import { statusKey, type TaskRecord, taskHash, ttlFrom } from '../../lib/notifications/records.ts';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { changeHostNode } from '../../lib/registry/host-nodes.ts';
import { putMember } from '../../lib/registry/members.ts';
import { createPublisher } from '../../lib/registry/profiles.ts';
import { type NodeVersionRecord, nodeVersionRecord } from '../../lib/registry/records.ts';
import { registerVersion } from '../../lib/registry/publish.ts';
import { createToken } from '../../lib/registry/tokens.ts';
import type { NodeInput } from '@node-registry/registry-rules/schemas/node';
import { VersionLabel } from '@node-registry/registry-rules/version-label';
import type { NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import { attemptName } from '../../lib/attempts/attempt.ts';
import { absent, present } from '../../lib/store/items.ts';
import { nodeVersionKey, publisherKey, taskKey } from '../../lib/store/keys.ts';
import { get } from '../../lib/store/read.ts';
import { putting, updating, write } from '../../lib/store/write.ts';
import { finalizeUpload } from '../../lib/uploads/finalize-upload.ts';
import { demo } from './demo.ts';
import { demoArchive } from './demo-archive.ts';

const operator = { operator: 'seed' };
const decadeMs = 10 * 365 * 24 * 60 * 60 * 1000;

/** Seeds the demo publisher with its nodes and archives once; false if it already exists. */
export async function seed(): Promise<boolean> {
  const { publisherId, owner, member, nodeId, version, hostNodeName } = demo;
  const context = { deadline: Date.now() + 60_000 };
  const publisher = { id: publisherId, name: 'Demo Publisher', website: 'https://example.com' };
  if (!(await admit(context, publisher))) return false;
  await putMember(context, operator, publisherId, member, {
    role: 'member',
    name: 'Mats Member',
    email: 'mats@example.com',
  });
  const caller = { userId: owner, isAdmin: false };
  const node = { name: 'Demo Node', description: 'A node to try the service with.', tags: ['demo'] };
  for (const label of [version, '1.1.0']) {
    const input = {
      version: VersionLabel.parse(label),
      changelog: `Changes of ${label}`,
      dependencies: ['numpy>=2'],
    };
    await uploadVersion(context, input, node);
    const [registered] = await get(context, nodeVersionKey(nodeId, label));
    const record = nodeVersionRecord(registered);
    if (record) await finalizeUpload(context, record);
  }
  const changes = {
    description: 'Loads an image',
    function: 'load',
    return_types: 'IMAGE',
    policy: 'HostNodePolicyActive',
  } as const;
  await changeHostNode(context, { nodeId, version, hostNodeName, changes, caller });
  await addTask(context);
  return true;
}

/** Makes a publisher of the demo's owner, for whom the demo's token publishes. False if it already exists. */
export async function admit(
  context: Context,
  publisher: { id: string; name: string; website: string },
): Promise<boolean> {
  const { id } = publisher;
  if ((await get(context, publisherKey(id)))[0]) return false;
  await createPublisher(context, operator, publisher);
  const owner = { role: 'owner', name: 'Olga Owner', email: 'olga@example.com' } as const;
  await putMember(context, operator, id, demo.owner, owner);
  const fields = { label: 'demo', expires_at: new Date(Date.now() + decadeMs).toISOString() };
  await createToken(context, operator, { publisherId: id, ...fields }, demo.personalAccessToken);
  return true;
}

/** Publishes a version of the demo node up to the upload of its archive. */
async function uploadVersion(
  context: Context,
  version: NodeVersionInput,
  node: NodeInput = {},
): Promise<void> {
  const { publisherId, nodeId, owner } = demo;
  const caller = { userId: owner, isAdmin: false };
  const { upload } = await registerVersion(context, {
    publisherId,
    nodeId,
    node,
    version,
    tokenHash: hashPersonalAccessToken(demo.personalAccessToken),
    caller,
  });
  const key = stagingKey(
    version.version.normal === demo.version ? await renameUpload(context, upload) : upload,
  );
  const Body = demoArchive(version.version.normal);
  await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key: key, Body }));
}

/** Gives the upload and its version the ids of the sample events. */
async function renameUpload(context: Context, upload: Upload): Promise<Upload> {
  const { versionId, uploadId } = demo;
  const names = { id: versionId, upload_id: uploadId };
  const key = nodeVersionKey(upload.nodeId, upload.version);
  await write(context, updating<NodeVersionRecord>(key, names, present));
  return { ...upload, versionId, uploadId };
}

/** A task of the demo's owner. A sample event has its secret. */
async function addTask(context: Context): Promise<void> {
  const now = Date.now();
  const task: TaskRecord = {
    ...taskKey(taskHash(demo.taskSecret)),
    at: new Date(now).toISOString(),
    provider: 'video',
    caller: callerName({ userId: demo.owner }),
    attempt: attemptName({ at: now, id: 'demo' }),
    request_id: 'demo',
    status_key: statusKey(demo.taskSecret),
    sequence: 0,
    revision: 1,
    ttl: ttlFrom(now),
  };
  await write(context, putting(task, absent));
}
