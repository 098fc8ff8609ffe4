import { beforeAll, describe, expect, test } from '@jest/globals';
import * as finalizing from '../../../lib/registry/finalizing.ts';
import { nodeVersionRecord } from '../../../lib/registry/records.ts';
import { nodeVersionView } from '../../../lib/registry/node-versions.ts';
import { ApiError } from '../../../lib/errors.ts';
import { owe } from '../../../lib/work/owe.ts';
import { laneOf } from '../../../lib/work/lanes.ts';
import type { Item } from '../../../lib/store/items.ts';
import { nodeKey, nodeVersionKey, personalAccessTokenKey, trustKey } from '../../../lib/store/keys.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import type { Upload } from '../../../lib/bucket/object-keys.ts';
import { addTrust, removeTrust } from '../../../tools/admin/registry/trusts.ts';
import { demo } from '../../../tools/local/demo.ts';
import { seed } from '../../../tools/local/seed.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext } from '../../support/intercept.ts';
import { lines, loggedLines } from '../../support/logged-lines.ts';
import { countRequests, setFields, storedNode } from '../../support/registry.ts';
import { publish, storedVersion } from '../../support/uploads.ts';

const archive = { key: 'archives/a.zip', sizeBytes: 7, sha256: 'a digest' };
const soon = () => ({ deadline: Date.now() + 10_000 });
const recordOf = async ({ nodeId, version }: Upload) =>
  nodeVersionRecord(await storedVersion(nodeId, version));
const found = async (upload: Upload) => finalizing.obstacleTo(soon(), await recordOf(upload));
const activate = async (upload: Upload) => finalizing.activate(soon(), await recordOf(upload), archive);
const complete = ({ nodeId, version }: Upload) => finalizing.finishPublishing(soon(), nodeId, version);

beforeAll(seed);

async function latestOf(nodeId: string): Promise<unknown> {
  return (await storedNode(nodeId))?.latest_version?.version;
}

/** A version after some updates, without the random mark of a write. */
const changed = (version: Item, revision: number): Item => ({
  ...version,
  revision,
  write_id: expect.any(String),
});

describe('activate', () => {
  test('makes the version of an awaited upload active, and leaves nothing of its rejections', async () => {
    stopDate();
    const upload = await publish('awaited', '1.0.0');
    const before = await storedVersion('awaited', '1.0.0');
    const reject = (bytes: string, version: Item = before) =>
      finalizing.reject(soon(), nodeVersionRecord(version), bytes, 'no zip');
    // Two finalizers of the same bytes.
    expect([await reject('bytes'), await reject('bytes'), await reject('others')]).toEqual([
      true,
      true,
      true,
    ]);
    const reason = { status_reason_code: 'archive_rejected', status_reason: 'no zip' };
    const rejected = { ...changed(before, 3), ...reason, rejected_objects: ['bytes', 'others'] };
    expect(await storedVersion('awaited', '1.0.0')).toEqual(rejected);
    expect(await reject('bytes', { ...before, upload_id: 'earlier' })).toBe(false);
    expect(await activate(upload)).toBe(true);

    const { status_reason: _, status_reason_code: __, upload_id: ___, ...kept } = changed(before, 4);
    expect(await storedVersion('awaited', '1.0.0')).toEqual({
      ...kept,
      status: 'NodeVersionStatusActive',
      archive_key: archive.key,
      downloadUrl: expect.stringMatching(/\/archives\/a\.zip$/),
      size_bytes: archive.sizeBytes,
      sha256: archive.sha256,
      published_at: new Date().toISOString(),
    });
  });

  const { publisherId } = demo;
  const tokenOf = async (nodeId: string) =>
    personalAccessTokenKey(publisherId, String((await storedVersion(nodeId, '1.0.0')).token_hash));
  const setStatus = (status: string) => async (nodeId: string) =>
    setFields({ pk: `NODE#${nodeId}`, sk: 'NODE' }, { status });
  const setToken = (revoked_at: string | null) => async (nodeId: string) =>
    setFields(await tokenOf(nodeId), { revoked_at });
  const revoke = setToken('2026-01-01T00:00:00Z');
  const setPublisher = (banned: true | null) => () =>
    setFields({ pk: `PUBLISHER#${publisherId}`, sk: 'PUBLISHER' }, { banned });

  /** Written directly, because the administration would also ban the pending version. */
  const obstacles = [
    ['node_banned', 'The node is banned.', setStatus('NodeStatusBanned'), setStatus('NodeStatusActive')],
    ['node_deleted', 'The node is withdrawn.', setStatus('NodeStatusDeleted'), setStatus('NodeStatusActive')],
    ['publisher_banned', 'The publisher is banned.', setPublisher(true), setPublisher(null)],
    ['token_revoked', 'The token that this version was published with is revoked.', revoke, setToken(null)],
    [
      ...(['member_removed', 'Who published it is no longer a member of the publisher.'] as const),
      (nodeId: string) =>
        setFields(nodeVersionKey(nodeId, '1.0.0'), { by_member: true, published_by: 'left' }),
      (nodeId: string) => setFields(nodeVersionKey(nodeId, '1.0.0'), { by_member: null }),
    ],
  ] as const;

  test.each(obstacles)(
    'does not activate a version while its state is %s, and does after that has ended',
    async (code, sentence, begin, end) => {
      const upload = await publish(`obstacle-${sentence.replaceAll(/\W/g, '').toLowerCase()}`, '1.0.0');
      await begin(upload.nodeId);

      const expected = {
        status_reason_code: code,
        status_reason: `The archive was not published: ${sentence} Once that has changed, publish this version again.`,
      };
      expect(await found(upload)).toEqual(expected);
      expect(await activate(upload)).toBe(false);
      expect(await storedVersion(upload.nodeId, '1.0.0')).toMatchObject({
        status: 'NodeVersionStatusPending',
      });
      await end(upload.nodeId);
      expect(await activate(upload)).toBe(true);
    },
  );

  test('does not wait for others of one publisher and token', async () => {
    const uploads = await Promise.all(
      Array.from({ length: 12 }, (_, index) => publish(`beside-${index}`, '1.0.0')),
    );
    const { result, requests } = await countRequests(() => Promise.all(uploads.map(activate)));

    expect(result).toEqual(Array(12).fill(true));
    expect(requests.filter((command) => command !== 'BatchGetItemCommand')).toEqual(
      Array(12).fill('UpdateItemCommand'),
    );
  });

  test('does not activate a version of a CI job while the publisher does not trust its workflow', async () => {
    const upload = await publish('obstacle-trust', '1.0.0');
    const job = { issuer: 'https://ci.example', repository: 'acme/pack', workflow: 'release.yml' };
    const { id } = await addTrust({ operator: 'admin' }, publisherId, job);
    await setFields(nodeVersionKey('obstacle-trust', '1.0.0'), { trust_id: id });
    await removeTrust({ operator: 'admin' }, publisherId, id);

    expect(await activate(upload)).toBe(false);
    expect(await found(upload)).toMatchObject({
      status_reason_code: 'trust_revoked',
      status_reason: expect.stringContaining('no longer trusts the workflow that published it.'),
    });
    await setFields(trustKey(publisherId, id), { revoked_at: null });
    expect(await activate(upload)).toBe(true);
  });
});

/** Whether anything is left for the finalizer to do. */
async function isLeft(nodeId: string, version: string): Promise<boolean> {
  return laneOf(nodeVersionRecord(await storedVersion(nodeId, version))) === 'finalize';
}

describe('complete', () => {
  test('makes an active version the latest and lists it for its extraction instead, once', async () => {
    const upload = await publish('completed', '1.0.0');
    await activate(upload);
    const active = await storedVersion('completed', '1.0.0');
    stopDate(Date.now() + 60_000);
    await complete(upload);

    const [version, node] = [await storedVersion('completed', '1.0.0'), await storedNode('completed')];
    expect(version).toEqual({
      ...changed(active, 3),
      ...owe('extract', nodeVersionKey('completed', '1.0.0'), 'demo'),
    });
    const { archive_key, published_at } = active;
    const { downloadUrl: _, ...shown } = nodeVersionView(nodeVersionRecord(active));
    expect(node?.latest_version).toEqual({ ...shown, archive_key, published_at });
    await complete(upload);
    expect([await storedVersion('completed', '1.0.0'), await storedNode('completed')]).toEqual([
      version,
      node,
    ]);
  });

  test('leaves the latest version as it is if the node has no room for another', async () => {
    const upload = await publish('grown', '1.0.0');
    await setFields(nodeVersionKey('grown', '1.0.0'), { changelog: 'x'.repeat(110_000) });
    // Two edits that fit alone, of one moment.
    await setFields(nodeKey('grown'), { description: 'x'.repeat(160_000), license: 'x'.repeat(160_000) });
    await activate(upload);
    loggedLines.length = 0;
    await complete(upload);

    expect(await isLeft('grown', '1.0.0')).toBe(false);
    expect(await latestOf('grown')).toBeUndefined();
    expect(lines()).toMatchObject([
      { level: 'warn', event: 'latest_version_too_large', node_id: 'grown', version: '1.0.0' },
    ]);
    // Other tests ban all nodes of the publisher.
    await setFields(nodeKey('grown'), { description: '', license: '' });
  });

  test.each([new ApiError('unavailable'), new Error('broken')])(
    'keeps the version on the list if its latest version cannot be moved: %s',
    async (failure) => {
      const upload = await publish(`stuck-${failure.message.length}`, '1.0.0');
      await activate(upload);
      beforeNext(dynamodb, /^TransactWriteItemsCommand$/, () => Promise.reject(failure));

      await expect(complete(upload)).rejects.toBe(failure);
      expect(await isLeft(upload.nodeId, '1.0.0')).toBe(true);
      await complete(upload);
      expect(await latestOf(upload.nodeId)).toBe('1.0.0');
    },
  );

  test('reads once and writes twice without interference', async () => {
    const upload = await publish('undisturbed', '1.0.0');
    await activate(upload);
    const { requests } = await countRequests(() => complete(upload));

    const [read, ...writes] = requests;
    expect(read).toBe('BatchGetItemCommand');
    expect(writes.sort()).toEqual(['TransactWriteItemsCommand', 'UpdateItemCommand']);
  });

  test('leaves a pending version on the pending list, and ignores a missing one', async () => {
    const upload = await publish('pending', '1.0.0');
    const before = await storedVersion('pending', '1.0.0');
    await complete(upload);
    await complete({ ...upload, version: '9.9.9' });

    expect(await storedVersion('pending', '1.0.0')).toEqual(before);
    expect(await latestOf('pending')).toBeUndefined();
    expect(await storedVersion('pending', '9.9.9')).toEqual({});
  });
});
