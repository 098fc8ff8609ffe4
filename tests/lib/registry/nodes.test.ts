import { describe, expect, test } from '@jest/globals';
import {
  hostNodeKey,
  idempotencyKey,
  idempotencyPartKey,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
  publisherKey,
} from '../../../lib/store/keys.ts';
import { requireNodeFits } from '../../../lib/registry/nodes.ts';

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
});
