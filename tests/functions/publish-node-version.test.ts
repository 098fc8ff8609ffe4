import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { stopDate } from '@node-registry/testing/clock';
import {
  historyKeysOf,
  type Key,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
} from '../../lib/store/keys.ts';
import { queryAll } from '../../lib/store/read.ts';
import { deleting, write } from '../../lib/store/write.ts';
import { removeMember } from '../../lib/registry/members.ts';
import { admin } from '../support/admin.ts';
import { lines } from '../support/logged-lines.ts';
import { addPublishers, type Publication, publish, put } from '../support/publish.ts';
import {
  addNode,
  addPublisher,
  addToken,
  addVersion,
  setFields,
  soon,
  storedItem,
  storedNode,
} from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';
import { uploadAt } from '../support/uploads.ts';

let rivalToken: string;

beforeAll(async () => {
  rivalToken = await addPublishers();
});

describe('POST /publishers/{publisherId}/nodes/{nodeId}/versions', () => {
  describe('201', () => {
    test.each(['', null, 'OTHER-CASE'])('keeps id and absent fields if a body says %j', async (id) => {
      await addNode('acme', 'other-case', { name: 'Kept', author: 'before' });
      const { status } = await publish({ nodeId: 'other-case', node: { id, author: 'new' } });

      expect(status).toBe(201);
      expect(await storedNode('other-case')).toMatchObject({ id: 'other-case', name: 'Kept', author: 'new' });
    });
  });

  test('returns 413 for a new version of a node that has 2,000, until the operator raises that', async () => {
    await publish({ nodeId: 'full', version: '1.0.0' });
    await setFields(nodeKey('full'), { versions: 2000 });
    const statuses = [
      (await publish({ nodeId: 'full', version: '2.0.0' })).status,
      (await publish({ nodeId: 'full', version: '1.0.0' })).status,
      (await admin('node', 'limit', 'full', '--versions', '2001')).status,
      (await publish({ nodeId: 'full', version: '2.0.0' })).status,
      (await publish({ nodeId: 'full', version: '3.0.0' })).status,
    ];

    expect(statuses).toEqual([413, 201, 0, 201, 413]);
    expect((await storedNode('full'))?.versions).toBe(2001);
  });

  describe('signedUrl', () => {
    test('expires after 15 minutes, is new each time, and asks for no checksum', async () => {
      const urls = [
        (await publish({ nodeId: 'twice' })).body.signedUrl,
        (await publish({ nodeId: 'twice' })).body.signedUrl,
      ];
      const query = new URL(urls[0]).searchParams;

      expect(query.get('X-Amz-Expires')).toBe('900');
      expect(query.get('X-Amz-SignedHeaders')).toBe('host');
      expect(urls.join('')).not.toMatch(/checksum/i);
      expect(new URL(urls[0]).pathname).not.toBe(new URL(urls[1]).pathname);
    });
  });

  describe('rejections', () => {
    test('returns 400 for a node id that is not the one of the path', async () => {
      const { body } = await publish({ nodeId: 'one', node: { id: 'two' } });

      expect(body.details).toEqual([{ path: 'body.node.id', message: 'must be the node id of the path' }]);
    });

    // Who may, with which token, and what closes a node or a version: tests/lib/registry/may.test.ts.
    test.each<[status: number, code: string, what: string, publication: Partial<Publication>]>([
      [409, 'node_id_taken', 'an id that also differs in case', { nodeId: 'MY.NODE' }],
      [409, 'node_id_taken', 'an id with more punctuation', { nodeId: 'my-_.node' }],
      [400, 'invalid_request', 'a withdrawal', { nodeId: 'my-node', node: { status: 'NodeStatusDeleted' } }],
      [413, 'record_too_large', 'too large a record', { fields: { changelog: 'x'.repeat(130_000) } }],
    ])('returns %i %s for %s, and nothing changes', async (status, code, _, publication) => {
      await addNode('acme', 'my-node');
      const nodeId = publication.nodeId ?? 'closed';
      const stored = async () => [
        await storedNode(nodeId),
        await storedItem(nodeVersionKey(nodeId, '1.0.0')),
      ];
      const before = await stored();
      const answer = await publish({ nodeId, ...publication });

      expect([answer.status, answer.body.error]).toEqual([status, code]);
      expect(await stored()).toEqual(before);
    });
  });

  describe('a published version', () => {
    const key = nodeVersionKey('edited', '1.0.0');
    beforeAll(async () => {
      await addNode('acme', 'edited');
      for (const version of ['1.0.0', '1.1.0', '1.2.0-rc.1'])
        await addVersion('acme', 'edited', version, { archive_key: `${version}.zip`, dependencies: ['a'] });
    });

    test('takes deprecated and changelog, with history, and moves the latest version', async () => {
      const edit = (fields: object, version = '1.1.0') =>
        publish({ nodeId: 'edited', version, fields, node: { id: 'EDITED' } });
      const latest = async () => (await storedNode('edited'))?.latest_version;
      await edit({ changelog: 'Fixed' }, 'v1.1');
      expect(await latest()).toMatchObject({ version: '1.1.0', changelog: 'Fixed', dependencies: ['a'] });
      const { status, body } = await edit({ deprecated: true });

      expect([status, body.node_version]).toMatchObject([201, { deprecated: true, changelog: 'Fixed' }]);
      expect(body.node_version.downloadUrl).toContain('1.1.0.zip');
      expect(await put(body.signedUrl, 'bytes')).toBe(200);
      expect(uploadAt(body.signedUrl)).toMatchObject({ version: '1.1.0' });
      expect(await latest()).toMatchObject({ version: '1.0.0' });
      await edit({ deprecated: true }, '1.0.0');
      expect(await latest()).toMatchObject({ version: '1.2.0-rc.1' });
      await edit({ deprecated: false });
      expect(await latest()).toMatchObject({ version: '1.1.0', deprecated: false });
      const context = soon();
      const items = await queryAll(context, historyKeysOf(nodeKey('edited'), 'OWNERS'));
      expect(items.map(({ actor, subject, detail }) => [actor, subject, detail])).toEqual([
        ['user:mats', 'edited 1.1.0', 'changelog'],
        ['user:mats', 'edited 1.1.0', 'deprecated'],
        ['user:mats', 'edited 1.0.0', 'deprecated'],
        ['user:mats', 'edited 1.1.0', 'not deprecated'],
      ]);
    });

    test('answers 409 to an edit that changes nothing', async () => {
      await addNode('acme', 'serialized');
      await addVersion('acme', 'serialized', '1.0.0', { archive_key: 'serialized.zip' });
      const fields = { deprecated: false, changelog: '' };
      const { status, body } = await publish({ nodeId: 'serialized', fields });

      expect([status, body.error]).toEqual([409, 'version_exists']);
    });

    test.each([
      [{ deprecated: true, tags: [] }, {}],
      [{ changelog: 'x', dependencies: ['a'] }, {}],
      [{ changelog: 'x' }, { name: 'x' }],
      [{ deprecated: true }, { name: 'x' }],
      [{}, {}],
    ])('answers 409 to a publish that names more or nothing: %j with %j', async (fields, node) => {
      const before = await storedItem(key);
      const { body } = await publish({ nodeId: 'edited', fields, node });

      expect(body).toMatchObject({ error: 'version_exists', error_type: 'version_exists' });
      expect(await storedItem(key)).toEqual(before);
    });
  });

  describe('races', () => {
    test('lets one of two publishers win that claim ids with the same fold', async () => {
      const answers = await Promise.all([
        publish({ nodeId: 'claimed-id' }),
        publish({ publisherId: 'rival', nodeId: 'claimed_id', token: rivalToken, as: bearer('rita') }),
      ]);

      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.error).toBe('node_id_taken');
    });
  });

  test('logs who published what, and with which token', async () => {
    await publish({ nodeId: 'logged' });

    expect(lines('request')[0]).toMatchObject({
      publisher_id: 'acme',
      node_id: 'logged',
      version: '1.0.0',
      token_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      principal: expect.any(String),
    });
  });
});

describe('POST /publishers/{publisherId}/nodes/{nodeId}/versions again, with the same Idempotency-Key', () => {
  const key = () => ({ 'idempotency-key': randomUUID() });
  /** An address that is signed in the same second is the same. */
  const signAnew = () => stopDate(Date.now() + 1100);
  const uploadId = (signedUrl: string) => new URL(signedUrl).pathname.split('/').at(-1);

  test('answers the same version with a freshly signed address', async () => {
    const publication = { nodeId: 'replayed', headers: key() };
    const first = await publish(publication);
    signAnew();
    const again = await publish(publication);

    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body.node_version).toEqual(first.body.node_version);
    expect(again.body.signedUrl).not.toBe(first.body.signedUrl);
    expect(uploadId(again.body.signedUrl)).toBe(uploadId(first.body.signedUrl));
    expect(await put(again.body.signedUrl, 'zip')).toBe(200);
  });

  test('gives no address to a member who was removed, for a token that was revoked, or for a banned node', async () => {
    await addPublisher('acme', { spy: 'member' });
    const spied = await addToken('acme');
    const removed = { nodeId: 'spied-by-member', as: bearer('spy'), headers: key() };
    const revoked = { nodeId: 'spied-by-token', token: spied, headers: key() };
    await publish(removed);
    await publish(revoked);
    await removeMember(soon(), { operator: 'admin' }, 'acme', 'spy');
    const hash = hashPersonalAccessToken(spied);
    await setFields(personalAccessTokenKey('acme', hash), { revoked_at: new Date().toISOString() });

    expect((await publish(removed)).body).toMatchObject({ error: 'forbidden' });
    expect((await publish(revoked)).body).toMatchObject({ error: 'invalid_personal_access_token' });
    const publication = { nodeId: 'banned-meanwhile', headers: key() };
    await publish(publication);
    await setFields(nodeKey('banned-meanwhile'), { status: 'NodeStatusBanned' });
    expect((await publish(publication)).body.error).toBe('node_banned');
  });

  test('answers the address of the publish that resumed the version meanwhile', async () => {
    const publication = { nodeId: 'replayed-late', headers: key() };
    await publish(publication);
    const resumed = await publish({ nodeId: 'replayed-late' });
    const again = await publish(publication);

    expect(uploadId(again.body.signedUrl)).toBe(uploadId(resumed.body.signedUrl));
  });

  test.each<[string, (key: Key) => Promise<unknown>]>([
    ['its archive has arrived', (key) => setFields(key, { status: 'NodeVersionStatusActive' })],
    ['another version took its place', (key) => setFields(key, { id: 'another' })],
    ['it is gone', (key) => write(soon(), deleting(key, [['pk', 'exists']]))],
  ])('answers what it answered before once the version awaits no upload: %s', async (what, change) => {
    const publication = { nodeId: what.replaceAll(' ', '-'), headers: key() };
    const first = await publish(publication);
    await change(nodeVersionKey(publication.nodeId, '1.0.0'));
    signAnew();

    expect((await publish(publication)).body).toEqual(first.body);
  });
});
