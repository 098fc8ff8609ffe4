import assert from 'node:assert/strict';
import { expect, test } from '@jest/globals';
import type { ErrorCode } from '../../lib/errors.ts';
import {
  createPersonalAccessToken,
  hashPersonalAccessToken,
} from '@node-registry/registry-rules/personal-access-tokens';
import { createPublisher } from '../../tools/admin/registry/publishers.ts';
import * as tokens from '../../tools/admin/registry/tokens.ts';
import { createSigningKey, signClaims } from '../../tools/local/issuer.ts';
import { call, type EndpointRequest } from '../support/endpoints.ts';
import type { Result } from '../support/invoke.ts';
import { fc } from '@node-registry/testing/properties';
import { check, count, counts } from '@node-registry/testing/property-runs';
import { proxyNames, simulation } from '../support/proxies.ts';
import { addNode, addPublisher, addVersion } from '../support/registry.ts';
import { differences, emptyTable, readTable, restoreTable } from '../support/table-image.ts';
import { bearer } from '../support/tokens.ts';
import { banPublisher } from '../../tools/admin/registry/bans.ts';

interface Actor {
  /** Who a valid token names. */
  user?: string;
  authorization: () => string | undefined;
}

const as = (user: string, claims = {}): Actor => ({ user, authorization: () => bearer(user, claims) });

/** Every kind of caller. */
const actors: Record<string, Actor> = {
  nobody: { authorization: () => undefined },
  stranger: as('stranger'),
  member: as('member'),
  owner: as('owner'),
  'owner of another publisher': as('other-owner'),
  admin: as('admin', { admin: true }),
  'owner of a banned publisher': as('banned-owner'),
  'removed owner': as('removed-owner'),
  'owner whose token has expired': { authorization: () => bearer('owner', { expiresInSeconds: -60 }) },
  'owner named like a property of every object': as('constructor'),
  forger: { authorization: () => `Bearer ${signClaims(createSigningKey('development'), claims())}` },
  'forger without a signature': { authorization: () => `Bearer ${unsigned(claims())}` },
  'sender of another scheme': { authorization: () => 'Basic b3duZXI6b3duZXI=' },
};

function claims(): object {
  const now = Math.floor(Date.now() / 1000);
  const { TOKEN_ISSUER: iss, TOKEN_AUDIENCE: aud } = process.env;
  return { iss, aud, sub: 'owner', iat: now, exp: now + 600 };
}

function unsigned(content: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(content)}.AA`;
}

const publishers: Record<string, { banned?: boolean; members: Record<string, 'owner' | 'member'> }> = {
  mine: { members: { owner: 'owner', member: 'member' } },
  theirs: { members: { 'other-owner': 'owner' } },
  banned: { banned: true, members: { 'banned-owner': 'owner' } },
};

/** Each publisher has one node of each status, `<publisher>-<status>`, with these versions and host nodes. */
const nodeStatuses = {
  live: 'NodeStatusActive',
  deleted: 'NodeStatusDeleted',
  barred: 'NodeStatusBanned',
} as const;
const versions = { '1.0.0': 'NodeVersionStatusActive', '2.0.0': 'NodeVersionStatusPending' } as const;
const hostNodes = { free: 'HostNodePolicyActive', barred: 'HostNodePolicyBanned' } as const;

const personalTokens = {
  good: createPersonalAccessToken(),
  revoked: createPersonalAccessToken(),
  expired: createPersonalAccessToken(),
  unknown: createPersonalAccessToken(),
  malformed: 'nrp_0000',
};

/** Sets up all publishers, with their tokens, nodes, versions and host nodes, in an empty table. */
async function populate(): Promise<void> {
  await emptyTable();
  await createPublisher({ id: 'empty', name: 'empty' });
  for (const [id, { banned, members }] of Object.entries(publishers)) {
    await addPublisher(id, members);
    await addTokens(id);
    for (const [name, status] of Object.entries(nodeStatuses)) await addNodeOf(id, `${id}-${name}`, status);
    if (banned) await banPublisher(id, 'fixture');
  }
}

/** The good token belongs to every publisher except `theirs`, so its members send another publisher's token. */
async function addTokens(publisherId: string): Promise<void> {
  const dayMs = 24 * 60 * 60 * 1000;
  const add = (label: string, token: string, lifetimeMs: number) =>
    tokens.putPersonalAccessToken({
      publisherId,
      hash: hashPersonalAccessToken(token),
      label,
      expiresAt: new Date(Date.now() + lifetimeMs).toISOString(),
    });
  if (publisherId !== 'theirs') await add('good', personalTokens.good, dayMs);
  await add('expired', personalTokens.expired, -1000);
  await add('revoked', personalTokens.revoked, dayMs);
  const stored = await tokens.listPersonalAccessTokens(publisherId);
  await tokens.revokePersonalAccessToken(
    publisherId,
    String(stored.find(({ label }) => label === 'revoked')?.id),
  );
}

async function addNodeOf(publisherId: string, nodeId: string, nodeStatus: string): Promise<void> {
  await addNode(publisherId, nodeId, { status: nodeStatus, tags_admin: ['watched'] });
  for (const [version, status] of Object.entries(versions))
    await addVersion(publisherId, nodeId, version, { status });
  const headers = { authorization: bearer('admin', { admin: true }) };
  for (const [hostNodeName, policy] of Object.entries(hostNodes)) {
    const path = { nodeId, version: '1.0.0', hostNodeName };
    const { status, text } = await call('update-host-node', { path, body: { policy }, headers });
    if (status !== 200) throw new Error(`The fixture was answered with ${text}`);
  }
}

/** One request of one actor, and the errors that may reject it; without any, it must succeed. */
interface AccessCase {
  name: string;
  actor: string;
  operation: string;
  request: EndpointRequest;
  rejections: ErrorCode[];
}

/*
 * The table of who may do what, written a second time and independently of the code. If there are several reasons
 * against a request, any one of them may be answered, except that an unknown caller learns nothing more.
 */
function accessCases(): AccessCase[] {
  return Object.keys(actors).flatMap((actor) => [
    ...updateCases(actor),
    ...publishCases(actor),
    ...hostNodeCases(actor),
    ...otherCases(actor),
  ]);
}

const nodePlaces = Object.keys(publishers).flatMap((publisher) =>
  ['live', 'deleted', 'barred', 'absent'].map((node) => ({ publisher, node })),
);

function updateCases(actor: string): AccessCase[] {
  const paths = nodePlaces.flatMap(({ publisher, node }) =>
    [...Object.keys(publishers), 'nobodys'].map((through) => ({ publisher, node, through })),
  );
  return paths.map(({ publisher, node, through }) => ({
    name: `update ${publisher}-${node} through ${through}`,
    actor,
    operation: 'update-node',
    request: { path: { publisherId: through, nodeId: `${publisher}-${node}` }, body: { author: 'tester' } },
    rejections: unknownFirst(actor, [
      ...when(through === 'nobodys', 'publisher_not_found'),
      ...when(node === 'absent', 'node_not_found'),
      ...when(node !== 'absent' && through !== publisher, 'forbidden'),
      ...ownerRejections(actor, through),
      ...stateRejections(actor, node),
    ]),
  }));
}

type TokenKind = keyof typeof personalTokens;
const tokenKinds: readonly TokenKind[] = ['good', 'revoked', 'expired', 'unknown', 'malformed'];
const labels = [...Object.keys(versions), '9.9.9'];

function publishCases(actor: string): AccessCase[] {
  const kinds = nodePlaces.flatMap(({ publisher, node }) =>
    labels.flatMap((version) =>
      tokenKinds
        .filter((kind) => kind === 'good' || (version === '9.9.9' && node === 'live'))
        .map((kind) => ({ publisher, node, version, kind })),
    ),
  );
  return kinds.map(({ publisher, node, version, kind }) => ({
    name: `publish ${publisher}-${node} ${version} with a ${kind} token`,
    actor,
    operation: 'publish-node-version',
    request: {
      path: { publisherId: publisher, nodeId: `${publisher}-${node}` },
      body: {
        node: { author: 'tester' },
        node_version: { version },
        personal_access_token: personalTokens[kind],
      },
    },
    rejections: unknownFirst(actor, [
      ...when(kind !== 'good' || publisher === 'theirs', 'invalid_personal_access_token'),
      ...when(
        actor !== 'admin' && !Object.hasOwn(publishers[publisher]?.members ?? {}, actors[actor]?.user ?? ''),
        'forbidden',
      ),
      ...when(publishers[publisher]?.banned, 'publisher_banned'),
      ...when(node === 'deleted', 'node_id_taken'),
      ...when(node === 'barred', 'node_banned'),
      ...when(node !== 'absent' && version === '1.0.0', 'version_exists'),
    ]),
  }));
}

function hostNodeCases(actor: string): AccessCase[] {
  const entries = [...Object.keys(hostNodes), 'new'];
  const policies = [undefined, 'HostNodePolicyLocalOnly', 'HostNodePolicyBanned'];
  return nodePlaces.flatMap(({ publisher, node }) =>
    entries.flatMap((entry) =>
      policies.map((policy) => ({
        name: `set ${publisher}-${node} ${entry} to ${policy}`,
        actor,
        operation: 'update-host-node',
        request: {
          path: { nodeId: `${publisher}-${node}`, version: '1.0.0', hostNodeName: entry },
          body: { category: 'tested', ...(policy && { policy }) },
        },
        rejections: unknownFirst(actor, [
          ...when(node === 'absent', 'node_not_found'),
          ...(node === 'absent' ? [] : ownerRejections(actor, publisher)),
          ...stateRejections(actor, node),
          ...when(
            actor !== 'admin' && policy && (entry === 'barred') !== policy.endsWith('Banned'),
            'forbidden',
          ),
        ]),
      })),
    ),
  );
}

function otherCases(actor: string): AccessCase[] {
  const calls = proxyNames.map((operation) => ({ operation, rejections: unknownFirst(actor, []) }));
  return [...calls, { operation: 'bulk-node-versions', rejections: [] }].map(({ operation, rejections }) => ({
    name: operation,
    actor,
    operation,
    request: {},
    rejections,
  }));
}

function unknownFirst(actor: string, rejections: ErrorCode[]): ErrorCode[] {
  return actors[actor]?.user === undefined ? ['unauthorized'] : rejections;
}

function ownerRejections(actor: string, publisher: string): ErrorCode[] {
  const record = publishers[publisher];
  if (actor === 'admin' || !record) return [];
  const members = new Map(Object.entries(record.members));
  return [
    ...when(members.get(actors[actor]?.user ?? '') !== 'owner', 'forbidden'),
    ...when(record.banned, 'publisher_banned'),
  ];
}

function stateRejections(actor: string, node: string): ErrorCode[] {
  return when(actor !== 'admin' && node === 'barred', 'node_banned');
}

function when(holds: unknown, rejection: ErrorCode): ErrorCode[] {
  return holds ? [rejection] : [];
}

const writes = ['update-node', 'publish-node-version', 'update-host-node'];

test('lets callers do what the access table says and nothing more, and changes nothing for a rejected request', async () => {
  await populate();
  const before = await readTable();
  await check(
    fc.constantFrom(...accessCases()),
    async (accessCase) => {
      simulation.reset();
      const { actor, operation, request } = accessCase;
      const headers = { authorization: actors[actor]?.authorization() };
      const answer = await call(operation, { ...request, headers });
      const after = await readTable();
      const changed = differences(before, after);
      if (changed.length > 0) await restoreTable(before, after);
      verify(accessCase, answer, changed);
    },
    { weight: 10 },
  );

  expect(counts.allowed).toBeGreaterThan(0);
  expect(counts.rejected).toBeGreaterThan(0);
});

function verify({ operation, rejections }: AccessCase, answer: Result, changed: string[]): void {
  const isDone = answer.status < 300;
  count(isDone ? 'allowed' : 'rejected');
  const isRight = rejections.length === 0 ? isDone : rejections.includes(answer.body.error);
  assert.ok(isRight, `expected ${rejections.join(' or ') || 'success'}: ${answer.text}`);
  if (isDone) {
    assert.ok(changed.length > 0 || !writes.includes(operation), 'succeeded, but changed nothing');
    return;
  }
  assert.deepEqual(changed, [], 'rejected, but changed');
  assert.equal(simulation.received.length, 0, 'rejected, but sent to the provider');
}
