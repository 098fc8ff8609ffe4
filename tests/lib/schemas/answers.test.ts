import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { ErrorBody } from '../../../lib/schemas/error-body.ts';
import { HostNode } from '../../../lib/schemas/host-node.ts';
import { Node } from '../../../lib/schemas/node.ts';
import { NodeVersion } from '../../../lib/schemas/node-version.ts';
import { RelightReply } from '../../../lib/schemas/relight.ts';
import { Timestamp } from '../../../lib/schemas/fields.ts';
import { taskFields } from '../../../lib/schemas/video.ts';
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

  test.each([
    ['x2026-11-21T10:52:09Z'],
    ['2026-11-21T10:52:09Zx'],
    ['2026-11-21T10:52:09'],
    ['2026-11-21T10:52:09.Z'],
    ['2026-11-21T10:52:09.xZ'],
    ['2026-11-21T10:52:09+1:00'],
    ['2026-11-21T10:52:09+01:0'],
    ['2026-11-21T10:52:09+xx:00'],
    ['2026-11-21T10:52:09+01:xx'],
    ['2026-11-21T10:52:09x01:00'],
    ['202-11-21T10:52:09Z'],
    ['xxxx-11-21T10:52:09Z'],
    ['2026-xx-21T10:52:09Z'],
    ['2026-11-xxT10:52:09Z'],
    ['2026-11-21Txx:52:09Z'],
    ['2026-11-21T10:xx:09Z'],
    ['2026-11-21T10:52:xxZ'],
  ])('rejects %s', (time) => {
    expect(Timestamp.safeParse(time).success).toBe(false);
  });
});

describe('the schema of an answer', () => {
  const time = '2026-11-21T10:52:09Z';
  const version = {
    changelog: 'c',
    dependencies: ['d'],
    deprecated: true,
    supported_accelerators: ['a'],
    supported_host_frontend_version: '1',
    supported_host_version: '2',
    supported_os: ['linux'],
    tags: ['t'],
    tags_admin: ['ta'],
    host_node_extract_status: 'pending',
    createdAt: time,
    downloadUrl: 'https://example.com/a.zip',
    id: 'v1',
    node_id: 'n',
    sha256: '00',
    size_bytes: 7,
    status: 'NodeVersionStatusPending',
    status_reason: 'r',
    version: '1.0.0',
  };
  const publisher = {
    createdAt: time,
    description: 'd',
    id: 'p',
    logo: 'l',
    members: [{ id: 'm', role: 'owner', user: { id: 'u', name: 'n', email: 'e' } }],
    name: 'n',
    source_code_repo: 's',
    support: 's',
    website: 'w',
  };
  const node = {
    author: 'a',
    banner_url: '',
    category: 'c',
    created_at: time,
    description: 'd',
    downloads: 1,
    icon: '',
    id: 'n',
    latest_version: version,
    license: 'l',
    name: 'n',
    preempted_host_node_names: ['h'],
    publisher,
    rating: 4.5,
    repo_stars: 2,
    repository: '',
    search_ranking: 3,
    status: 'NodeStatusActive',
    status_detail: 's',
    supported_accelerators: ['a'],
    supported_host_frontend_version: '1',
    supported_host_version: '2',
    supported_os: ['linux'],
    tags: ['t'],
    tags_admin: ['ta'],
    translations: { fr: { name: 'n' } },
  };
  const hostNode = {
    category: 'c',
    deprecated: true,
    description: 'd',
    experimental: false,
    function: 'f',
    host_node_name: 'h',
    input_types: 'i',
    output_is_list: [true],
    policy: 'HostNodePolicyActive',
    return_names: 'r',
    return_types: 'r',
  };
  const answers: [string, z.ZodMiniType, object][] = [
    ['node', Node, node],
    ['version', NodeVersion, version],
    ['host node', HostNode, hostNode],
  ];

  test.each(answers)('contains the interface’s fields of a %s, all optional', (_name, schema, answer) => {
    expect(schema.parse({ ...answer, surprise: 1 })).toEqual(answer);
    expect(schema.parse({})).toEqual({});
  });

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

  test('contains the images, the task and the state of a relight', () => {
    for (const status of ['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED']) {
      const data = { generated: ['https://example.com/a.png'], task_id: 't', status };
      expect(RelightReply.parse({ data })).toEqual({ data });
    }
    expect(RelightReply.safeParse({ data: { generated: [], task_id: 't', status: '' } }).success).toBe(false);
    expect(RelightReply.safeParse({ data: { status: 'CREATED' } }).success).toBe(false);
  });

  test('contains the task, the state and the price of a video operation', () => {
    const schema = z.object(taskFields);
    const task = { task_id: 't', credits: 4, created_at: '2026-11-21T10:52:09Z' };
    for (const known of ['created', 'processing', 'queueing', 'success', 'failed'])
      expect(schema.parse({ ...task, state: known })).toEqual({ ...task, state: known });
    expect(schema.safeParse({ ...task, state: '' }).success).toBe(false);
  });

  test('contains a publisher’s members as owners and members', () => {
    const members = ['owner', 'member'].map((role) => ({ id: 'm', role, user: {} }));

    expect(Node.parse({ publisher: { members } })).toEqual({ publisher: { members } });
    expect(Node.parse({ publisher: {} })).toEqual({ publisher: {} });
  });

  test('contains an error’s code, sentence, request id and optional details', () => {
    const failure = { error: 'invalid_request', message: 'm', request_id: 'r' };
    const details = [{ path: 'body', message: 'm' }];

    expect(ErrorBody.parse(failure)).toEqual(failure);
    expect(ErrorBody.parse({ ...failure, details })).toEqual({ ...failure, details });
  });
});
