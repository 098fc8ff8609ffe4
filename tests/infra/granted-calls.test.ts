import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { pathOf } from '../support/relay.ts';
import { handler as bulkNodeVersions } from '../../functions/bulk-node-versions.ts';
import { handler as deliverNotifications } from '../../functions/deliver-notifications.ts';
import { handler as extractHostNodes } from '../../functions/extract-host-nodes.ts';
import { handler as finalizeUpload } from '../../functions/finalize-upload.ts';
import { handler as publishNodeVersion } from '../../functions/publish-node-version.ts';
import { handler as receiveNotification } from '../../functions/receive-notification.ts';
import { handler as sweepSpending } from '../../functions/sweep-spending.ts';
import { handler as updateHostNode } from '../../functions/update-host-node.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { handler as writeIndex } from '../../functions/write-index.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { archiveKey } from '../../lib/bucket/object-keys.ts';
import { reserve } from '../../lib/spend/reservation.ts';
import { openUsage } from '../../lib/spend/usage-records.ts';
import { nodeKey, nodeVersionKey, publisherKey } from '../../lib/store/keys.ts';
import { dynamodb } from '../../lib/store/table.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { addTrust } from '../../tools/admin/registry/trusts.ts';
import { seed } from '../../tools/local/seed.ts';
import { extractionEvent } from '../support/extractions.ts';
import {
  covers,
  dynamodbNeeds,
  grantsOf,
  missingRights,
  type Need,
  statements as list,
  suffix,
} from './grants.ts';
import { invoke, sampleBody } from '../support/invoke.ts';
import { gitHub, gitHubToken, useCiIssuers } from '../support/ci.ts';
import { misbehave, proxies, simulation } from '../support/proxies.ts';
import { runQueue } from '../support/queue.ts';
import { writeNotification } from '../support/notifications.ts';
import { addToken } from '../support/registry.ts';
import { streamEventOf } from '../support/table-stream.ts';
import { bearer } from '../support/tokens.ts';
import { eventOf, publish, put, putObject, sha256 } from '../support/uploads.ts';

/*
 * There is no AWS here that would refuse a call, so the functions are run and what they call is held against
 * the roles, both ways: nothing is called that is not granted, and nothing is granted in vain.
 * AWS does not document whether a part of a transaction is compared with its own key or with the keys of all parts,
 * so every part counts as a call with each of them.
 */

interface ObjectInput {
  Key: string;
  VersionId?: string;
  CopySource?: string;
}

const needs: Need[] = [];

const bucketNeeds: Record<string, (input: ObjectInput) => Need[]> = {
  PutObjectCommand: ({ Key }) => [{ action: 's3:PutObject', target: Key }],
  HeadObjectCommand: ({ Key }) => [{ action: 's3:GetObject', target: Key }],
  GetObjectCommand: ({ Key, VersionId }) => [{ action: `s3:GetObject${suffix(VersionId)}`, target: Key }],
  DeleteObjectCommand: ({ Key, VersionId }) => [
    { action: `s3:DeleteObject${suffix(VersionId)}`, target: Key },
  ],
  CopyObjectCommand: ({ Key, CopySource = '' }) => {
    const [path = '', query] = CopySource.split('?versionId=');
    return [
      {
        action: `s3:GetObject${suffix(query)}`,
        target: decodeURIComponent(path).slice(bucketName().length + 1),
      },
      { action: 's3:PutObject', target: Key },
    ];
  },
};
const translations: Record<string, (input: never) => Need[]> = { ...dynamodbNeeds, ...bucketNeeds };

for (const { middlewareStack } of [dynamodb, s3()]) {
  (middlewareStack as typeof dynamodb.middlewareStack).add(
    (next, { commandName }) =>
      (args) => {
        const translate = translations[String(commandName)];
        needs.push(
          ...(translate?.(args.input as never) ?? [{ action: String(commandName), target: 'unknown' }]),
        );
        return next(args);
      },
    { step: 'initialize', name: 'recordNeeds' },
  );
}

useCiIssuers();

const headers = { authorization: bearer('demo-owner') };
const context = { awsRequestId: 'an-event', getRemainingTimeInMillis: () => 60_000 } as Context;

/** A token that was just used leaves no trace of its next use. */
const tokens: string[] = [];

beforeAll(async () => {
  await seed();
  tokens.push(await addToken('demo'), await addToken('demo'), gitHubToken());
  await addTrust('demo', { issuer: gitHub.issuer, repository: 'octo/nodes', workflow: 'release.yml' });
});

/** A version is published over HTTP; what its URL may do counts as a call too, which the caller makes. */
async function publishByUrl(key?: string): Promise<void> {
  const sample = sampleBody('publish-node-version');
  const { body } = await invoke(publishNodeVersion, 'publish-node-version', {
    headers: { ...headers, 'idempotency-key': key },
    // A new token and a new node: both leave a record with the publisher.
    path: { nodeId: `granted-${key}` },
    body: { ...sample, node: {}, personal_access_token: tokens.pop() },
  });
  const path = new URL(body.signedUrl).pathname;
  needs.push({ action: 's3:PutObject', target: decodeURIComponent(path).slice(`/${bucketName()}/`.length) });
}

/** A proxied request with a key: answered, replayed, and released where the provider refuses it. */
async function proxy(name: keyof typeof proxies): Promise<void> {
  const call = (key: string, body = sampleBody(name)) =>
    invoke(proxies[name], name, { body, headers: { ...headers, 'idempotency-key': key } });
  const address = name === 'relight-image' ? 'webhook_url' : 'callback_url';
  await call(`granted-${name}`, { ...sampleBody(name), [address]: 'https://caller.example.com/hook' });
  misbehave({ kind: 'status', status: 422 });
  await call(`released-${name}`);
  if (name === 'relight-image') return;
  // An answer that does not fit one record is kept in parts, and read back from them.
  const large = { ...sampleBody(name), payload: randomBytes(600_000).toString('base64') };
  await call(`large-${name}`, large);
  await call(`large-${name}`, large);
}

describe('the calls of a function', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['UpdateNodeRole', () => invoke(updateNode, 'update-node', { headers })],
    ['UpdateHostNodeRole', () => invoke(updateHostNode, 'update-host-node', { headers })],
    ['BulkNodeVersionsRole', () => invoke(bulkNodeVersions, 'bulk-node-versions')],
    [
      'PublishNodeVersionRole',
      () =>
        publishByUrl('ci')
          .then(() => publishByUrl())
          .then(() => publishByUrl('granted')),
    ],
    ['RelightImageRole', () => proxy('relight-image')],
    ['TextToVideoRole', () => proxy('text-to-video')],
    ['ExtendVideoRole', () => proxy('extend-video')],
    ['MultiframeVideoRole', () => proxy('multiframe-video')],
    ['ReceiveNotificationRole', notify],
    ['DeliverNotificationsRole', deliver],
    ['FinalizeUploadRole', finalizeAndSweep],
    ['SweepSpendingRole', leaveAndSweep],
    ['ExtractHostNodesRole', extractPublished],
    ['WriteIndexRole', indexPublished],
  ])('%s', async (role, work) => {
    needs.length = 0;
    await work();
    expect(needs.length).toBeGreaterThan(0);
    expect(missingRights(list, role, needs)).toEqual([]);
    const inVain = grantsOf(list, role).filter((grant) => !needs.some((need) => covers(grant, need)));
    expect(inVain.filter((grant) => !rarely(role, grant))).toEqual([]);
  });
});

/** A task is started, and its provider says that it has ended. */
async function notify(): Promise<void> {
  const body = { ...sampleBody('text-to-video'), callback_url: 'https://caller.example.com/hook' };
  await invoke(proxies['text-to-video'], 'text-to-video', { body, headers });
  const path = { ...pathOf(simulation.received.at(-1)?.body.callback_url) };
  needs.length = 0;
  await invoke(receiveNotification, 'receive-notification', { path });
}

/** A notification is delivered, and the public key is stored. */
async function deliver(): Promise<void> {
  const event = JSON.parse(readFileSync('events/deliver-notifications.json', 'utf8'));
  await writeNotification('http://127.0.0.1:9/refused');
  needs.length = 0;
  await runQueue(deliverNotifications);
  await deliverNotifications(event, context);
}

/** Calls that only uncommon answers lead to; every other proxy and every other test has them. */
function rarely(role: string, { action, target }: Need): boolean {
  // An image that is too large for a request is looked up, read and put by presigned URLs.
  if (target === 'images/*') return true;
  // A budget smaller than one task is the only one that is read before it is written.
  if (target === 'CALLER#*') return action === 'dynamodb:BatchGetItem';
  // Only where that of the finalizer was lost.
  if (target === 'PENDING#*') return action === 'dynamodb:DeleteItem';
  if (target !== 'IDEMPOTENCY#*') return false;
  const isLarge = action === 'dynamodb:BatchGetItem';
  return role === 'PublishNodeVersionRole'
    ? isLarge || action === 'dynamodb:DeleteItem'
    : role === 'RelightImageRole' && isLarge;
}

/** An archive is published, and then read for host nodes; then a sweep runs. */
async function extractPublished(): Promise<void> {
  const upload = await publish('granted-extraction', '1.0.0');
  const archive = await demoArchive('1.0.0');
  await put(upload, archive);
  await finalizeUpload(eventOf(upload), context);
  const lost = await publish('granted-extraction', '2.0.0');
  await put(lost, archive);
  await finalizeUpload(eventOf(lost), context);
  needs.length = 0;
  await extractHostNodes(extractionEvent(upload, archive), context);
  await extractHostNodes({ source: 'aws.events' } as Parameters<typeof extractHostNodes>[0], context);
}

/** A version is published, and the stream says so; then its publisher changes. */
async function indexPublished(): Promise<void> {
  const upload = await publish('granted-index', '1.0.0');
  await put(upload, await demoArchive('1.0.0'));
  await finalizeUpload(eventOf(upload), context);
  const keys = [nodeKey('granted-index'), nodeVersionKey('granted-index', '1.0.0'), publisherKey('demo')];
  needs.length = 0;
  await writeIndex(streamEventOf(...keys), context);
}

/** A paid request with a key crashed a while ago, after it had been sent; then spending is swept. */
async function leaveAndSweep(): Promise<void> {
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 10 * 60 * 1000);
  const caller = `user:${randomUUID()}`;
  const soon = { deadline: Date.now() + 5000 };
  const { at } = await reserve(soon, { caller, ceiling: 20 });
  const attempt = { caller, at, id: randomUUID() };
  await openUsage(soon, { attempt, ceiling: 20, operation: 'textToVideo', requestId: 'r', keyHash: 'k' });
  now.mockRestore();
  needs.length = 0;
  await sweepSpending({}, context);
}

/** An upload is finalized, and its event comes a second time; another one is refused; then a sweep runs. */
async function finalizeAndSweep(): Promise<void> {
  const upload = await publish('granted', '1.0.0');
  const archive = await demoArchive('1.0.0');
  await put(upload, archive);
  const refused = await publish('granted', '2.0.0');
  await put(refused, Buffer.from('no zip'));
  // A finalizer that died right after its copy has left this.
  await putObject(archiveKey(upload, sha256(archive)), archive);
  needs.length = 0;
  await finalizeUpload(eventOf(upload), context);
  await finalizeUpload(eventOf(upload), context);
  await finalizeUpload(eventOf(refused), context);
  await finalizeUpload({ source: 'aws.events' } as Parameters<typeof finalizeUpload>[0], context);
}
