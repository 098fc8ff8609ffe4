import { describe, expect, test } from '@jest/globals';
import { HostNode } from '../../../lib/schemas/host-node.ts';
import { Node } from '../../../lib/schemas/node.ts';
import { NodeVersion } from '../../../lib/schemas/node-version.ts';
import { Timestamp } from '../../../lib/schemas/fields.ts';
import { issuesIn } from '../../support/issues-in.ts';

describe('a time in an answer', () => {
  test.each([
    ['2026-11-21T10:52:09Z'],
    ['2026-11-21T10:52:09.1Z'],
    ['2026-11-21T10:52:09.123456+01:30'],
    ['2026-11-21T10:52:09-11:00'],
  ])('accepts %s', (time) => {
    expect(Timestamp.safeParse(time).success).toBe(true);
  });

  test.each(
    [
      'x2026-11-21T10:52:09Z 2026-11-21T10:52:09Zx 2026-11-21T10:52:09 2026-11-21T10:52:09.Z',
      '2026-11-21T10:52:09.xZ 2026-11-21T10:52:09+1:00 2026-11-21T10:52:09+01:0 2026-11-21T10:52:09+xx:00',
      '2026-11-21T10:52:09+01:xx 2026-11-21T10:52:09x01:00 202-11-21T10:52:09Z xxxx-11-21T10:52:09Z',
      '2026-xx-21T10:52:09Z 2026-11-xxT10:52:09Z 2026-11-21Txx:52:09Z 2026-11-21T10:xx:09Z',
      '2026-11-21T10:52:xxZ',
    ].flatMap((times) => times.split(' ')),
  )('rejects %s', (time) => {
    expect(Timestamp.safeParse(time).success).toBe(false);
  });
});

describe('the schema of an answer', () => {
  test.each([
    [Node, 'status', ['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned']],
    [
      NodeVersion,
      'status',
      ['Pending', 'Active', 'Banned', 'Deleted', 'Flagged'].map((state) => `NodeVersionStatus${state}`),
    ],
    [NodeVersion, 'host_node_extract_status', ['pending', 'success', 'failed']],
    [HostNode, 'policy', ['HostNodePolicyActive', 'HostNodePolicyBanned', 'HostNodePolicyLocalOnly']],
  ])('%# accepts the values of %s in the interface and no empty one', (schema, field, values) => {
    for (const value of values) expect(schema.parse({ [field]: value })).toEqual({ [field]: value });
    expect(issuesIn(schema, { [field]: '' })).toEqual([`body.${field} must be one of ${values.join(', ')}`]);
  });

  test('contains exactly the codes of a version by which programs decide', () => {
    const codes = [
      ...['awaiting_upload', 'archive_refused', 'node_banned', 'node_deleted', 'publisher_banned'],
      ...['token_revoked', 'trust_revoked', 'banned', 'flagged'],
    ];
    for (const code of codes) expect(NodeVersion.safeParse({ status_reason_code: code }).success).toBe(true);
    expect(NodeVersion.safeParse({ status_reason_code: '' }).success).toBe(false);
  });

  test('contains the CI job that published a version', () => {
    const provenance = { issuer: 'i', repository: 'o/r', commit: 'c', ref: 'main', workflow: 'w', run: '1' };

    expect(NodeVersion.parse({ provenance })).toEqual({ provenance });
    expect(NodeVersion.parse({ provenance: { ...provenance, environment: 'prod' } })).toEqual({
      provenance: { ...provenance, environment: 'prod' },
    });
    expect(NodeVersion.safeParse({ provenance: { issuer: 'i' } }).success).toBe(false);
  });
});
