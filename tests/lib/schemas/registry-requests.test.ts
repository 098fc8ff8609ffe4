import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { clearable } from '../../../lib/schemas/fields.ts';
import { HostNodeInput } from '../../../lib/schemas/host-node.ts';
import { HostNodeName, NodeId, PublisherId } from '../../../lib/schemas/names.ts';
import { adminNodeFields, NodeInput } from '../../../lib/schemas/node.ts';
import { adminVersionFields, NodeVersionInput } from '../../../lib/schemas/node-version.ts';
import { VersionLabel } from '../../../lib/schemas/version-spelling.ts';
import { issuesIn } from '../../support/issues-in.ts';

const text = { accepted: ['', 'x'], rejected: [[1, 'must be text']] } as const;
const texts = { accepted: [[], ['x']], rejected: [['x', 'must be a list']] } as const;
const flag = { accepted: [true, false], rejected: [['true', 'must be true or false']] } as const;
const isRun = 'must not be an address that a page would run';
const address = {
  accepted: ['', 'https://example.com/a', 'git@example.com:a', '/icon.png', ' ', 'data:image/png,x'],
  rejected: [
    ['javascript:alert(1)', isRun],
    ['\tjava\nscript:alert(1)', isRun],
    ['VBScript:x', isRun],
    ['data:text/html,x', isRun],
  ],
} as const;

function choice(...accepted: string[]) {
  return {
    accepted: [...accepted, ''],
    rejected: [['another', `must be one of ${accepted.join(', ')}`]],
  } as const;
}

const resources = {
  node: {
    schema: NodeInput,
    least: {},
    fields: {
      author: text,
      banner_url: address,
      category: text,
      description: text,
      icon: address,
      license: text,
      name: text,
      repository: address,
      supported_accelerators: texts,
      supported_host_frontend_version: text,
      supported_host_version: text,
      supported_os: texts,
      tags: texts,
      translations: {
        accepted: [{}, { fr: { name: 'Noeud', other: null } }, { fr: 'Noeud' }],
        rejected: [[[], 'must be an object']],
      },
      preempted_host_node_names: texts,
      search_ranking: { accepted: [-1, 7], rejected: [[0.5, 'must be a whole number']] },
      status: choice('NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned'),
      status_detail: text,
      tags_admin: texts,
    },
    ignored: ['created_at', 'downloads', 'repo_stars', 'latest_version', 'publisher', 'rating', 'odd'],
  },
  version: {
    schema: NodeVersionInput,
    least: { version: '1.2.0' },
    fields: {
      changelog: text,
      dependencies: texts,
      deprecated: flag,
      supported_accelerators: texts,
      supported_host_frontend_version: text,
      supported_host_version: text,
      supported_os: texts,
      tags: texts,
      tags_admin: texts,
    },
    ignored: [
      'host_node_extract_status',
      'host_node_extract_reason',
      'createdAt',
      'downloadUrl',
      'id',
      'node_id',
      'status_reason',
    ],
  },
  'host node': {
    schema: HostNodeInput,
    least: {},
    fields: {
      category: text,
      deprecated: flag,
      description: text,
      experimental: flag,
      function: text,
      input_types: text,
      output_is_list: { accepted: [[], [true, false]], rejected: [[true, 'must be a list']] },
      policy: choice('HostNodePolicyActive', 'HostNodePolicyBanned', 'HostNodePolicyLocalOnly'),
      return_names: text,
      return_types: text,
    },
    ignored: ['host_node_name'],
  },
} as const;

describe.each(Object.entries(resources))('the fields of a %s in a request', (_name, resource) => {
  const { schema, least, fields, ignored } = resource;

  test.each(Object.entries(fields))(
    'accept valid values and null for %s, and reject others',
    (name, { accepted, rejected }) => {
      for (const value of [...accepted, null]) {
        expect(schema.parse({ ...least, [name]: value })).toEqual({ ...least, [name]: value });
      }
      for (const [value, message] of rejected) {
        expect(issuesIn(schema, { ...least, [name]: value })).toEqual([`body.${name} ${message}`]);
      }
    },
  );

  test('stay optional', () => {
    expect(schema.parse(least)).toEqual(least);
  });

  test('accept fields that the service sets itself, which are ignored', () => {
    const sent = Object.fromEntries(ignored.map((name) => [name, { any: 'thing' }]));

    expect(schema.parse({ ...least, ...sent })).toEqual(least);
  });
});

describe('an item of a list field', () => {
  test.each([
    ['node', NodeInput, {}, ['supported_accelerators', 'supported_os', 'tags', 'preempted_host_node_names']],
    [
      'version',
      NodeVersionInput,
      { version: '1.0.0' },
      ['dependencies', 'supported_os', 'tags', 'tags_admin'],
    ],
  ])('rejects anything but text in a %s', (_name, schema, least, fields) => {
    for (const name of fields) {
      expect(issuesIn(schema, { ...least, [name]: ['x', 1] })).toEqual([`body.${name}.1 must be text`]);
    }
  });
});

test('lets only admins set the fields that the interface reserves for them', () => {
  expect([...adminNodeFields].sort()).toEqual(['preempted_host_node_names', 'search_ranking', 'tags_admin']);
  expect(adminVersionFields).toEqual(['tags_admin']);
});

test('accepts a clearable field that is absent, null or valid', () => {
  const schema = z.object(clearable({ a: z.string(), b: z.boolean() }));

  expect(schema.parse({})).toEqual({});
  expect(schema.parse({ a: null, b: true })).toEqual({ a: null, b: true });
  expect(issuesIn(schema, { a: true, b: 'x' })).toEqual([
    'body.a must be text',
    'body.b must be true or false',
  ]);
});

describe('a name in a request', () => {
  const idRule = 'must be letters, digits, ".", "_" or "-", beginning and ending with a letter or digit';
  const publisherRule = 'must be 1 to 63 lower-case letters, digits or "-", beginning with a letter';

  test.each([['a'], ['A'], ['7'], ['aB'], ['a.b_c-d'], ['0-0'], ['a'.repeat(100)]])(
    'accepts the node id %j',
    (id) => {
      expect(issuesIn(NodeId, id)).toEqual([]);
    },
  );

  test.each([[''], ['-a'], ['a-'], ['.'], ['a b'], ['a/b'], ['é'], ['a\n'], ['_a'], ['aé'], ['éa'], ['a.']])(
    'rejects the node id %j',
    (id) => {
      expect(issuesIn(NodeId, id)).toEqual([`body ${idRule}`]);
    },
  );

  test('rejects a node id of more than 100 characters', () => {
    expect(issuesIn(NodeId, 'a'.repeat(101))).toEqual(['body must have at most 100 characters']);
  });

  test.each([['a'], ['a1-'], [`a${'-'.repeat(62)}`]])('accepts the publisher id %j', (id) => {
    expect(issuesIn(PublisherId, id)).toEqual([]);
  });

  test.each([[''], ['1a'], ['-a'], ['A'], ['aB'], ['a_b'], ['a\n'], [' a'], [`a${'b'.repeat(63)}`]])(
    'rejects the publisher id %j',
    (id) => {
      expect(issuesIn(PublisherId, id)).toEqual([`body ${publisherRule}`]);
    },
  );

  test.each([
    ['Load%20Image', 'Load%20Image'],
    ['%E4%BD%A0%e5%a5%bd', '%E4%BD%A0%e5%a5%bd'],
    ['a%2Fb%3f%23%25', 'a/b?#%'],
    ['a%2Fb%252Fc', 'a/b%2Fc'],
    ['100%', '100%'],
    ['50%zz and %4', '50%zz and %4'],
    ['%FF%20', '%FF%20'],
  ])('reads the host node name %s as %s: what a client encoded twice, and no more', (sent, name) => {
    expect(HostNodeName.parse(sent)).toBe(name);
  });

  test('accepts any host node name of 1 to 200 characters', () => {
    expect(issuesIn(HostNodeName, 'a|b (c) / \u{1f3ac}')).toEqual([]);
    expect(issuesIn(HostNodeName, 'x'.repeat(200))).toEqual([]);
    expect(issuesIn(HostNodeName, '')).toEqual(['body must have at least 1 character']);
    expect(issuesIn(HostNodeName, 'x'.repeat(201))).toEqual(['body must have at most 200 characters']);
    expect(issuesIn(HostNodeName, 'a\ud83d')).toEqual(['body must be valid Unicode']);
  });
});

describe('a version label in a request', () => {
  const rule = 'body must be a semantic version such as 1.2.3 or 2.0.0-beta.1';

  test('gets normalized', () => {
    expect(VersionLabel.parse('v1.2')).toBe('1.2.0');
  });

  test.each([['nightly'], ['2024-01-01'], [`1-${'a'.repeat(60)}`]])('rejects %j', (label) => {
    expect(issuesIn(VersionLabel, label)).toEqual([rule]);
  });

  test('rejects more than 64 characters', () => {
    expect(issuesIn(VersionLabel, `1.0.0-${'a'.repeat(58)}`)).toEqual([]);
    expect(issuesIn(VersionLabel, `1.0.0-${'a'.repeat(59)}`)).toEqual([
      'body must have at most 64 characters',
    ]);
  });
});

test.each([
  ['1.0.0rc1', '1.0.0-rc.1'],
  ['1.0 beta', '1.0.0-beta.0'],
  ['2.1a3', '2.1.0-alpha.3'],
])('says how to write the rejected version label %s', (label, spelling) => {
  expect(issuesIn(VersionLabel, label)).toEqual([
    `body must be a semantic version such as 1.2.3 or 2.0.0-beta.1; write ${spelling}`,
  ]);
});
