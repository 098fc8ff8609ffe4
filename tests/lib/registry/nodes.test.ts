import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  hostNodeKey,
  idempotencyKey,
  idempotencyPartKey,
  isSameNodeId,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
  publisherKey,
} from '../../../lib/store/keys.ts';
import { changeNode, requireNodeFits } from '../../../lib/registry/nodes.ts';
import { publisherView, requireMember } from '../../../lib/registry/publishers.ts';
import { publisherRecord } from '../../../lib/registry/records.ts';
import { addNode, addPublisher } from '../../support/registry.ts';

beforeAll(async () => {
  await addPublisher('acme', { olga: 'owner' });
  await addNode('acme', 'some-node', { name: 'before' });
});

describe('changeNode', () => {
  test.each(['*', ' * ', '"0", "1", "2", "3"'])('accepts If-Match: %s', async (ifMatch) => {
    const context = { deadline: Date.now() + 5000 };
    const caller = { userId: 'olga', isAdmin: false };
    const changes = { name: `after ${ifMatch}` };
    const request = { publisherId: 'acme', nodeId: 'some-node', changes, caller, ifMatch };

    expect((await changeNode(context, request)).node).toMatchObject(changes);
  });
});

describe('the checks of a node', () => {
  test('accept 260,000 bytes without the latest version, and reject one byte more', () => {
    const latest_version = {
      id: 'x'.repeat(200_000),
      version: '1.0.0',
      status: 'NodeVersionStatusActive',
    } as const;
    const name = 'é'.padEnd(260_000 - Buffer.byteLength('{"name":"é"}') + 1, 'x');

    expect(() => requireNodeFits({ name, latest_version })).not.toThrow();
    expect(() => requireNodeFits({ name: `${name}x` })).toThrow(
      expect.objectContaining({ code: 'record_too_large' }),
    );
  });
});

describe('a key of the table', () => {
  test('names the record that it belongs to', () => {
    expect([
      publisherKey('acme'),
      personalAccessTokenKey('acme', 'hash'),
      nodeKey('A_b'),
      nodeVersionKey('A_b', '1.0.0'),
      hostNodeKey('A_b', '1.0.0', 'Load'),
      idempotencyKey('hash'),
      idempotencyPartKey(idempotencyKey('hash'), 'try', 2),
    ]).toEqual([
      { pk: 'PUBLISHER#acme', sk: 'PUBLISHER' },
      { pk: 'PUBLISHER#acme', sk: 'TOKEN#hash' },
      { pk: 'NODE#a-b', sk: 'NODE' },
      { pk: 'NODE#a-b', sk: 'VERSION#1.0.0' },
      { pk: 'NODE#a-b#1.0.0', sk: 'HOST_NODE#Load' },
      { pk: 'IDEMPOTENCY#hash', sk: 'ANSWER' },
      { pk: 'IDEMPOTENCY#hash', sk: 'PART#try#2' },
    ]);
  });

  test.each(['My-Node', 'my_node', 'MY.NODE', 'my-_.node'])(
    'stays the same for a node id that differs in case or punctuation: %s',
    (id) => {
      expect(nodeKey(id)).toEqual(nodeKey('my-node'));
    },
  );

  test.each(['mynode', 'my-node-', 'my-nodes'])('differs for the node id %s', (id) => {
    expect(nodeKey(id)).not.toEqual(nodeKey('my-node'));
  });

  test('isSameNodeId ignores case but not punctuation', () => {
    expect([isSameNodeId('My-Node', 'my-nODE'), isSameNodeId('my-node', 'my_node')]).toEqual([true, false]);
  });
});

describe('a publisher', () => {
  const stored = {
    ...publisherKey('acme'),
    id: 'acme',
    revision: 3,
    name: 'Acme',
    members: { olga: { role: 'owner', name: 'Olga', email: 'o@acme.io' }, ada: { role: 'member' } },
  };

  test('shows its members by name, without internal fields, and alike in whatever order they are stored', () => {
    const view = publisherView(publisherRecord({ ...stored, banned: true, ban_reason: 'spam' }));

    expect(JSON.parse(JSON.stringify(view))).toEqual({
      id: 'acme',
      name: 'Acme',
      members: [
        { id: 'ada', role: 'member', user: { id: 'ada' } },
        { id: 'olga', role: 'owner', user: { email: 'o@acme.io', id: 'olga', name: 'Olga' } },
      ],
    });
    const members = { ada: { role: 'member' }, olga: { email: 'o@acme.io', name: 'Olga', role: 'owner' } };
    expect(JSON.stringify(publisherView(publisherRecord({ ...stored, members })))).toBe(JSON.stringify(view));
  });

  test.each(['olga', 'ada'])('accepts the member %s', (user) => {
    expect(() => requireMember(publisherRecord(stored), user)).not.toThrow();
  });

  test.each(['mats', 'toString'])('rejects %s, who is not a member', (user) => {
    expect(() => requireMember(publisherRecord(stored), user)).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });
});
