import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { VersionLabel } from '@node-registry/registry-rules/version-label';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { nodeVersionKey, ownedNodeKey, personalAccessTokenKey } from '../../../lib/store/keys.ts';
import { latestOf } from '../../../lib/registry/node-versions.ts';
import type { VersionCopy } from '../../../lib/registry/records.ts';
import { registerVersion } from '../../../lib/registry/publish.ts';
import { revokeToken } from '../../../lib/registry/tokens.ts';
import { dynamodb } from '../../../lib/store/dynamodb.ts';
import { lines } from '../../support/logged-lines.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext, intercept } from '../../support/intercept.ts';
import {
  addNode,
  addPublisher,
  addToken,
  countRequests,
  setFields,
  soon,
  storedItem,
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
  return registerVersion(soon(), {
    publisherId,
    nodeId,
    node: {},
    version: { version: VersionLabel.parse('1.0.0') },
    tokenHash: String(tokens[publisherId]),
    caller: undefined,
    ...publication,
  });
}

const storedVersion = (nodeId: string) => storedItem(nodeVersionKey(nodeId, '1.0.0'));

describe('publishing a version', () => {
  test('stores who published it, and lists the node under its publisher', async () => {
    stopDate();
    await publish('Attributed', { caller: { userId: 'mats', isAdmin: false } });

    const stored = { published_by: 'mats', by_member: true, host_node_extract_status: 'pending' };
    expect(await storedVersion('attributed')).toMatchObject(stored);
    const { version } = await publish('ATTRIBUTED', { version: { version: VersionLabel.parse('2.0.0') } });
    expect(version.node_id).toBe('Attributed');
    const [key, created_at] = [ownedNodeKey('acme', 'Attributed'), new Date().toISOString()];
    expect(await storedItem(key)).toEqual({ ...key, node_id: 'Attributed', created_at });
  });

  test('keeps the id and the creation time of a pending version, which is looked for by its new publish', async () => {
    const version = { version: VersionLabel.parse('1.0.0'), changelog: 'before' };
    const { changelog: _, ...kept } = (await publish('again', { version })).version;
    await setFields(nodeVersionKey('again', '1.0.0'), { pending_since: '2026-01-01T00:00:00.000Z' });
    const began = new Date().toISOString();
    const { result, requests } = await countRequests(() => publish('again'));

    expect(result.version).toEqual(kept);
    expect(requests).toEqual(['BatchGetItemCommand', 'TransactWriteItemsCommand']);
    expect(String((await storedVersion('again'))?.pending_since) >= began).toBe(true);
    // A finalizer that read it before writes nothing.
    expect(await storedVersion('again')).toMatchObject({ revision: 3 });
  });

  test('replaces no version that becomes active right before its write', async () => {
    await publish('arrived');
    const active = { status: 'NodeVersionStatusActive' };
    beforeNext(dynamodb, /^Transact/, () => setFields(nodeVersionKey('arrived', '1.0.0'), active));

    await expect(publish('arrived')).rejects.toMatchObject({ code: 'version_exists' });
    expect(await storedVersion('arrived')).toMatchObject(active);
  });

  test('keeps the tags of an admin when a member or a token alone resumes the version', async () => {
    const version = { tags_admin: ['safe'], version: VersionLabel.parse('1.0.0') };
    await publish('words-of-an-admin', { version, caller: { userId: 'ada', isAdmin: true } });
    // Its activation would wait forever for a membership.
    expect(await storedVersion('words-of-an-admin')).not.toHaveProperty('by_member');
    await publish('words-of-an-admin', { caller: { userId: 'mats', isAdmin: false } });
    await publish('words-of-an-admin');

    expect(await storedVersion('words-of-an-admin')).toMatchObject({ tags_admin: ['safe'] });
  });

  test('rejects a publish whose node would be too large', async () => {
    await addNode('acme', 'full', { description: 'x'.repeat(200_000), latest_version: 'x'.repeat(100_000) });
    await publish('full');

    const more = { version: { version: VersionLabel.parse('2.0.0') }, node: { license: 'x'.repeat(60_000) } };
    await expect(publish('full', more)).rejects.toMatchObject({ code: 'record_too_large' });
  });
});

describe('the personal access token of a publish', () => {
  const invalid = { code: 'invalid_personal_access_token' };

  const revoke = async (hash: string) => {
    const id = String((await storedToken(hash))?.id);
    await revokeToken(soon(), { operator: 'admin' }, 'acme', id);
  };

  const storedToken = (hash: string) => storedItem(personalAccessTokenKey('acme', hash));

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
