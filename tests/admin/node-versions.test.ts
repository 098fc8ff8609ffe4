import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { handler as bulk } from '../../functions/bulk-node-versions.ts';
import { handler as publish } from '../../functions/publish-node-version.ts';
import { nodeKey, nodeVersionKey } from '../../lib/store/keys.ts';
import { s3 } from '../../lib/bucket/bucket.ts';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { admin, adminJson } from '../support/admin.ts';
import { intercept } from '../support/intercept.ts';
import { putObject } from '../support/uploads.ts';
import { invoke } from '../support/invoke.ts';
import {
  addNode,
  addPublisher,
  addToken,
  addVersion,
  countRequests,
  setFields,
  storedItem,
  storedNode,
} from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';

const reason = ['--reason', 'Steals keys: go back'];
let token: string;
let nodeId: string;

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  token = await addToken('acme');
});

beforeEach(async () => {
  nodeId = `node-${randomUUID()}`;
  await addNode('acme', nodeId);
});

/** Stores active versions and lets the node's latest version follow, as a ban and its unban do. */
async function addActive(...versions: string[]): Promise<void> {
  for (const version of versions)
    await addVersion('acme', nodeId, version, { archive_key: `${version}.zip` });
  await admin('node-version', 'ban', nodeId, versions[0] ?? '', ...reason);
  await admin('node-version', 'unban', nodeId, versions[0] ?? '');
}

async function inBulk(version: string) {
  const { body } = await invoke(bulk, 'bulk-node-versions', {
    body: { node_versions: [{ node_id: nodeId, version }] },
  });
  return body.node_versions[0].node_version;
}

async function latestVersion(): Promise<string | undefined> {
  return (await adminJson('node', 'show', nodeId)).latest_version?.version;
}

async function storedVersion(version: string) {
  return (await storedItem(nodeVersionKey(nodeId, version))) ?? {};
}

function publishVersion(version: string) {
  return invoke(publish, 'publish-node-version', {
    path: { publisherId: 'acme', nodeId },
    headers: { authorization: bearer('olga') },
    body: { personal_access_token: token, node: {}, node_version: { version } },
  });
}

describe('node-version ban', () => {
  test('stops the download for every caller and changes the node in one transaction, and unban restores exactly the earlier state', async () => {
    await addActive('1.0.0', '1.1.0');
    const before = await inBulk('1.1.0');
    const ban = () => admin('node-version', 'ban', nodeId, 'v1.1', ...reason);
    const { requests } = await countRequests(ban);
    const [banned, latest] = [await inBulk('1.1.0'), await latestVersion()];
    const again = await adminJson('node-version', 'ban', nodeId, '1.1.0', '--reason', 'Worse');
    const unban = () => admin('node-version', 'unban', nodeId, '1.1.0');
    const lifted = [await unban(), await unban()];

    expect(requests.filter((name) => name === 'TransactWriteItemsCommand')).toHaveLength(1);
    expect(banned).toEqual({
      id: before.id,
      node_id: nodeId,
      version: '1.1.0',
      status: 'NodeVersionStatusBanned',
      createdAt: before.createdAt,
      status_reason: 'Steals keys: go back',
      status_reason_code: 'banned',
    });
    expect([latest, again.status_reason, lifted.map(({ status }) => status)]).toEqual([
      '1.0.0',
      'Worse',
      [0, 0],
    ]);
    expect(before.downloadUrl).toMatch(/\/1\.1\.0\.zip$/);
    expect([await inBulk('1.1.0'), await latestVersion()]).toEqual([before, '1.1.0']);
  });

  test('stops the publish of a pending version, and unban lets it resume and the next hand-over find it', async () => {
    const { body } = await publishVersion('1.0.0');
    await setFields(nodeVersionKey(nodeId, '1.0.0'), { pending_since: '2026-01-01T00:00:00.000Z' });
    const flagged = await admin('node-version', 'flag', nodeId, '1.0.0', ...reason);
    const before = await storedVersion('1.0.0');
    await admin('node-version', 'ban', nodeId, '1.0.0', ...reason);
    const kept = await storedVersion('1.0.0');
    const banned = await publishVersion('1.0.0');
    const lifted = new Date().toISOString();
    await admin('node-version', 'unban', nodeId, '1.0.0');
    const { pending_since, ...after } = await storedVersion('1.0.0');
    const resumed = await publishVersion('1.0.0');

    expect([flagged.status, flagged.stderr]).toEqual([
      1,
      `Version 1.0.0 of "${nodeId}" is pending; only active and flagged ones can be flagged.\n`,
    ]);
    expect([banned.status, banned.body.error]).toEqual([409, 'version_exists']);
    expect(before).toMatchObject({ pending_shard: expect.any(String), pending_since: expect.any(String) });
    // Once no finalizer that has begun before can copy its archive any more.
    expect(String(kept.pending_since) > new Date(Date.now() + 320_000).toISOString()).toBe(true);
    expect({ ...before, ...after, revision: before.revision }).toEqual(before);
    expect(String(pending_since) >= lifted).toBe(true);
    expect([resumed.status, resumed.body.node_version.id]).toEqual([201, body.node_version.id]);
  });
});

describe('node-version ban of many', () => {
  const [thief, other] = [randomUUID(), randomUUID()];
  const createdAt = '2026-11-01T00:00:00.000Z';
  const statusOf = async (version: string) => (await storedVersion(version)).status;

  test('bans all versions of a token or a trust, more than one batch of them, and no other', async () => {
    const stolen = Array.from({ length: 26 }, (_, patch) => `1.0.${patch}`);
    for (const version of stolen)
      await addVersion('acme', nodeId, version, {
        token_id: thief,
        createdAt,
        changelog: "thief's log",
        archive_key: `archives/${nodeId}/${version}/a.zip`,
      });
    await addVersion('acme', nodeId, '2.0.0', { token_id: other, createdAt });
    await addVersion('acme', nodeId, '3.0.0', { trust_id: thief, createdAt });
    for (const each of stolen) await putObject(`archives/${nodeId}/${each}/a.zip`, Buffer.from('zip'));
    const calls: string[] = [];
    for (const client of [dynamodb, s3()])
      intercept(client, async ({ command, send }) => {
        const output = await send();
        calls.push(`${command.replace('Command', '')} ${/thief's log/.test(JSON.stringify({ ...output }))}`);
        return output;
      });
    const { status, stdout } = await admin('node-version', 'ban', '--token', thief, ...reason);
    const times = (name: string) => calls.filter((call) => call.startsWith(name)).length;

    expect([status, stdout.match(/^Banned version/gm)?.length]).toEqual([0, 26]);
    // Each version costs its node's write too, and a list of all, so they share them; none waits for the last one's ban.
    expect([times('TransactWriteItems'), times('Scan true')]).toEqual([3, 0]);
    const bannedLast = calls.lastIndexOf('TransactWriteItems false');
    expect(calls.slice(0, bannedLast)).toContain('PutObjectTagging false');
    expect(new Set(await Promise.all(stolen.map(statusOf)))).toEqual(new Set(['NodeVersionStatusBanned']));
    await admin('node-version', 'ban', '--trust', thief, ...reason);
    expect([await statusOf('2.0.0'), await statusOf('3.0.0')]).toEqual([
      'NodeVersionStatusActive',
      'NodeVersionStatusBanned',
    ]);
  });

  test('bans those of a file, and reports one that is not there', async () => {
    await addVersion('acme', nodeId, '1.0.0');
    const file = join(String(process.env.TEST_DIRECTORY), `${nodeId}.txt`);
    await writeFile(file, `${nodeId} 9.9.9\n\n  ${nodeId}\t1.0.0\n`);
    const { status, stdout, stderr } = await admin('node-version', 'ban', '--file', file, ...reason);

    expect([status, await statusOf('1.0.0')]).toEqual([1, 'NodeVersionStatusBanned']);
    expect(stdout).toContain(`The node "${nodeId}" has no version "9.9.9".`);
    expect(stderr).toContain('1 of 2 could not be finished');
  });

  test.each([
    ['1.0.0 a\n\nonly-a-node', 2, 'Line 3 of '],
    [undefined, 1, "The file can't be read: ENOENT"],
  ])('bans nothing of a file with %j', async (text, status, sentence) => {
    const file = join(String(process.env.TEST_DIRECTORY), `${nodeId}-${status}.txt`);
    if (text !== undefined) await writeFile(file, text);
    const result = await admin('node-version', 'ban', '--file', file, ...reason);

    expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(sentence) });
  });

  test.each([[[]], [['a-node']], [['--token', 'a', '--trust', 'b']], [['a-node', '1.0.0', '--token', 'a']]])(
    'rejects %j',
    async (words) => {
      const { status, stderr } = await admin('node-version', 'ban', ...words, ...reason);

      expect([status, stderr]).toEqual([
        2,
        'Give a node and a version, or one of --token, --trust and --file.\n',
      ]);
    },
  );
});

describe('node ban and publisher ban', () => {
  const states = () => Promise.all(['1.0.0', '1.1.0', '1.2.0'].map(inBulk));

  test('stop the download of every version, and unbans in any order restore exactly those', async () => {
    await addActive('1.0.0', '1.1.0', '1.2.0');
    await admin('node-version', 'ban', nodeId, '1.1.0', ...reason);
    const before = await states();
    const seen: unknown[] = [];
    for (const line of [`node ban ${nodeId}`, 'publisher ban acme', `node unban ${nodeId}`]) {
      await admin(...line.split(' '), ...(line.includes('unban') ? [] : reason));
      seen.push((await states()).map((version) => [version.status_reason_code, version.downloadUrl]));
    }
    await admin('publisher', 'unban', 'acme');

    const of = (code: string) => [code, 'banned', code].map((each) => [each, undefined]);
    expect(seen).toEqual([of('node_banned'), of('node_banned'), of('publisher_banned')]);
    expect([await states(), await latestVersion()]).toEqual([before, '1.2.0']);
  });

  test('keep the state of a node that its owner had withdrawn, and lifting them restores it', async () => {
    const withdrawn = { status: 'NodeStatusDeleted', status_detail: 'Moved' };
    await setFields(nodeKey(nodeId), withdrawn);
    for (const why of ['A copy', 'Steals keys']) await admin('node', 'ban', nodeId, '--reason', why);
    const banned = await storedNode(nodeId);
    await admin('node', 'unban', nodeId);

    expect(banned).toMatchObject({ status: 'NodeStatusBanned', status_detail: 'Steals keys' });
    expect(await storedNode(nodeId)).toMatchObject(withdrawn);
    expect(await adminJson('history', 'node', nodeId)).toMatchObject([
      { action: 'node unban' },
      { action: 'node ban', detail: 'Steals keys' },
      { action: 'node ban', detail: 'A copy' },
    ]);
  });
});

test('node-version flag shows its last reason in bulk and in the node, keeps the download, and is written once', async () => {
  await addActive('1.0.0', '1.1.0');
  const before = await inBulk('1.1.0');
  const { revision } = await storedVersion('1.1.0');
  const change = async (...args: string[]) => {
    await admin('node-version', ...args);
    const { downloadUrl: _, ...shown } = await inBulk('1.1.0');
    // The node has the same, with the key of the archive for its address.
    expect((await storedNode(nodeId))?.latest_version).toEqual({ ...shown, archive_key: '1.1.0.zip' });
    return [shown.status_reason, Number((await storedVersion('1.1.0')).revision) - Number(revision)];
  };
  const flag = (why: string) => change('flag', nodeId, '1.1.0', '--reason', why);
  const revisions = [await flag('Under review'), await flag('Under review'), await flag('Confirmed')];
  const flagged = await inBulk('1.1.0');
  await change('unflag', nodeId, '1.1.0');

  expect(revisions).toEqual([
    ['Under review', 1],
    ['Under review', 1],
    ['Confirmed', 2],
  ]);
  expect(flagged).toEqual({
    ...before,
    status: 'NodeVersionStatusFlagged',
    status_reason: 'Confirmed',
    status_reason_code: 'flagged',
  });
  expect(await inBulk('1.1.0')).toEqual(before);
});

describe('node-version withdraw', () => {
  test('keeps the address and the label, and a restoration brings back the state before', async () => {
    await addActive('1.0.0', '1.1.0');
    await admin('node-version', 'flag', nodeId, '1.1.0', '--reason', 'Under review');
    const before = await inBulk('1.1.0');
    const { stdout } = await admin('node-version', 'withdraw', nodeId, '1.1.0', '--reason', 'Crashes');
    const withdrawn = await inBulk('1.1.0');
    const again = await admin('node-version', 'withdraw', nodeId, '1.1.0');
    const label = await publishVersion('1.1.0');

    expect(stdout).toBe(`Withdrew version 1.1.0 of "${nodeId}": it is withdrawn.\n`);
    expect(again.stdout).toBe(`Nothing changed: version 1.1.0 of "${nodeId}" is withdrawn.\n`);
    expect(withdrawn).toEqual({
      ...before,
      status: 'NodeVersionStatusDeleted',
      status_reason: 'Crashes',
      status_reason_code: 'withdrawn',
    });
    expect(withdrawn.downloadUrl).toEqual(expect.any(String));
    expect(label).toMatchObject({ status: 409, body: { error: 'version_exists' } });
    expect(await latestVersion()).toBe('1.0.0');
    await admin('node-version', 'withdraw', nodeId, '1.0.0');
    expect(await latestVersion()).toBeUndefined();
    await admin('node-version', 'restore', nodeId, '1.1.0');
    expect([await inBulk('1.1.0'), await latestVersion()]).toEqual([before, '1.1.0']);
    const actions = (await adminJson('history', 'node', nodeId)).map(
      ({ action }: { action: string }) => action,
    );
    expect(actions.slice(0, 3)).toEqual([
      ...['node-version restore', 'node-version withdraw', 'node-version withdraw'],
    ]);
  });

  test('outlasts a ban, which keeps its state until it is lifted', async () => {
    await addActive('1.0.0');
    await admin('node-version', 'withdraw', nodeId, '1.0.0');
    const withdrawn = await inBulk('1.0.0');
    await admin('node-version', 'ban', nodeId, '1.0.0', ...reason);
    const restored = await admin('node-version', 'restore', nodeId, '1.0.0');
    const banned = await inBulk('1.0.0');
    await admin('node-version', 'unban', nodeId, '1.0.0');

    expect(restored.stderr).toContain('is banned, and its state stays until the ban is lifted.');
    expect(banned).not.toHaveProperty('downloadUrl');
    expect(await inBulk('1.0.0')).toEqual(withdrawn);
  });

  test('drops a version that waits for its upload, whose label is free again', async () => {
    const { body } = await publishVersion('1.0.0');
    const before = await storedNode(nodeId);
    const { stdout } = await admin('node-version', 'withdraw', nodeId, '1.0.0');
    const dropped = await inBulk('1.0.0');
    const again = await publishVersion('1.0');

    expect(stdout).toBe(`Dropped version 1.0.0 of "${nodeId}": its label is free again.\n`);
    expect(dropped).toBeUndefined();
    expect(again).toMatchObject({ status: 201, body: { node_version: { version: '1.0.0' } } });
    expect(again.body.node_version.id).not.toBe(body.node_version.id);
    expect((await storedNode(nodeId))?.versions).toBe(before?.versions);
  });
});

test('node-version list shows the highest version first and marks the latest', async () => {
  await addActive('1.2.0', '1.9.0', '1.10.0');
  await admin('node-version', 'ban', nodeId, '1.10.0', ...reason);
  const { stdout } = await admin('node-version', 'list', nodeId);

  expect(stdout).toMatch(
    /^VERSION +IS LATEST +STATUS .*\n1\.10\.0 +no +banned .*\n1\.9\.0 +yes +active .*\n1\.2\.0 +no +active /,
  );
});
