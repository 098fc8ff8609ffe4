import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/update-node.ts';
import { nodeKey } from '../../lib/store/keys.ts';
import { Node } from '@node-registry/registry-rules/schemas/node';
import { dynamodb } from '../../lib/store/dynamodb.ts';
import { stopDate } from '@node-registry/testing/clock';
import { beforeNext } from '../support/intercept.ts';
import { invoke } from '../support/invoke.ts';
import { lines } from '../support/logged-lines.ts';
import { addNode, addPublisher, setFields, storedNode } from '../support/registry.ts';
import { listHistory } from '../../tools/admin/registry/administration.ts';
import { bearer } from '../support/tokens.ts';

const path = { publisherId: 'acme', nodeId: 'Some.Node' };
const owner = { authorization: bearer('olga') };
const admin = { authorization: bearer('ada', { admin: true }) };

function update(body: unknown, headers: Record<string, string> = owner, at: Record<string, string> = path) {
  return invoke(handler, 'update-node', { path: at, body, headers });
}

beforeAll(() => addPublisher('acme', { olga: 'owner', mats: 'member' }));

beforeEach(() => addNode('acme', 'Some.Node', { name: 'Some Node', description: 'before', tags: ['old'] }));

describe('PUT /publishers/{publisherId}/nodes/{nodeId}', () => {
  describe('200', () => {
    test('keeps absent fields, clears null fields, replaces the others, and answers the whole node', async () => {
      stopDate();
      const { id, name, status: active, created_at } = Object(await storedNode('Some.Node'));
      // For fields of admins, these mean the absent value that is stored.
      const unset = { tags_admin: [], preempted_host_node_names: [], search_ranking: null };
      const changes = { tags: ['new'], author: 'A. U. Thor' };
      const after = { id, name, status: active, created_at, ...changes };
      const { status, body, headers } = await update({ ...unset, ...changes, description: null });

      expect([status, headers.etag]).toEqual([200, '"2"']);
      expect(Node.parse(body)).toEqual(body);
      const { publisher: _, ...shown } = body;
      expect(shown).toEqual(after);
      const edited = { edited_by: 'user:olga', edited_at: new Date().toISOString() };
      expect(await storedNode('Some.Node')).toMatchObject({ ...after, ...edited });
      expect(await storedNode('Some.Node')).not.toHaveProperty('description');
    });

    test('writes no field of admins that an owner sends back, and decides again when an admin changes it', async () => {
      await setFields(nodeKey('Some.Node'), { tags_admin: ['checked'] });
      const sentBack = await update({ name: 'Renamed', tags_admin: ['checked'] });
      beforeNext(dynamodb, /^TransactWriteItems/, () => update({ tags_admin: ['flagged'] }, admin));
      const { body } = await update({ name: 'Renamed again', tags_admin: ['checked'] });

      expect(sentBack.body).toMatchObject({ name: 'Renamed', tags_admin: ['checked'] });
      expect(body.details[0].path).toBe('body.tags_admin');
      expect(await storedNode('Some.Node')).toMatchObject({ name: 'Renamed', tags_admin: ['flagged'] });
    });

    test('clears the reason of a withdrawal that was sent back with the restored node, and keeps another', async () => {
      const status_detail = 'Use Other instead';
      const withdrawn = { status: 'NodeStatusDeleted', status_detail };
      const restored = { status: 'NodeStatusActive', status_detail };
      await update(withdrawn);
      expect((await update(restored)).body).not.toHaveProperty('status_detail');
      await update(withdrawn);
      const said = { ...restored, status_detail: 'Maintained again' };
      expect((await update(said)).body).toMatchObject(said);
      await update({ status_detail: null });
    });

    test('answers a Deprecation header to a request with category', async () => {
      const { headers, body } = await update({ category: 'image' });

      expect(headers.deprecation).toBe('@1767225600');
      expect(body.category).toBe('image');
      expect((await update({ category: null })).headers).not.toHaveProperty('deprecation');
    });

    test('honors If-Match: the current ETag and * pass, and two writers with one ETag cannot both win', async () => {
      const { headers } = await update({ tags: ['a'] });
      const matching = { ...owner, 'if-match': `"0", ${headers.etag}` };
      const results = await Promise.all([
        update({ name: 'first' }, matching),
        update({ name: 'second' }, matching),
      ]);

      expect(results.map(({ status }) => status).sort()).toEqual([200, 412]);
      expect((await update({ tags: ['b'] }, { ...owner, 'if-match': ' * ' })).status).toBe(200);
    });

    test('compares If-Match strongly, as RFC 9110 says: a weak tag and one without quotes never match', async () => {
      const etag = String((await update({ tags: ['a'] })).headers.etag);
      const statusFor = async (match: string) => (await update({}, { ...owner, 'if-match': match })).status;

      expect(etag).toMatch(/^"\d+"$/);
      for (const none of [`W/${etag}`, etag.replaceAll('"', ''), '', `"0",W/${etag}`, `${etag}x`])
        expect([none, await statusFor(none)]).toEqual([none, 412]);
      expect(await statusFor(`W/"0" , ${etag},"x"`)).toBe(200);
    });

    test('leaves who changed which fields in the history, and nothing if none was changed', async () => {
      const entries = async () =>
        (await listHistory(nodeKey('some.node'))).map(({ actor, action, subject, detail }) =>
          [actor, action, subject, detail].join(' | '),
        );
      const before = await entries();
      await update({ name: 'Renamed', tags: null });
      await update({});
      await update({ name: 'By an admin' }, admin);

      expect((await entries()).slice(0, -before.length || undefined)).toEqual([
        'user:ada | node update | Some.Node | name',
        'user:olga | node update | Some.Node | name, tags',
      ]);
    });
  });

  // Who may, and what closes a node: tests/lib/registry/may.test.ts.
  test('returns 413 for a record that would not fit, and changes nothing', async () => {
    const before = await storedNode('some.node');
    const answer = await update({ name: 'mine', description: 'x'.repeat(300_000) });

    expect([answer.status, answer.body.error]).toEqual([413, 'record_too_large']);
    expect(await storedNode('some.node')).toEqual(before);
  });
});

test('logs the node and the publisher', async () => {
  await update({ name: 'Logged' });

  expect(lines()).toEqual([
    expect.objectContaining({ event: 'request', publisher_id: 'acme', node_id: 'Some.Node' }),
  ]);
});
