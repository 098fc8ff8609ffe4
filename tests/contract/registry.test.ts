import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as publishNodeVersion } from '../../functions/publish-node-version.ts';
import { handler as updateHostNode } from '../../functions/update-host-node.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { loadContracts } from '../../infra/operations.ts';
import { parseAsWritten } from '../../lib/json.ts';
import { invoke, type Result } from '../support/invoke.ts';
import { addPublishers, publish } from '../support/publish.ts';
import { addNode, storedNode } from '../support/registry.ts';
import { bearer } from '../support/tokens.ts';
import {
  anyText,
  eachIs,
  expectRow,
  expectTaken,
  flag,
  nested,
  noList,
  noNumber,
  type Row,
  type Target,
  texts,
  writtenNumbers,
} from './fields.ts';

/** The operations of the registry, in the order of the contract. */

interface RegistryRow extends Row {
  /** Any value is accepted and changes nothing, because the service itself knows it. */
  isComputed?: boolean;
}

/** Rows by what they quote. */
type Table = Readonly<Record<string, RegistryRow>>;

const noVersion = 'must be a semantic version such as 1.2.3 or 2.0.0-beta.1';
const isRun = 'must not be a URL that runs code, such as javascript:';
const name: Row = { ...anyText, takes: [...(anyText.takes ?? []), ''] };
const strings: Row = {
  takes: [['x', ''], [], Array(1000).fill('x')],
  rejects: [
    ['x', noList],
    [Array(1001).fill('x'), 'must have at most 1000 items'],
  ],
};
const place: Row = {
  takes: [
    ...'|https://example.com/a b|http://x|ssh://git@example.com/a|git@a.com:a/b.git|git://a/b'.split('|'),
    ...'data:image/png;base64,iVBORw0=|./icon.png|icon.png|icons/javascript:x| https://a.com '.split('|'),
  ],
  rejects: [
    ...eachIs('javascript:alert(1)| JavaScript:alert(1)|java\nscript:x|\u0001javascript:x', isRun),
    ...eachIs('vbscript:x|data:text/html,<b>|data:,x|DATA:text/html,x', isRun),
  ],
};
const computed: RegistryRow = { isComputed: true };

const owner = bearer('olga');
const admin = bearer('ada', { admin: true });

let count = 0;

function fresh(): number {
  count += 1;
  return count;
}

function update(body: object, authorization = owner, path = {}): Promise<Result> {
  return invoke(updateNode, 'update-node', {
    path: { publisherId: 'acme', nodeId: 'Some-Node', ...path },
    body,
    headers: { authorization },
  });
}

function changeHostNode(body: object, hostNodeName: string, authorization = owner): Promise<Result> {
  return invoke(updateHostNode, 'update-host-node', {
    path: { nodeId: 'Some-Node', version: '1.0.0', hostNodeName },
    body,
    headers: { authorization },
  });
}

function forAdmins(path: string) {
  return [{ path, message: 'can be changed only by an admin' }];
}

const byBody = { arrived: ({ body }: Result, field: string) => body[field], unset: [null], within: 'body' };

/** Where the fields of an operation are sent; those of a publish are in one of two objects. */
const targets = {
  'update-node': { ...byBody, send: (field, value) => update({ [field]: value }) },
  'update-node of an admin': { ...byBody, send: (field, value) => update({ [field]: value }, admin) },
  'update-host-node': { ...byBody, send: (field, value) => changeHostNode({ [field]: value }, 'Fields') },
  'publish-node-version node': {
    send: (field, value) => publish({ nodeId: `n-${fresh()}`, node: { [field]: value } }),
    arrived: ({ body }, field) => storedField(body.node_version?.node_id, field),
    unset: [null],
    within: 'body.node',
  },
  'publish-node-version node_version': {
    send: (field, value) => publish({ nodeId: `n-${fresh()}`, fields: { [field]: value } }),
    arrived: ({ body }, field) => body.node_version?.[field],
    unset: [null],
    within: 'body.node_version',
  },
} satisfies Record<string, Target>;

async function storedField(nodeId: string | undefined, field: string): Promise<unknown> {
  const record: Record<string, unknown> = { ...(await storedNode(String(nodeId))) };
  const value = record[field];
  return field === 'translations' && value ? parseAsWritten(String(value)) : value;
}

/** Declares the test of each row of a table of fields. */
function rows(place: keyof typeof targets, table: Table): void {
  for (const [quote, row] of Object.entries(table)) {
    const [field = ''] = quote.split(' | ');
    if (row.isComputed)
      test(`ignores "${quote}" in ${place}, whatever is sent`, () => expectIgnored(targets[place], field));
    else test(`holds "${quote}" in ${place}`, () => expectRow(targets[place], field, row));
  }
}

async function expectIgnored(target: Target, field: string): Promise<void> {
  for (const value of [{ any: 'thing' }, 7, 'x', [], null]) {
    const result = await target.send(field, value);
    const arrived = await target.arrived(result, field);

    expectTaken(value, result);
    if (value !== null) expect(arrived).not.toEqual(value);
  }
}

beforeAll(async () => {
  await addPublishers();
  await addNode('acme', 'Some-Node');
  await publish({ nodeId: 'Some-Node', version: '1.0.0' });
});

describe('Node', () => {
  const node: Table = {
    'author | string': name,
    'banner_url | string | URL to the node banner': place,
    'category | string | Deprecated; use tags; to be removed in a future version': name,
    'created_at | string, date-time | Creation time of the node': computed,
    'description | string': name,
    'downloads | integer | Number of downloads': computed,
    'repo_stars | integer | Stars on the source repository': computed,
    'icon | string | URL to the node icon': place,
    'latest_version | NodeVersion': computed,
    'license | string | Path to the LICENSE file in the repository': name,
    'name | string | Display name': name,
    'publisher | Publisher': computed,
    'rating | number | Average rating': computed,
    'repository | string | URL to the repository': place,
    'status_detail | string': name,
    'supported_accelerators | string[] | Accelerator kinds the node supports': strings,
    'supported_host_frontend_version | string | Supported host frontend versions': name,
    'supported_host_version | string | Supported host versions': name,
    'supported_os | string[] | Operating systems supported': strings,
    'tags | string[]': strings,
    'translations | object | Translations of node metadata per language; inner shape: not shown': {
      takes: [
        {},
        { fr: { name: 'Nœud' } },
        { fr: 'Nœud', de: 7, it: [1, null], es: null, constructor: 'x' },
        { a: nested(100) },
        writtenNumbers,
      ],
      rejects: eachIs([[], 'x', JSON.rawJSON('1e20')], 'must be an object'),
    },
  };
  rows('update-node', node);
  rows('publish-node-version node', node);
  rows('update-node of an admin', {
    'preempted_host_node_names | string[] | Host node names preempted by this node': strings,
    'search_ranking | integer | Used for sorting search results': {
      takes: [0, -1, 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1],
      rejects: [
        [0.5, texts.isWhole],
        ['7', noNumber],
        [2 ** 53, 'must be at most 9007199254740991'],
      ],
    },
    'tags_admin | string[] | Admin-only tags for security warnings and admin metadata': strings,
  });

  test.each([
    ['preempted_host_node_names', ['Load'], ['Save']],
    ['search_ranking', 7, 8],
    ['tags_admin', ['checked'], ['harmless']],
  ])('lets only admins change %s, and an owner send it back', async (field, stored, other) => {
    await update({ [field]: stored }, admin);
    const sentBack = await update({ [field]: stored });
    const changes = [await update({ [field]: other }), await update({ [field]: null })];
    const published = await publish({ nodeId: `n-${fresh()}`, node: { [field]: other } });
    await update({ [field]: null }, admin);

    expect(sentBack.status).toBe(200);
    for (const { status, body } of changes)
      expect([status, body.details]).toEqual([403, forAdmins(`body.${field}`)]);
    expect([published.status, published.body.details]).toEqual([403, forAdmins(`body.node.${field}`)]);
  });

  test('holds "id | string | Unique identifier of the node": the one of the path in any spelling, and no other', async () => {
    for (const id of ['Some-Node', 'SOME-NODE', '', null, 7])
      expect([id, (await update({ id })).status]).toEqual([id, 200]);
    const { status, body } = await update({ id: 'other' });

    const message = 'must be the node id of the path';
    expect([status, body.details]).toEqual([400, [{ path: 'body.id', message }]]);
  });

  describe('status | enum | NodeStatusActive, NodeStatusDeleted, NodeStatusBanned', () => {
    test('keeps the status when it is absent, as no field is required, empty or sent back as it stands', async () => {
      for (const status of [undefined, null, '', 'NodeStatusActive'])
        expect((await update({ status })).body.status).toBe('NodeStatusActive');
    });

    test('lets an owner withdraw and restore a node, with its detail', async () => {
      const withdrawn = await update({ status: 'NodeStatusDeleted', status_detail: 'Use Other instead' });
      const sentBack = await update(withdrawn.body);
      const restored = await update({ status: 'NodeStatusActive', status_detail: null });

      const deleted = { status: 'NodeStatusDeleted', status_detail: 'Use Other instead' };
      expect(withdrawn.body).toMatchObject(deleted);
      expect([sentBack.status, sentBack.body.status]).toEqual([200, 'NodeStatusDeleted']);
      expect([restored.status, restored.body.status]).toEqual([200, 'NodeStatusActive']);
    });

    test('rejects another word, a ban with the name of its command, and changes of a banned node', async () => {
      const unknown = await update({ status: 'NodeStatusGone' });
      const banning = await update({ status: 'NodeStatusBanned' });
      await addNode('acme', 'spam', { status: 'NodeStatusBanned' });
      const lifting = await update({ status: 'NodeStatusActive' }, owner, { nodeId: 'spam' });

      const message = expect.stringContaining('node ban');
      expect([banning.status, banning.body.error]).toEqual([400, 'invalid_request']);
      expect(banning.body.details).toEqual([{ path: 'body.status', message }]);
      const words = 'must be one of NodeStatusActive, NodeStatusDeleted, NodeStatusBanned';
      expect(unknown.body.details).toEqual([{ path: 'body.status', message: words }]);
      expect([lifting.status, lifting.body.error]).toEqual([403, 'node_banned']);
    });
  });
});

describe('NodeVersion', () => {
  rows('publish-node-version node_version', {
    'changelog | string': name,
    'host_node_extract_status | string': computed,
    'createdAt | string, date-time': computed,
    'dependencies | string[]': strings,
    'deprecated | boolean': flag,
    'downloadUrl | string': computed,
    'id | string': computed,
    'node_id | string | Owning node': computed,
    'status_reason | string': computed,
    'supported_accelerators | string[]': strings,
    'supported_host_frontend_version | string': name,
    'supported_host_version | string': name,
    'supported_os | string[]': strings,
    'tags | string[]': strings,
    'version | string | Version label': {
      takes: ['1.2.3', '1.0.0-beta.1', '1.0.0+cu118', `1.0.0-${'a'.repeat(58)}`],
      reads: [
        ['v1.2', '1.2.0'],
        ['V2', '2.0.0'],
        ['01.002.3', '1.2.3'],
      ],
      isRequired: true,
      rejects: [
        ...eachIs('nightly||1-2|2024-01-01|1.0.0 cu118', noVersion),
        ['1.2-rc.1', `${noVersion}; write 1.2.0-rc.1`],
        ['1.0 beta', `${noVersion}; write 1.0.0-beta.0`],
        ['1.0.0rc1', `${noVersion}; write 1.0.0-rc.1`],
        ['1.0b2', `${noVersion}; write 1.0.0-beta.2`],
        [`1.0.0-${'a'.repeat(59)}`, 'must have at most 64 characters'],
        [7, texts.isText],
        [undefined, 'is required'],
      ],
    },
  });
});

test('lets no member publish tags of admins', async () => {
  const { status, body } = await publish({ nodeId: `n-${fresh()}`, fields: { tags_admin: ['harmless'] } });

  expect([status, body.details]).toEqual([403, forAdmins('body.node_version.tags_admin')]);
});

describe('Publisher', () => {
  test('appear in the answer of an update', async () => {
    const { publisher } = (await update({})).body;

    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const id = expect.stringMatching(/^[0-9a-f]{32}$/);
    const member = (user: string, role: string) => ({ id, role, user: { id: user } });
    const members = [member('mats', 'member'), member('olga', 'owner')];
    expect(publisher).toEqual({ createdAt, id: 'acme', name: 'acme', members });
  });
});

describe('HostNode (entry inside a node version)', () => {
  rows('update-host-node', {
    'category | string | UI category used for grouping': name,
    'deprecated | boolean | Deprecated entries are hidden in the UI': flag,
    'description | string': name,
    'experimental | boolean | Subject to change or removal': flag,
    'function | string | Entry-point function name': name,
    'input_types | string | Defines input parameters': name,
    'output_is_list | boolean[] | One flag per output': {
      takes: [[], [true, false], Array(1000).fill(true)],
      rejects: [
        [true, noList],
        [Array(1001).fill(true), 'must have at most 1000 items'],
      ],
    },
    'return_names | string | Names of outputs': name,
    'return_types | string | Types of outputs': name,
  });

  test('holds "host_node_name | Unique identifier (response only)": the path has it', async () => {
    const { body } = await changeHostNode({ host_node_name: 'Other' }, 'Load');

    expect(body.host_node_name).toBe('Load');
  });

  test('holds "policy | HostNodePolicyActive, HostNodePolicyBanned, HostNodePolicyLocalOnly"', async () => {
    for (const policy of ['HostNodePolicyActive', 'HostNodePolicyLocalOnly'])
      expect((await changeHostNode({ policy }, 'Load')).body.policy).toBe(policy);
    const banning = await changeHostNode({ policy: 'HostNodePolicyBanned' }, 'Load');
    const banned = await changeHostNode({ policy: 'HostNodePolicyBanned' }, 'Load', admin);
    const sentBack = await changeHostNode(banned.body, 'Load');
    const lifting = await changeHostNode({ policy: 'HostNodePolicyActive' }, 'Load');
    const lifted = await changeHostNode({ policy: 'HostNodePolicyActive' }, 'Load', admin);

    expect([banning.status, banning.body.details]).toEqual([403, forAdmins('body.policy')]);
    expect([banned.status, sentBack.status, lifted.status]).toEqual([200, 200, 200]);
    expect(sentBack.body.policy).toBe('HostNodePolicyBanned');
    expect([lifting.status, lifting.body.details]).toEqual([403, forAdmins('body.policy')]);
  });
});

test('bounds the depth and the size of a body', async () => {
  const flat = (length: number) => ({ a: Array(length).fill(1) });
  const details = [];
  // The other values and levels of the body count too.
  for (const translations of [
    ...[497, 499, 2000].map((depth) => ({ a: nested(depth) })),
    ...[99_997, 99_998].map(flat),
  ])
    details.push((await update({ translations })).body.details?.[0]);
  // The node of the other tests, which send back what is stored.
  await update({ translations: {} });

  const deep = { path: 'body', message: 'must be nested at most 500 deep' };
  const large = { path: 'body', message: 'must hold at most 100000 values' };
  expect(details).toEqual([undefined, deep, deep, undefined, large]);
});

describe('Endpoints', () => {
  test('match the eight of the contract, with their success codes', async () => {
    const routes = (await loadContracts()).map(({ method, path, status }) => `${status} ${method} ${path}`);

    expect(routes.sort()).toEqual([
      '200 POST /bulk/nodes/versions',
      '200 POST /proxy/image-provider/v1/ai/image-relight',
      '200 POST /proxy/video-provider/extend',
      '200 POST /proxy/video-provider/multiframe',
      '200 POST /proxy/video-provider/text2video',
      '200 PUT /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName+}',
      '200 PUT /publishers/{publisherId}/nodes/{nodeId}',
      '201 POST /publishers/{publisherId}/nodes/{nodeId}/versions',
    ]);
  });

  test('publish requires node, node_version and personal_access_token', async () => {
    const { status, body } = await invoke(publishNodeVersion, 'publish-node-version', { body: {} });

    const fields = ['node', 'node_version', 'personal_access_token'];
    const details = fields.map((field) => ({ path: `body.${field}`, message: 'is required' }));
    expect([status, body.details]).toEqual([400, details]);
  });

  test('holds rule 2: an update answers the Node fields, which can be sent back', async () => {
    const ofAdmins = { tags_admin: ['checked'], search_ranking: 7, preempted_host_node_names: ['Load'] };
    await addNode('acme', 'whole', { ...ofAdmins, status_detail: 'fine' });
    const place = { nodeId: 'whole' };
    const { body } = await update({ name: 'Whole', translations: writtenNumbers }, owner, place);
    const again = await update(body, owner, place);

    expect(body).toMatchObject({ id: 'whole', ...ofAdmins, publisher: { id: 'acme' } });
    expect([again.status, again.body]).toEqual([200, body]);
  });
});
