import { waitForUpload } from '../../../lib/registry/node-versions.ts';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { VersionLabel } from '@node-registry/registry-rules/version-label';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { nodeKey, nodeVersionKey, personalAccessTokenKey } from '../../../lib/store/keys.ts';
import { latestOf } from '../../../lib/registry/node-versions.ts';
import type { VersionCopy } from '../../../lib/registry/records.ts';
import { registerVersion } from '../../../lib/registry/publish.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { revokePersonalAccessToken } from '../../../tools/admin/registry/tokens.ts';
import { lines } from '../../support/logged-lines.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, intercept } from '../../support/intercept.ts';
import {
  addNode,
  addPublisher,
  addToken,
  addVersion,
  countRequests,
  setFields,
  storedItem,
  storedNode,
} from '../../support/registry.ts';

type Publication = Extract<Parameters<typeof registerVersion>[1], { tokenHash: string }>;

const tokens: Record<string, string> = {};

beforeAll(async () => {
  await addPublisher('acme', { mats: 'member' });
  await addPublisher('rival', {});
  for (const id of ['acme', 'rival']) tokens[id] = hashPersonalAccessToken(await addToken(id));
});

function publish(nodeId: string, publication: Partial<Publication> = {}) {
  const publisherId = publication.publisherId ?? 'acme';
  return registerVersion(
    { deadline: Date.now() + 10_000 },
    {
      publisherId,
      nodeId,
      node: {},
      version: { version: VersionLabel.parse('1.0.0') },
      tokenHash: String(tokens[publisherId]),
      caller: undefined,
      ...publication,
    },
  );
}

const storedVersion = (nodeId: string) => storedItem(`NODE#${nodeId}`, 'VERSION#1.0.0');

describe('publishing a version', () => {
  test('creates the node with its first version, and puts the version on the pending list', async () => {
    const node = { name: 'First', id: 'ignored' };
    const began = new Date().toISOString();
    const { version, upload } = await publish('First', { node });
    const [record, born] = [await storedVersion('first'), await storedNode('first')];

    expect(version).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      node_id: 'First',
      version: '1.0.0',
      createdAt: expect.stringMatching(/^\d{4}-/),
      status: 'NodeVersionStatusPending',
      status_reason: 'Waiting for the archive: PUT it to the signedUrl of the publish answer.',
      status_reason_code: 'awaiting_upload',
      host_node_extract_status: 'pending',
    });
    const named = { nodeId: 'First', version: '1.0.0', versionId: version.id };
    expect(upload).toEqual({ ...named, uploadId: record?.upload_id });
    expect(String(version.createdAt) >= began).toBe(true);
    expect(record).toEqual({
      ...version,
      ...nodeVersionKey('first', '1.0.0'),
      publisher_id: 'acme',
      token_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      token_hash: tokens.acme,
      revision: 1,
      upload_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...waitForUpload(nodeVersionKey('first', '1.0.0'), 'acme', Date.parse(String(version.createdAt))),
    });
    expect(born).toEqual({
      ...nodeKey('first'),
      id: 'First',
      name: 'First',
      publisher_id: 'acme',
      status: 'NodeStatusActive',
      created_at: expect.stringMatching(/^\d{4}-/),
      versions: 1,
      revision: 1,
    });
  });

  test('stores who published it, and lists the node under its publisher', async () => {
    stopDate();
    await publish('Attributed', { caller: { userId: 'mats', isAdmin: false } });

    expect(await storedVersion('attributed')).toMatchObject({ published_by: 'mats' });
    const { version } = await publish('ATTRIBUTED', { version: { version: VersionLabel.parse('2.0.0') } });
    expect(version.node_id).toBe('Attributed');
    const [pk, sk, created_at] = ['OWNED#acme', 'NODE#attributed', new Date().toISOString()];
    expect(await storedItem(pk, sk)).toEqual({ pk, sk, node_id: 'Attributed', created_at });
  });

  test('keeps the id and the creation time of a pending version', async () => {
    const before = await publish('again', {
      version: { version: VersionLabel.parse('1.0.0'), changelog: 'before' },
    });
    const { result, requests } = await countRequests(() => publish('again'));

    const { changelog: _, ...kept } = before.version;
    expect(result.version).toEqual(kept);
    expect(requests).toEqual(['BatchGetItemCommand', 'TransactWriteItemsCommand']);
  });

  test('lists a resumed version by its new publish, where a sweep of the last hours finds it', async () => {
    await publish('listed-again');
    const since = '2026-01-01T00:00:00.000Z';
    await setFields(nodeVersionKey('listed-again', '1.0.0'), { createdAt: since, pending_since: since });
    const began = new Date().toISOString();
    await publish('listed-again');

    const { createdAt, pending_since = '' } = (await storedVersion('listed-again')) ?? {};
    expect(createdAt).toBe(since);
    expect(String(pending_since) >= began).toBe(true);
  });

  test('accepts the fields of admins from an admin only, and names them to others', async () => {
    const words = { tags_admin: ['safe'] };
    const version = { ...words, version: VersionLabel.parse('1.0.0') };
    const caller = (isAdmin: boolean) => ({ userId: 'mats', isAdmin });
    await publish('words-of-an-admin', { version, node: words, caller: caller(true) });
    await publish('words-of-an-admin', { caller: caller(false) });

    const rejection = (path: string) => ({ code: 'forbidden', details: [{ path: `${path}.tags_admin` }] });
    for (const asker of [{ caller: caller(false) }, {}]) {
      const rejected = [
        publish('fields', { version, ...asker }),
        publish('fields', { node: words, ...asker }),
      ];
      await expect(rejected[0]).rejects.toMatchObject(rejection('body.node_version'));
      await expect(rejected[1]).rejects.toMatchObject(rejection('body.node'));
    }
    expect(await storedNode('fields')).toBeUndefined();
    expect(await storedVersion('words-of-an-admin')).toMatchObject(words);
    expect(await storedNode('words-of-an-admin')).toMatchObject(words);
  });

  test('rejects a publish whose node would be too large', async () => {
    await addNode('acme', 'full', { description: 'x'.repeat(200_000), latest_version: 'x'.repeat(100_000) });
    await publish('full');

    const more = { version: { version: VersionLabel.parse('2.0.0') }, node: { license: 'x'.repeat(60_000) } };
    await expect(publish('full', more)).rejects.toMatchObject({ code: 'record_too_large' });
  });
});

describe('the message of a rejected publish', () => {
  test.each([
    [
      'told-deleted',
      'The node is withdrawn and takes no new version. Update it with status NodeStatusActive, then publish again.',
    ],
    ['told-active', 'This version has been published. Publish a new version instead.'],
    ['told-banned', 'This version is banned; publish a new version instead.'],
  ])('says what to do for %s', async (nodeId, message) => {
    await addNode('acme', 'told-deleted', { status: 'NodeStatusDeleted' });
    for (const [id, status] of [
      ['told-active', 'NodeVersionStatusActive'],
      ['told-banned', 'NodeVersionStatusBanned'],
    ] as const) {
      await addNode('acme', id);
      await addVersion('acme', id, '1.0.0', { status });
    }

    await expect(publish(nodeId)).rejects.toMatchObject({ message });
  });

  test('names the field of a publish that would change the status', async () => {
    await addNode('acme', 'told-status');
    const details = [{ path: 'body.node.status' }];
    for (const status of ['NodeStatusBanned', 'NodeStatusDeleted'] as const)
      for (const isAdmin of [true, false]) {
        const request = { node: { status }, caller: { userId: 'mats', isAdmin } };
        await expect(publish('told-status', request)).rejects.toMatchObject({ details });
      }
  });
});

describe('the personal access token of a publish', () => {
  const invalid = { code: 'invalid_personal_access_token' };

  const revoke = async (hash: string) => {
    await revokePersonalAccessToken({ operator: 'admin' }, 'acme', String((await storedToken(hash))?.id));
  };

  function storedToken(hash: string) {
    const { pk, sk } = personalAccessTokenKey('acme', hash);
    return storedItem(pk, sk);
  }

  test('records no use after it was revoked', async () => {
    const tokenHash = hashPersonalAccessToken(await addToken('acme'));
    beforeNext(dynamodb, /^UpdateItemCommand$/, () => revoke(tokenHash));
    await publish('used-last', { tokenHash });

    expect(await storedToken(tokenHash)).toHaveProperty('revoked_at');
    expect(await storedToken(tokenHash)).not.toHaveProperty('last_used_at');
  });

  test('records its last use at most once a minute', async () => {
    const tokenHash = hashPersonalAccessToken(await addToken('acme'));
    const uses = async () => (await storedToken(tokenHash))?.last_used_at;
    await publish('used', { tokenHash });
    const first = await uses();
    await publish('used', { tokenHash });
    expect(await uses()).toBe(first);

    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    await publish('used', { tokenHash });
    expect(await uses()).not.toBe(first);
  });

  test('publishes without delay even if its last use cannot be stored', async () => {
    const tokenHash = hashPersonalAccessToken(await addToken('acme'));
    let tries = 0;
    intercept(dynamodb, async ({ command, input, send }) => {
      if (command !== 'UpdateItemCommand' || !JSON.stringify(input.Key).includes('TOKEN#')) return send();
      tries += 1;
      throw Object.assign(new Error('boom'), { name: 'ThrottlingException' });
    });
    const { id } = (await storedToken(tokenHash)) ?? {};

    expect((await publish('unmarked', { tokenHash })).version.version).toBe('1.0.0');
    const causes = expect.arrayContaining(['ThrottlingException: boom']);
    const line = { level: 'warn', event: 'credential_use', credential_id: id, causes };
    expect(lines()).toContainEqual(expect.objectContaining(line));
    expect(tries).toBe(1);
  });

  test('publishes until it expires, to the millisecond', async () => {
    const tokenHash = hashPersonalAccessToken(await addToken('acme'));
    const end = String((await storedToken(tokenHash))?.expires_at);
    const justBefore = new Date(Date.parse(end) - 1).toISOString();
    jest.spyOn(Date.prototype, 'toISOString').mockReturnValue(justBefore);
    await publish('in-time', { tokenHash });
    jest.spyOn(Date.prototype, 'toISOString').mockReturnValue(end);

    await expect(publish('late', { tokenHash })).rejects.toMatchObject(invalid);
  });
});

const active = 'NodeVersionStatusActive';

const [old, recent] = [{ published_at: '2026-01-01' }, { published_at: '2026-01-02' }];

test.each<[string, string | undefined, ...[version: string, fields?: object][]]>([
  ['the highest version', '1.10.0', ['1.2.0'], ['1.10.0'], ['1.9.0']],
  ['a stable version before a pre-release', '1.0.0', ['2.0.0-beta'], ['1.0.0'], ['3.0.0-rc.1']],
  ['the highest pre-release alone', '1.0.0-rc.10', ['1.0.0-rc.2'], ['1.0.0-rc.10'], ['1.0.0-rc.9']],
  ['a flagged version', '2.0.0', ['1.0.0'], ['2.0.0', { status: 'NodeVersionStatusFlagged' }]],
  ['no pending version', '1.0.0', ['1.0.0'], ['2.0.0', { status: 'NodeVersionStatusPending' }]],
  ['no banned version', '1.0.0', ['1.0.0'], ['2.0.0', { status: 'NodeVersionStatusBanned' }]],
  ['no deleted version', '1.0.0', ['1.0.0'], ['2.0.0', { status: 'NodeVersionStatusDeleted' }]],
  ['the later of two builds', '1.0.0+a', ['1.0.0+a', recent], ['1.0.0+b', old]],
  ['the build that was published at all', '1.0.0+b', ['1.0.0+a'], ['1.0.0+b', old]],
  ['nothing of nothing', undefined],
])('latestOf chooses %s', (_, latest, ...versions) => {
  const items = versions.map(([version, fields]) => ({ id: version, version, status: active, ...fields }));

  for (const each of [items, items.toReversed()])
    expect(latestOf(each as VersionCopy[])?.version).toBe(latest);
});
