import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createPersonalAccessToken, hashPersonalAccessToken } from '../../lib/auth/personal-access-tokens.ts';
import { type Item, toAttributes } from '../../lib/store/attribute-values.ts';
import {
  hostNodeKey,
  nodeKey,
  nodeVersionKey,
  personalAccessTokenKey,
  publisherKey,
} from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/table.ts';
import { createSigningKey, signClaims } from '../local/issuer.ts';
import type { Arena } from './arena.ts';

/** Whoever may call, and what they send as their Authorization header. */
export const actors = {
  nobody: () => undefined,
  stranger: ({ bearer }: Arena) => bearer('stranger'),
  member: ({ bearer }: Arena) => bearer('member'),
  owner: ({ bearer }: Arena) => bearer('owner'),
  'owner of another publisher': ({ bearer }: Arena) => bearer('other-owner'),
  admin: ({ bearer }: Arena) => bearer('admin', { admin: true }),
  'owner of a banned publisher': ({ bearer }: Arena) => bearer('banned-owner'),
  'removed owner': ({ bearer }: Arena) => bearer('removed-owner'),
  'owner whose token has expired': ({ bearer }: Arena) => bearer('owner', { expiresInSeconds: -60 }),
  'owner named like a property of every object': ({ bearer }: Arena) => bearer('constructor'),
  forger: () => `Bearer ${signClaims(createSigningKey('development'), claims())}`,
  'forger without a signature': () => `Bearer ${unsigned(claims())}`,
  'sender of another scheme': () => 'Basic b3duZXI6b3duZXI=',
} as const satisfies Record<string, (arena: Arena) => string | undefined>;

export type Actor = keyof typeof actors;

/** The user behind each actor whose token is good. */
export const users: Partial<Record<Actor, string>> = {
  stranger: 'stranger',
  member: 'member',
  owner: 'owner',
  'owner of another publisher': 'other-owner',
  admin: 'admin',
  'owner of a banned publisher': 'banned-owner',
  'removed owner': 'removed-owner',
  'owner named like a property of every object': 'constructor',
};

export const publishers: Record<string, { banned?: boolean; members: Record<string, 'owner' | 'member'> }> = {
  mine: { members: { owner: 'owner', member: 'member' } },
  theirs: { members: { 'other-owner': 'owner' } },
  banned: { banned: true, members: { 'banned-owner': 'owner' } },
};

/** Each publisher has one node of each status, `<publisher>-<status>`, with these versions. */
export const nodeStatuses = {
  live: 'NodeStatusActive',
  deleted: 'NodeStatusDeleted',
  barred: 'NodeStatusBanned',
};
export const versions = { '1.0.0': 'NodeVersionStatusActive', '2.0.0': 'NodeVersionStatusPending' } as const;
export const hostNodes = { free: 'HostNodePolicyActive', barred: 'HostNodePolicyBanned' } as const;

export const personalTokens = {
  good: createPersonalAccessToken(),
  revoked: createPersonalAccessToken(),
  expired: createPersonalAccessToken(),
  unknown: createPersonalAccessToken(),
  malformed: 'nrp_0000',
};

const dayMs = 24 * 60 * 60 * 1000;
const time = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();

/** Writes that world past the endpoints, in the form in which they leave it behind. */
export async function populate(): Promise<void> {
  await put({ ...publisherKey('empty'), id: 'empty', name: 'empty', members: {}, revision: 1 });
  for (const [id, { banned, members }] of Object.entries(publishers)) {
    const people = Object.entries(members).map(([user, role]) => [
      user,
      { role, email: `${user}@example.com` },
    ]);
    const record = { id, name: id, createdAt: time(0), members: Object.fromEntries(people), revision: 1 };
    await put({ ...publisherKey(id), ...record, banned });
    await putTokens(id);
    for (const [name, status] of Object.entries(nodeStatuses)) await putNode(id, `${id}-${name}`, status);
  }
}

async function putTokens(publisherId: string): Promise<void> {
  for (const kind of ['good', 'revoked', 'expired'] as const) {
    const key = personalAccessTokenKey(publisherId, hashPersonalAccessToken(personalTokens[kind]));
    // The good token is one of all publishers but this one, whose members so present that of another.
    if (publisherId === 'theirs' && kind === 'good') continue;
    await put({
      ...key,
      ...{ id: `${publisherId}-${kind}`, label: kind, created_at: time(-dayMs), revision: 1 },
      expires_at: time(kind === 'expired' ? -1000 : dayMs),
      revoked_at: kind === 'revoked' ? time(-1000) : undefined,
    });
  }
}

async function putNode(publisherId: string, id: string, status: string): Promise<void> {
  const common = { publisher_id: publisherId, revision: 1 };
  await put({
    ...nodeKey(id),
    ...common,
    id,
    name: id,
    status,
    created_at: time(0),
    tags_admin: ['watched'],
  });
  for (const [version, versionStatus] of Object.entries(versions)) {
    const fields = {
      id: `${id}-${version}`,
      node_id: id,
      version,
      createdAt: time(0),
      status: versionStatus,
    };
    await put({ ...nodeVersionKey(id, version), ...common, ...fields, upload_id: 'none' });
  }
  for (const [name, policy] of Object.entries(hostNodes))
    await put({ ...hostNodeKey(id, '1.0.0', name), host_node_name: name, policy, revision: 1 });
}

async function put(item: Item): Promise<void> {
  await dynamodb.send(new PutItemCommand({ TableName: tableName, Item: toAttributes(item) }));
}

function claims(): object {
  const now = Math.floor(Date.now() / 1000);
  return {
    iss: process.env.TOKEN_ISSUER,
    aud: process.env.TOKEN_AUDIENCE,
    sub: 'owner',
    iat: now,
    exp: now + 600,
  };
}

function unsigned(content: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(content)}.AA`;
}
