import { createHash, randomUUID } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { SQSEvent } from 'aws-lambda';
import { handler } from '../../functions/finalize-upload.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { stagingKey, type Upload, uploadOf } from '../../lib/bucket/object-keys.ts';
import { VersionLabel } from '@node-registry/registry-rules/version-label';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import type { Item } from '../../lib/store/items.ts';
import { nodeVersionKey } from '../../lib/store/keys.ts';
import { lanes } from '../../lib/work/lanes.ts';
import { nodeVersionView } from '../../lib/registry/node-versions.ts';
import { nodeVersionRecord } from '../../lib/registry/records.ts';
import { registerVersion } from '../../lib/registry/publish.ts';
import { eventOf as messagesOf } from '../../tools/local/consume-queue.ts';
import { demo } from '../../tools/local/demo.ts';
import { uploadMessage } from '../../tools/local/s3-events.ts';
import { sampleEvent } from './invoke.ts';
import { requireNoOpenWrites } from './open-writes.ts';
import { queueOf, runQueue } from './queue.ts';
import { soon, storedItem } from './registry.ts';

/** The finalizer's own limit. */
const limitMs = 300_000;

/** Registers a version of the demo publisher, or resumes it. */
export async function publish(nodeId: string, version: string): Promise<Upload> {
  const { upload } = await registerVersion(soon(), {
    publisherId: demo.publisherId,
    nodeId,
    node: {},
    version: { version: VersionLabel.parse(version) },
    tokenHash: hashPersonalAccessToken(demo.personalAccessToken),
    caller: undefined,
  });
  return upload;
}

/** The same with its archive put, and no event sent. */
export async function uploaded(nodeId: string, archive: Buffer, version = '1.0.0'): Promise<Upload> {
  const upload = await publish(nodeId, version);
  await put(upload, archive);
  return upload;
}

/** The upload that a signed URL is for. */
export function uploadAt(url: string): Upload {
  const upload = uploadOf(decodeURIComponent(new URL(url).pathname).replace(/^\/[^/]+\//, ''));
  if (!upload) throw new Error(`The signed URL ${url} is of no upload.`);
  return upload;
}

export async function putObject(key: string, bytes: Buffer): Promise<void> {
  await s3().send(new PutObjectCommand({ Bucket: bucketName(), Key: key, Body: bytes }));
}

export async function put(upload: Upload, bytes: Buffer): Promise<void> {
  await putObject(stagingKey(upload), bytes);
}

/** S3's message about an upload, made of the sample. */
export function eventOf(upload: Upload): SQSEvent {
  const event = sampleEvent('finalize-upload') as unknown as SQSEvent;
  for (const record of event.Records) record.body = uploadMessage(stagingKey(upload));
  return event;
}

/** Delivers S3's message about each upload, and what the lane goes on with at once. */
export async function finalize(...uploads: Upload[]): Promise<void> {
  const invocation = { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => limitMs };
  for (const upload of uploads)
    await requireNoOpenWrites(limitMs, () => handler(eventOf(upload), invocation));
  do queueOf('finalize').advance(lanes.finalize.moreSeconds * 1000);
  while ((await runQueue(handler, 'finalize')) > 0);
}

/** A version as it is stored, with the download address that callers get. */
export async function storedVersion(nodeId: string, version: string): Promise<Item> {
  const item = (await storedItem(nodeVersionKey(nodeId, version))) ?? {};
  return { ...item, ...nodeVersionView(nodeVersionRecord(item)) };
}

export async function download(url: unknown): Promise<Buffer> {
  const response = await fetch(String(url));
  if (!response.ok) throw new Error(`The download answered ${response.status}.`);
  return Buffer.from(await response.arrayBuffer());
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The message about a version that owes work, after some tries; null: as an upload's event has it sent. */
export function workEvent({ nodeId, version }: Pick<Upload, 'nodeId' | 'version'>, tries: number | null = 0) {
  const body = { ...nodeVersionKey(nodeId, version), tries };
  return messagesOf([{ id: 'a-message', body: JSON.stringify(body) }]);
}
