import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/self-service.ts';
import { createSecret } from '@node-registry/registry-rules/personal-access-tokens';
import { loadContracts, selfServiceContracts } from '../../infra/operations.ts';
import { memberIdOf } from '../../lib/caller.ts';
import type { Contract } from '../../lib/contract.ts';
import { weightOf } from '../../lib/json.ts';
import { publisherKey } from '../../lib/store/keys.ts';
import { blockCaller } from '../../tools/admin/spend/limits.ts';
import { type HttpFunction, startGateway } from '../../tools/local/gateway.ts';
import { createSigningKey, issueToken, signClaims } from '../../tools/local/issuer.ts';
import { errorsOf } from '../../tools/openapi/answers.ts';
import { admin } from '../support/admin.ts';
import { createToken, makerOf } from '../../lib/registry/tokens.ts';
import {
  addNode,
  addPublisher,
  addToken,
  addVersion,
  setPublisherFields,
  soon,
  storedItem,
} from '../support/registry.ts';
import { untilEnd } from '../support/serve.ts';
import { differences, readTable, restoreTable, type TableImage } from '../support/table-image.ts';
import { bearer, signingKey } from '../support/tokens.ts';
import { setVariables } from '../support/variables.ts';

/*
 * Every route through a socket: who may, in a snapshot (read its diff as a change of that), and that a refusal changes
 * nothing.
 */

const operations = await loadContracts();
const keys = [
  ...selfServiceContracts.map(({ method, path }) => `${method} ${path}`),
  'GET /users/publishers/',
];
const load = async () => handler as HttpFunction;
const routes = keys.map((key) => ({ key, timeoutMs: 20_000, load }));
const gateway = untilEnd(await startGateway({ port: 0, routes }));

interface Asked {
  path?: Record<string, string> | undefined;
  query?: string;
  body?: unknown;
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any;
}

async function ask(
  name: string,
  token: string | undefined,
  { path = {}, query = '', body }: Asked = {},
): Promise<Answered> {
  const { method, path: pattern } = contractOf(name);
  const url = pattern.replace(/\{(\w+)\}/g, (_, parameter) => encodeURIComponent(path[parameter] ?? ''));
  const response = await fetch(`${gateway.url}${url}${query}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: token }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

function contractOf(name: string): Contract {
  const found = selfServiceContracts.find((contract) => contract.name === name);
  if (!found) throw new Error(`There is no contract ${name}.`);
  return found;
}

const people = {
  'no token': undefined,
  expired: bearer('olga', { expiresInSeconds: -60 }),
  foreign: `Bearer ${issueToken(createSigningKey(), { user: 'olga' })}`,
  stranger: bearer('constructor'),
  'owner of another': bearer('otto'),
  'ex-member': bearer('xenia'),
  member: bearer('mats'),
  maker: bearer('mila'),
  owner: bearer('olga'),
  'blocked owner': bearer('bea'),
  admin: bearer('ada', { admin: true }),
};

/** By the publisher's id. */
interface World {
  /** What the paths of routes name. */
  paths: Record<string, Record<string, string>>;
  invitations: Record<string, string>;
  image: TableImage;
}
let world: World;

const uuid = '7a3b6f0e-2f8c-4f43-9a51-0b4f7a2f9d10';
const trust = { issuer: 'https://ci.example.com', repository: 'octo/nodes', workflow: 'release.yml' };

beforeAll(async () => {
  const made: Omit<World, 'image'> = { paths: {}, invitations: {} };
  await addPublisher('other', { otto: 'owner' });
  for (const id of ['acme', 'shut']) {
    await addPublisher(id, { olga: 'owner', bea: 'owner', mats: 'member', mila: 'owner', xenia: 'member' });
    const path = { publisherId: id };
    const { body: token } = await ask('createPersonalAccessToken', people.maker, {
      path,
      body: { name: 'a token' },
    });
    const { body: trusted } = await ask('createTrust', people.maker, { path, body: trust });
    const { body: invited } = await ask('createInvitation', people.owner, { path, body: {} });
    made.invitations[id] = invited.invitation;
    made.paths[id] = {
      publisherId: id,
      nodeId: `${id}-node`,
      versionId: uuid,
      memberId: memberIdOf('mats'),
      tokenId: token.id,
      trustId: trusted.id,
      invitationId: invited.id,
    };
    await ask('updateMember', people.owner, {
      path: { ...path, memberId: memberIdOf('mila') },
      body: { role: 'member' },
    });
    await ask('removeMember', people.owner, { path: { ...path, memberId: memberIdOf('xenia') } });
    await addNode(id, `${id}-node`, {
      latest_version: { id: uuid, version: '1.0.0', status: 'NodeVersionStatusActive' },
    });
    await addVersion(id, `${id}-node`, '1.0.0', {
      id: uuid,
      createdAt: '2026-11-20T12:00:00.000Z',
      archive_key: 'archives/a',
    });
    await addToken(id);
  }
  await setPublisherFields('shut', { banned: true, ban_reason: 'malware' });
  await blockCaller({ operator: 'admin' }, 'user:bea', 'spam');
  world = { ...made, image: await readTable() };
});

beforeEach(async () => {
  await restoreTable(world.image, await readTable());
});

/** With these, beside the path, the owner of an unbanned publisher may make each request. */
const given: Record<string, (id: string) => Asked> = {
  // The slash that clients in use send at its end.
  listPublishersForUser: () => ({ query: '/' }),
  getSpending: () => ({ query: '?from=2026-11-28' }),
  listTasks: () => ({ query: '?from=2026-11-20' }),
  validatePublisher: () => ({ query: '?username=free-id' }),
  createPublisher: () => ({ body: { id: 'New.One', name: 'New' } }),
  updatePublisher: () => ({ body: { description: 'Other' } }),
  updateNodeVersion: () => ({ body: { deprecated: true } }),
  updateMember: () => ({ body: { role: 'owner' } }),
  createInvitation: () => ({ body: { role: 'owner' } }),
  acceptInvitation: (id) => ({ body: { invitation: world.invitations[id] } }),
  createPersonalAccessToken: () => ({ body: { name: 'laptop' } }),
  createTrust: () => ({ body: { ...trust, workflow: 'other.yml' } }),
};

describe('who may', () => {
  test.each(selfServiceContracts.map(({ name }) => name))(
    '%s, of a publisher and of a banned one',
    async (name) => {
      const contract = contractOf(name);
      const rows: string[] = [];
      for (const [person, token] of Object.entries(people)) {
        const cells: string[] = [];
        for (const id of ['acme', 'shut']) {
          const { status, body } = await ask(name, token, {
            path: world.paths[id],
            ...given[name]?.(id),
          });
          const after = await readTable();
          const changes = differences(world.image, after);
          cells.push(status < 300 ? `${status}` : `${status} ${body.error}`);
          if (status < 300) expect(contract.reply?.safeParse(body).error?.issues).toBeUndefined();
          else
            expect([body.error, errorsOf(contract)]).toEqual([
              body.error,
              expect.arrayContaining([body.error]),
            ]);
          if (status >= 300 || contract.method === 'GET') expect(changes).toEqual([]);
          else expect(changes.length).toBeGreaterThan(0);
          await restoreTable(world.image, after);
        }
        rows.push(`${person.padEnd(16)} ${[...new Set(cells)].join(' | ')}`);
      }
      // What `may` must close, whatever the snapshot has.
      const isOfMembers = contract.access === 'user' && contract.path.includes('{publisherId}');
      if (isOfMembers && !name.startsWith('getPermission'))
        expect(
          rows.filter((row) => /^(?:stranger|owner of another|ex-member) .*\b2\d\d\b/.test(row)),
        ).toEqual([]);
      expect(`\n${rows.join('\n')}\n`).toMatchSnapshot();
    },
  );
});

describe('an outsider', () => {
  const path = { publisherId: 'new' };
  const asMike = (claims: object) =>
    `Bearer ${signClaims(signingKey, { iss: 'http://localhost:3001', aud: 'node-registry', sub: 'mike', exp: 4e9, ...claims })}`;

  /** A sub is free text: the name of a property, a path, or longer than any name. */
  test.each(['__proto__', 'constructor', 'auth0|1/../2', '\u202e ', 'x'.repeat(255)])(
    'whose sub is %j keeps what they make, and only that',
    async (user) => {
      const token = bearer(user);
      await ask('createPublisher', token, { body: { id: 'new', name: 'New' } });
      const me = { ...path, memberId: memberIdOf(user) };

      expect((await ask('listMembers', token, { path })).body).toMatchObject([{ user: { id: user } }]);
      expect((await ask('removeMember', token, { path: me })).body.error).toBe('last_owner');
      expect((await ask('listMembers', people.stranger, { path })).status).toBe(
        user === 'constructor' ? 200 : 403,
      );
    },
  );

  test('sees of a list neither nodes that are not public, nor how many they are', async () => {
    await addNode('acme', 'b-withdrawn', { status: 'NodeStatusDeleted' });
    const list = async (token?: string) =>
      (await ask('listNodesForPublisher', token, { path: { publisherId: 'acme' }, query: '?limit=1' })).body;
    const { nodes, ...counts } = await list();

    expect([nodes.length, counts]).toEqual([1, { total: 1, page: 1, limit: 1, totalPages: 1 }]);
    expect(await list(people.member)).toMatchObject({ total: 2, totalPages: 2 });
  });

  test('gets a list of many nodes of many members', async () => {
    const member = { role: 'member', name: 'n'.repeat(100) };
    const members = Array.from({ length: 99 }, (_, index) => [`${'u'.repeat(250)}${index}`, member]);
    const text = '"'.repeat(2000);
    await setPublisherFields('acme', {
      description: text,
      logo: text,
      support: text,
      website: text,
      members: { ...Object.fromEntries(members), olga: { role: 'owner' } },
    });
    const add = (_: unknown, index: number) => addNode('acme', `many-${index}`);
    await Promise.all(Array.from({ length: 99 }, add));
    const list = (limit: number) =>
      ask('listNodesForPublisher', people.owner, { path: { publisherId: 'acme' }, query: `?limit=${limit}` });
    const [few, many] = [(await list(1)).body, (await list(100)).body];

    expect([few.nodes[0].publisher.members.length, many.nodes.length]).toEqual([100, 100]);
    expect(weightOf(JSON.stringify(many))).toBeLessThan(2_000_000);
  });

  test('gets the first nodes of a publisher if they are large, and a member the ids of all', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `large-${index + 10}`);
    for (const id of ids)
      await addNode('other', id, { description: '"'.repeat(120_000), latest_version: { version: '1.0.0' } });
    const list = (token?: string) =>
      ask('listNodesForPublisher', token, { path: { publisherId: 'other' }, query: '?limit=100' });
    const [{ body: seen }, { body: own }] = [await list(), await list(people['owner of another'])];

    expect([seen.nodes.length, seen.total, own.nodes.at(-1)]).toEqual([4, 30, { id: ids.at(-1) }]);
    expect(own.nodes.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  test('learns the same of every invitation that is not theirs', async () => {
    const secret = createSecret('nri_');
    const [, ours] = String(world.invitations.acme).split('/');
    const named = { path: { publisherId: 'acme' }, body: { user_id: 'mike' } };
    const { invitation: mikes } = (await ask('createInvitation', people.owner, named)).body;
    const wrong = [
      mikes,
      'acme',
      `nobody/${secret}`,
      `acme/${secret}`,
      `acme/${ours}x`,
      `other/${ours}`,
      '__proto__/x',
    ];
    const answers = await Promise.all(
      wrong.map((invitation) => ask('acceptInvitation', people.stranger, { body: { invitation } })),
    );

    for (const { status, body } of answers) expect([status, body.error]).toEqual([404, 'not_found']);
    expect((await ask('acceptInvitation', asMike({}), { body: { invitation: mikes } })).status).toBe(200);
  });

  test('accepts an invitation of an address only with that address, and no owner writes one that is not read', async () => {
    setVariables({ EMAIL_CLAIM: 'email' });
    const invited = { path: { publisherId: 'acme' }, body: { email: 'Mike@example.com' } };
    const { invitation } = (await ask('createInvitation', people.owner, invited)).body;
    const accept = (claims: object) =>
      ask('acceptInvitation', asMike(claims), { body: { invitation } }).then(({ status }) => status);

    // The sign of the kelvin is a k in lower case.
    expect(await accept({ email: 'mi\u212ae@example.com', email_verified: true })).toBe(404);
    expect(await accept({ email: 'mike@example.com', email_verified: 'false' })).toBe(404);
    expect(await accept({ email: 'mike@example.com', email_verified: 'true' })).toBe(200);
    setVariables({ EMAIL_CLAIM: '' });
    expect((await ask('createInvitation', people.owner, invited)).body.details).toMatchObject([
      { path: 'body.email' },
    ]);
  });

  test('accepts no invitation of an owner who is none any more', async () => {
    await setPublisherFields('acme', { members: { olga: { role: 'member' }, bea: { role: 'owner' } } });
    const body = { invitation: world.invitations.acme };

    expect((await ask('acceptInvitation', people.stranger, { body })).status).toBe(404);
  });

  test('joins no publisher that has a hundred members, or with a name of more than 255 characters', async () => {
    const body = { invitation: world.invitations.acme };
    expect((await ask('acceptInvitation', bearer('x'.repeat(256)), { body })).body.error).toBe('forbidden');
    const others = Array.from({ length: 97 }, (_, index) => [`m${index}`, { role: 'member' }]);
    const owners = { olga: { role: 'owner' }, bea: { role: 'owner' }, mats: { role: 'member' } };
    await setPublisherFields('acme', { members: { ...Object.fromEntries(others), ...owners } });

    expect((await ask('acceptInvitation', people.stranger, { body })).body.error).toBe('too_many_requests');
    // A member takes no room, and loses no role.
    expect((await ask('acceptInvitation', people.owner, { body })).body.members).toContainEqual(
      expect.objectContaining({ id: memberIdOf('olga'), role: 'owner' }),
    );
  });

  test.each([
    // Each literal segment of a route that stands where an id may stand.
    ...[...selfServiceContracts, ...operations].flatMap(({ path: route }) =>
      route.startsWith('/publishers/') && !route.startsWith('/publishers/{') ? route.split('/')[2] : [],
    ),
    ...['api', 'admin', 'registry', 'the-registry', 'node-registry', String(process.env.TABLE_NAME), 'Ours'],
    ...['ADMIN', 'ad.min', 'Adm1n', 'the_reg1stry', 'va-lidate'],
  ])('makes no publisher %s', async (id) => {
    setVariables({ RESERVED_PUBLISHER_IDS: 'ours' });
    const made = await ask('createPublisher', people.stranger, { body: { id, name: 'Support' } });
    const asked = await ask('validatePublisher', people.stranger, { query: `?username=${id}` });

    expect([made.body.error, asked.status]).toEqual(['publisher_id_taken', 400]);
  });
});

describe('a member who makes many tokens of a minute each', () => {
  const mats = { userId: 'mats', isAdmin: false };
  const made_by = memberIdOf('mats');

  test('changes nothing of the publisher by that, and can be removed', async () => {
    const ended = { publisherId: 'acme', label: 'ended', expires_at: new Date(Date.now() - 1).toISOString() };
    const before = await storedItem(publisherKey('acme'));
    for (let count = 0; count < 100; count++) await createToken(soon(), mats, ended);
    // Otherwise, each would have the index write all nodes of the publisher.
    expect(await storedItem(publisherKey('acme'))).toEqual(before);
    const { status, body } = await ask('removeMember', people.owner, { path: world.paths.acme });

    expect([status, body.ended?.tokens.length >= 100]).toEqual([200, true]);
    const { body: members } = await ask('listMembers', people.owner, { path: world.paths.acme });
    expect(members).not.toContainEqual(expect.objectContaining({ id: made_by }));
    // The first of two rounds only ends tokens.
    const { body: history } = await ask('listHistory', people.owner, { path: world.paths.acme });
    const removals = history.filter(({ subject }: { subject: string }) => subject === 'mats');
    expect(removals.map(({ detail }: { detail?: string }) => detail)).toEqual([undefined, 'in part']);
  });

  test('keeps a token for two days after it has expired', async () => {
    const expires_at = new Date(Date.now() - 3 * 24 * 3_600_000).toISOString();
    const { record } = await createToken(soon(), mats, { publisherId: 'acme', label: 'ended', expires_at });

    expect(record.ttl).toBeLessThan(Date.now() / 1000);
  });

  test('makes at most 1,000, because others read all of them', () => {
    const record = { pk: '', sk: '', id: '', revision: 1, created_at: '', made_by };
    const making = (kept: number, ttl: number) => () =>
      makerOf(mats, Array(kept).fill({ ...record, ttl }), () => false);
    const future = Date.now() / 1000 + 60;

    expect(making(1000, future)).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
    expect(making(999, future)()).toBe(made_by);
    // DynamoDB is late.
    expect(making(1000, future - 120)()).toBe(made_by);
  });
});

test.each([
  ['publisher', 'acme', ''],
  ['node', 'acme-node', '?node_id=acme-node'],
])(
  'tells owners of a %s why the administration banned it, and neither its own reason nor who it is',
  async (of, id, query) => {
    const reasons = ['--reason', 'case 7', '--public-reason', 'It mines coins.'];
    await admin(of, 'ban', id, ...reasons);
    const { body } = await ask('listHistory', people.owner, { path: { publisherId: 'acme' }, query });

    const [latest] = body;
    expect(latest).toMatchObject({ actor: 'the registry', action: `${of} ban`, detail: 'It mines coins.' });
    expect(JSON.stringify(body)).not.toContain('case 7');
  },
);
