import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Upload } from '../../../lib/upload.ts';
import {
  activateVersion,
  findUploadState,
  refuseUpload,
  settleVersion,
} from '../../../lib/registry/finalizing.ts';
import { banNodeVersion, flagNodeVersion } from '../../../tools/admin/registry/node-versions.ts';
import { dynamodb } from '../../../lib/store/table.ts';
import { seed } from '../../../tools/local/seed.ts';
import { storedNode } from '../../support/registry.ts';
import { publish, storedVersion } from '../../support/uploads.ts';

const archive = { downloadUrl: 'https://example.com/a.zip', sizeBytes: 7, sha256: 'a digest' };
const deadline = () => Date.now() + 10_000;
const settle = ({ nodeId, version }: Upload) => settleVersion(nodeId, version, deadline());

beforeAll(async () => {
  await seed();
});

afterEach(() => {
  dynamodb.middlewareStack.remove('meanwhile');
});

/** Lets something happen right before a command of this name, each time or only the first. */
function meanwhile(command: string, work: () => Promise<unknown>, isEachTime = false): void {
  let isDue = true;
  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === command && isDue) {
        isDue = false;
        await work();
        isDue = isEachTime;
      }
      return next(args);
    },
    { step: 'initialize', name: 'meanwhile' },
  );
}

async function latestOf(nodeId: string): Promise<unknown> {
  const latest = (await storedNode(nodeId))?.latest_version as { version?: string } | undefined;
  return latest?.version;
}

interface Meeting {
  state: string;
  what: string;
  /** What happens before it, or how it differs from the upload that is awaited. */
  before?: (upload: Upload) => Promise<unknown>;
  differs?: Partial<Upload>;
}

const meetings: Meeting[] = [
  { state: 'superseded', what: 'a later publish', before: ({ nodeId, version }) => publish(nodeId, version) },
  { state: 'published', what: 'an active version', before: (upload) => activateVersion(upload, archive) },
  { state: 'published', what: 'a ban', before: ({ nodeId }) => banNodeVersion(nodeId, '1.0.0', 'test') },
  { state: 'unknown', what: 'another version id', differs: { versionId: 'another' } },
  { state: 'unknown', what: 'a version that is not there', differs: { version: '9.9.9' } },
];

describe('an upload', () => {
  test('that is awaited makes its version active, or says why not', async () => {
    const upload = await publish('awaited', '1.0.0');
    expect(await findUploadState(upload, deadline())).toBe('awaited');
    expect(await refuseUpload(upload, 'too large')).toBe(true);
    expect(await storedVersion('awaited', '1.0.0')).toMatchObject({
      status: 'NodeVersionStatusPending',
      status_reason: 'too large',
    });
    expect(await activateVersion(upload, archive)).toBe(true);

    const version = await storedVersion('awaited', '1.0.0');
    expect(version).toMatchObject({
      status: 'NodeVersionStatusActive',
      downloadUrl: archive.downloadUrl,
      size_bytes: archive.sizeBytes,
      sha256: archive.sha256,
    });
    expect(version).not.toHaveProperty('status_reason');
    expect(version).not.toHaveProperty('upload_id');
  });

  test.each(meetings)(
    'that meets $what is $state, and changes nothing',
    async ({ state, what, ...meeting }) => {
      const nodeId = what.replaceAll(' ', '-');
      const upload = { ...(await publish(nodeId, '1.0.0')), ...meeting.differs };
      await meeting.before?.(upload);
      const before = await storedVersion(nodeId, '1.0.0');

      expect(await findUploadState(upload, deadline())).toBe(state);
      expect(await activateVersion(upload, archive)).toBe(false);
      expect(await refuseUpload(upload, 'too late')).toBe(false);
      expect(await storedVersion(nodeId, '1.0.0')).toEqual(before);
    },
  );

  test('waits where the store is down', async () => {
    const upload = await publish('store-down', '1.0.0');
    meanwhile('UpdateItemCommand', () =>
      Promise.reject(Object.assign(new Error(), { name: 'TimeoutError' })),
    );

    await expect(activateVersion(upload, archive)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('settling', () => {
  test('makes an active version the latest and takes it off the list, once', async () => {
    const upload = await publish('settled', '1.0.0');
    await activateVersion(upload, archive);
    expect(await storedVersion('settled', '1.0.0')).toHaveProperty('pending_shard');
    await settle(upload);

    const [version, node] = [await storedVersion('settled', '1.0.0'), await storedNode('settled')];
    expect(version).not.toHaveProperty('pending_shard');
    expect(version).not.toHaveProperty('pending_since');
    expect(node?.latest_version).toMatchObject({ id: upload.versionId, sha256: archive.sha256 });
    await settle(upload);
    expect([await storedVersion('settled', '1.0.0'), await storedNode('settled')]).toEqual([version, node]);
  });

  test('leaves a pending version on the list, and passes over one that is not there', async () => {
    const upload = await publish('pending', '1.0.0');
    const before = await storedVersion('pending', '1.0.0');
    await settle(upload);
    await settle({ ...upload, version: '9.9.9' });

    expect(await storedVersion('pending', '1.0.0')).toEqual(before);
    expect(await latestOf('pending')).toBeUndefined();
    expect(await storedVersion('pending', '9.9.9')).toEqual({});
  });

  test.each([
    ['rises', ['1.0.0', '2.0.0'], '2.0.0'],
    ['does not fall', ['2.0.0', '1.0.0'], '2.0.0'],
  ])('lets a latest version that %s', async (label, versions, latest) => {
    const nodeId = `order-${label.replaceAll(' ', '-')}`;
    for (const version of versions) {
      const upload = await publish(nodeId, version);
      await activateVersion(upload, archive);
      await settle(upload);
      expect(await storedVersion(nodeId, version)).not.toHaveProperty('pending_shard');
    }

    expect(await latestOf(nodeId)).toBe(latest);
  });

  test('decides anew where another version became the latest meanwhile', async () => {
    const [first, low, high] = [
      await publish('overtaken', '1.0.0'),
      await publish('overtaken', '2.0.0'),
      await publish('overtaken', '3.0.0'),
    ];
    for (const upload of [first, low, high]) await activateVersion(upload, archive);
    await settle(first);
    meanwhile('TransactWriteItemsCommand', () => settle(high));
    await settle(low);

    expect(await latestOf('overtaken')).toBe('3.0.0');
    expect(await storedVersion('overtaken', '2.0.0')).not.toHaveProperty('pending_shard');
  });

  test('decides anew where the first of all versions became the latest meanwhile', async () => {
    const [low, high] = [await publish('first', '1.0.0'), await publish('first', '2.0.0')];
    for (const upload of [low, high]) await activateVersion(upload, archive);
    meanwhile('TransactWriteItemsCommand', () => settle(high));
    await settle(low);

    expect(await latestOf('first')).toBe('2.0.0');
  });

  test('never makes a version the latest that was banned meanwhile', async () => {
    const upload = await publish('banned', '1.0.0');
    await activateVersion(upload, archive);
    meanwhile('TransactWriteItemsCommand', () => banNodeVersion('banned', '1.0.0', 'test'));
    await settle(upload);

    expect(await latestOf('banned')).toBeUndefined();
    expect(await storedVersion('banned', '1.0.0')).not.toHaveProperty('pending_shard');
  });

  test('keeps a version on the list whose status changed after it was judged', async () => {
    const upload = await publish('changed', '1.0.0');
    await activateVersion(upload, archive);
    meanwhile('UpdateItemCommand', () => flagNodeVersion('changed', '1.0.0', 'test'));
    await settle(upload);

    expect(await storedVersion('changed', '1.0.0')).toHaveProperty('pending_shard');
  });

  test('gives up, to be tried again, where it loses every round', async () => {
    const upload = await publish('contested', '1.0.0');
    await activateVersion(upload, archive);
    let rounds = 0;
    const lose = async () => {
      rounds += 1;
      throw new TransactionCanceledException({
        message: 'lost',
        $metadata: {},
        CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
      });
    };
    dynamodb.middlewareStack.add(
      (next, context) => (args) =>
        context.commandName === 'TransactWriteItemsCommand' ? lose() : next(args),
      { step: 'initialize', name: 'meanwhile' },
    );

    await expect(settle(upload)).rejects.toMatchObject({ code: 'conflict' });
    expect(rounds).toBe(100);
    expect(await storedVersion('contested', '1.0.0')).toHaveProperty('pending_shard');
  });
});
