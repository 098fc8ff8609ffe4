import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { hashPersonalAccessToken } from '@node-registry/registry-rules/personal-access-tokens';
import { removeMember } from '../../lib/registry/members.ts';
import { type Key, nodeKey, nodeVersionKey, personalAccessTokenKey } from '../../lib/store/keys.ts';
import { remove } from '../../lib/store/write.ts';
import { addPublishers, publish, put } from '../support/publish.ts';
import { stopDate } from '@node-registry/testing/clock';
import { addPublisher, addToken, setFields } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';

beforeAll(addPublishers);

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
    expect(await put(again.body.signedUrl, 'zip', 'application/zip')).toBe(200);
  });

  test('gives no address to a member who was removed, for a token that was revoked, or for a banned node', async () => {
    await addPublisher('acme', { spy: 'member' });
    const spied = await addToken('acme');
    const removed = { nodeId: 'spied-by-member', as: bearer('spy'), headers: key() };
    const revoked = { nodeId: 'spied-by-token', token: spied, headers: key() };
    await publish(removed);
    await publish(revoked);
    await removeMember({ deadline: Date.now() + 9_000 }, { operator: 'admin' }, 'acme', 'spy');
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
    ['it is gone', (key) => remove({ deadline: Date.now() + 5000 }, key, [['pk', 'exists']])],
  ])('answers what it answered before once the version awaits no upload: %s', async (what, change) => {
    const publication = { nodeId: what.replaceAll(' ', '-'), headers: key() };
    const first = await publish(publication);
    await change(nodeVersionKey(publication.nodeId, '1.0.0'));
    signAnew();

    expect((await publish(publication)).body).toEqual(first.body);
  });
});
