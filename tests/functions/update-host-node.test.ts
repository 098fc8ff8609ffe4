import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/update-host-node.ts';
import { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import { stopDate } from '@node-registry/testing/clock';
import { hostNodeKey, hostNodeTotalsKey, nodeKey } from '../../lib/store/keys.ts';
import { invoke } from '../support/invoke.ts';
import { lines } from '../support/logged-lines.ts';
import { addNode, addPublisher, addVersion, setFields, storedItem } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';

const owner = bearer('olga');
const admin = bearer('ada', { admin: true });

interface Place {
  nodeId?: string;
  version?: string;
  hostNodeName?: string;
}

function update(body: unknown, place: Place = {}, authorization = owner) {
  const path = { nodeId: 'tools', version: '1.0.0', hostNodeName: 'Load', ...place };
  return invoke(handler, 'update-host-node', { path, body, headers: { authorization } });
}

function stored(name: string) {
  return storedItem(hostNodeKey('tools', '1.0.0', name));
}

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner', mats: 'member' });
  await addPublisher('rival', { rita: 'owner' });
  await addNode('acme', 'Tools');
  await addVersion('acme', 'Tools', '1.0.0');
});

describe('PUT /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName+}', () => {
  describe('413 for a version of which people have written as much as they may', () => {
    test('lets one of three parallel writes in if there is room for one, and more after it is cleared', async () => {
      await addVersion('acme', 'Tools', '2.0.0');
      const description = 'x'.repeat(100_000);
      const write = (hostNodeName: string, body: object) => update(body, { version: '2.0.0', hostNodeName });
      await write('first', {});
      await setFields(hostNodeTotalsKey('tools', '2.0.0'), { bytes: 1_850_000 });
      const names = ['a', 'b', 'c'];
      const replies = await Promise.all(names.map((name) => write(name, { description })));
      const written = names[replies.findIndex(({ status }) => status === 200)] ?? '';
      const smaller = await write(written, { description: null });
      const late = await write('late', { description });

      expect(replies.map(({ status }) => status).sort()).toEqual([200, 413, 413]);
      const rejected = replies.find(({ status }) => status === 413);
      expect(rejected?.body).toMatchObject({
        error: 'record_too_large',
        message: expect.stringContaining('2 MB'),
      });
      expect([smaller.status, late.status]).toEqual([200, 200]);
    });

    test('takes no name beyond 10,000, and changes of the names that exist', async () => {
      await addVersion('acme', 'Tools', '3.0.0');
      const place = { version: '3.0.0' };
      await update({ category: 'image' }, place);
      await setFields(hostNodeTotalsKey('tools', '3.0.0'), { names: 10_000 });
      const other = await update({ category: 'image' }, { ...place, hostNodeName: 'Other' });
      const same = await update({ category: 'images' }, place);

      expect([other.status, same.status]).toEqual([413, 200]);
    });
  });

  describe('200', () => {
    test('creates an absent host node, then keeps, clears and replaces its fields', async () => {
      const kept = { deprecated: false, output_is_list: [true, false], policy: 'HostNodePolicyLocalOnly' };
      const full = { category: 'image', description: 'Loads', ...kept };
      const place = { hostNodeName: 'New' };
      stopDate();
      const created = await update(full, place);
      const changed = await update({ category: null, description: 'Loads more', policy: '' }, place);

      expect(created.status).toBe(200);
      expect(created.body).toEqual({ ...full, host_node_name: 'New' });
      expect(HostNode.parse(created.body)).toEqual(created.body);
      expect(changed.body).toEqual({ ...kept, description: 'Loads more', host_node_name: 'New' });
      expect(await stored('New')).toMatchObject({
        touched: ['category', 'deprecated', 'description', 'host_node_name', 'output_is_list'],
        edited_by: 'user:olga',
        edited_at: new Date().toISOString(),
      });
    });

    const plain = ['Load Image (v2)', 'a|b', 'a/b', '50%', '100%zz %E0%A4%A', 'näht 画像 🖼', 'x'.repeat(200)];
    test.each([
      ...[...plain, '__proto__', 'HyperTile //Inspire', 'A + B'].map((name) => [name, name] as const),
      // The client encoded these twice.
      ['a%2Fb', 'a/b'],
      ['HyperTile %2F%2FInspire', 'HyperTile //Inspire'],
      ['why%3F %23%31', 'why? #%31'],
      ['50%25', '50%'],
      ['50%2525', '50%25'],
      ['a%2fb%2541', 'a/b%41'],
      ['n%C3%A4ht', 'n%C3%A4ht'],
      ['Load%20Image', 'Load%20Image'],
      ['%FF%20', '%FF%20'],
    ])('takes the name %j from the gateway as %j', async (hostNodeName, name) => {
      const { status, body } = await update({ function: 'run' }, { hostNodeName });

      expect([status, body.host_node_name]).toEqual([200, name]);
      expect(await stored(name)).toMatchObject({ function: 'run' });
    });

    test('finds the version by any spelling of its label', async () => {
      expect((await update({}, { version: 'v1.0', nodeId: 'TOOLS' })).status).toBe(200);
    });

    test('is given to the owner that the node has now', async () => {
      await addNode('acme', 'Moved');
      await addVersion('acme', 'Moved', '1.0.0');
      const place = { nodeId: 'moved' };
      expect((await update({ category: 'before' }, place)).status).toBe(200);
      await setFields(nodeKey('moved'), { publisher_id: 'rival' });

      expect((await update({ category: 'after' }, place)).body.error).toBe('forbidden');
      expect((await update({ category: 'after' }, place, bearer('rita'))).status).toBe(200);
    });
  });

  describe('rejected requests, which change nothing', () => {
    // Who may, and what closes a node or a version: tests/lib/registry/may.test.ts.
    test.each([
      ['invalid_request', 'an unknown policy', { policy: 'Maybe' }],
      ['record_too_large', 'too large a record', { input_types: 'x'.repeat(300_000) }],
    ])('answer %s for %s', async (code, _, body) => {
      const answer = await update({ category: 'mine', ...body }, { hostNodeName: 'Rejected' });

      expect([answer.body.error, await stored('Rejected')]).toEqual([code, undefined]);
    });

    test.each([
      ['Load Imge', ' Did you mean "Load Image"?'],
      ['save image', ' Did you mean "Save Image"?'],
      ['Blend', ''],
    ])('suggest a name for the unknown name %j once all are read: %s', async (hostNodeName, suggestion) => {
      await addNode('acme', 'extracted');
      await addVersion('acme', 'extracted', '1.0.0', { host_node_extract_status: 'success' });
      for (const name of ['Load Image', 'Save Image'])
        await update({}, { nodeId: 'extracted', hostNodeName: name }, admin);
      const { body } = await update({ category: 'x' }, { nodeId: 'extracted', hostNodeName });

      expect(body.message).toBe(`The host node does not exist in this node version.${suggestion}`);
    });

    test("holds an admin's ban in every version, also in one that comes later, until an admin lifts it", async () => {
      const place = (version: string) => ({ hostNodeName: 'Spam', version });
      const policyIn = async (version: string, body: object, as = owner) =>
        (await update(body, place(version), as)).body.policy;
      await policyIn('1.0.0', { policy: 'HostNodePolicyBanned' }, admin);
      await addVersion('acme', 'Tools', '4.0.0');
      const published = await policyIn('4.0.0', { policy: 'HostNodePolicyBanned', category: 'mine' });
      const freed = await update({ policy: 'HostNodePolicyActive' }, place('4.0.0'));
      const others = await update({}, { hostNodeName: 'Honest', version: '4.0.0' });
      const lifted = await policyIn('4.0.0', { policy: 'HostNodePolicyActive' }, admin);

      expect([published, freed.status, others.body.policy]).toEqual(['HostNodePolicyBanned', 403, undefined]);
      expect([lifted, await policyIn('1.0.0', {})]).toEqual(['HostNodePolicyActive', undefined]);
    });
  });
});

test('logs the node, the version, the entry and the publisher', async () => {
  await update({ category: 'logged' });

  const place = { node_id: 'tools', version: '1.0.0', host_node_name: 'Load', publisher_id: 'acme' };
  expect(lines()).toMatchObject([{ event: 'request', ...place }]);
});
