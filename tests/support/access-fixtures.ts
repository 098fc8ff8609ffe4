import { createPersonalAccessToken, hashPersonalAccessToken } from 'registry-rules/personal-access-tokens';
import { banNode } from '../../tools/admin/registry/nodes.ts';
import { banPublisher, createPublisher, putMember } from '../../tools/admin/registry/publishers.ts';
import {
  listPersonalAccessTokens,
  putPersonalAccessToken,
  revokePersonalAccessToken,
} from '../../tools/admin/registry/tokens.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { seed as seedDemo } from '../../tools/local/seed.ts';
import { call } from './endpoints.ts';
import { finalize, upload } from './demo-registry.ts';
import { emptyTable } from './table-image.ts';
import { bearer } from './tokens.ts';

/** A table with only the demo publisher and its nodes. */
export async function seed(): Promise<void> {
  await emptyTable();
  await seedDemo();
}

export interface PublisherFixture {
  banned?: boolean;
  members: Record<string, 'owner' | 'member'>;
}

export const publishers: Record<string, PublisherFixture> = {
  mine: { members: { owner: 'owner', member: 'member' } },
  theirs: { members: { 'other-owner': 'owner' } },
  banned: { banned: true, members: { 'banned-owner': 'owner' } },
};

/** Each publisher has one node of each status, `<publisher>-<status>`, with these versions and host nodes. */
export const nodeStatuses = {
  live: 'NodeStatusActive',
  deleted: 'NodeStatusDeleted',
  barred: 'NodeStatusBanned',
} as const;
export const versions = { '1.0.0': 'NodeVersionStatusActive', '2.0.0': 'NodeVersionStatusPending' } as const;
export const hostNodes = { free: 'HostNodePolicyActive', barred: 'HostNodePolicyBanned' } as const;

export const personalTokens = {
  good: createPersonalAccessToken(),
  revoked: createPersonalAccessToken(),
  expired: createPersonalAccessToken(),
  unknown: createPersonalAccessToken(),
  malformed: 'nrp_0000',
};

/** Sets up all publishers, with their tokens, nodes, versions and host nodes, in an empty table. */
export async function populate(): Promise<void> {
  await emptyTable();
  await createPublisher({ id: 'empty', name: 'empty' });
  for (const [id, { banned, members }] of Object.entries(publishers)) {
    await createPublisher({ id, name: id });
    for (const [user, role] of Object.entries(members))
      await putMember(id, user, { role, email: `${user}@example.com` });
    const publishToken = await addTokens(id);
    for (const name of Object.keys(nodeStatuses)) await addNode(id, `${id}-${name}`, publishToken);
    for (const [name, status] of Object.entries(nodeStatuses)) {
      const nodeId = `${id}-${name}`;
      const isBanned = status === 'NodeStatusBanned';
      const body = { tags_admin: ['watched'], ...(!isBanned && { status }) };
      await asAdmin('update-node', { publisherId: id, nodeId }, body);
      if (isBanned) await banNode(nodeId, 'fixture');
    }
    if (banned) await banPublisher(id, 'fixture');
  }
}

/** The good token belongs to every publisher except `theirs`, so its members send another publisher's token. */
async function addTokens(publisherId: string): Promise<string> {
  const dayMs = 24 * 60 * 60 * 1000;
  const add = (label: string, token: string, lifetimeMs: number) =>
    putPersonalAccessToken({
      publisherId,
      hash: hashPersonalAccessToken(token),
      label,
      expiresAt: new Date(Date.now() + lifetimeMs).toISOString(),
    });
  const own = createPersonalAccessToken();
  await add('own', own, dayMs);
  if (publisherId !== 'theirs') await add('good', personalTokens.good, dayMs);
  await add('expired', personalTokens.expired, -1000);
  await add('revoked', personalTokens.revoked, dayMs);
  const stored = await listPersonalAccessTokens(publisherId);
  await revokePersonalAccessToken(publisherId, String(stored.find(({ label }) => label === 'revoked')?.id));
  return own;
}

async function addNode(publisherId: string, nodeId: string, token: string): Promise<void> {
  for (const [version, status] of Object.entries(versions)) {
    const body = { node: { name: nodeId }, node_version: { version }, personal_access_token: token };
    const authorization = bearer(Object.keys(publishers[publisherId]?.members ?? {})[0] ?? '');
    const path = { publisherId, nodeId };
    const answer = await call('publish-node-version', { path, body, headers: { authorization } });
    if (answer.status !== 201) throw new Error(`The fixture was answered with ${answer.text}`);
    if (status === 'NodeVersionStatusPending') continue;
    await upload(answer.body.signedUrl, await demoArchive(version));
    await finalize(answer.body.signedUrl);
  }
  for (const [hostNodeName, policy] of Object.entries(hostNodes))
    await asAdmin('update-host-node', { nodeId, version: '1.0.0', hostNodeName }, { policy });
}

async function asAdmin(name: string, path: Record<string, string>, body: object) {
  const headers = { authorization: bearer('admin', { admin: true }) };
  const { status, text } = await call(name, { path, body, headers });
  if (status !== 200) throw new Error(`The fixture was answered with ${text}`);
}
