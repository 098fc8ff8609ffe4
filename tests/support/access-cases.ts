import type { ErrorCode } from '../../lib/errors.ts';
import { type Actor, actors, users } from './access-actors.ts';
import { hostNodes, nodeStatuses, type personalTokens, publishers, versions } from './access-fixtures.ts';
import { proxyNames } from './operation-names.ts';
import type { EndpointRequest } from './endpoints.ts';

/** One request of one actor, and the errors that may reject it; without any, it must succeed. */
export interface AccessCase {
  name: string;
  actor: Actor;
  operation: string;
  request: EndpointRequest;
  rejections: ErrorCode[];
}

/*
 * The table of who may do what, written a second time and independently of the code. If there are several reasons
 * against a request, any one of them may be answered, except that an unknown caller learns nothing more.
 */
export function accessCases(): AccessCase[] {
  const names = Object.keys(actors) as Actor[];
  return names.flatMap((actor) => [
    ...updateCases(actor),
    ...publishCases(actor),
    ...hostNodeCases(actor),
    ...otherCases(actor),
  ]);
}

const nodePlaces = Object.keys(publishers).flatMap((publisher) =>
  ['live', 'deleted', 'barred', 'absent'].map((node) => ({ publisher, node })),
);

function updateCases(actor: Actor): AccessCase[] {
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
      ...ownerRefusals(actor, through),
      ...stateRefusals(actor, node),
    ]),
  }));
}

type TokenKind = keyof typeof personalTokens;
const tokenKinds: readonly TokenKind[] = ['good', 'revoked', 'expired', 'unknown', 'malformed'];
const labels = [...Object.keys(versions), '9.9.9'];

function publishCases(actor: Actor): AccessCase[] {
  return nodePlaces.flatMap(({ publisher, node }) =>
    labels.flatMap((version) =>
      tokenKinds
        .filter((kind) => kind === 'good' || (version === '9.9.9' && node === 'live'))
        .map((kind) => publishCase(actor, publisher, node, version, kind)),
    ),
  );
}

function publishCase(
  actor: Actor,
  publisher: string,
  node: string,
  version: string,
  kind: TokenKind,
): AccessCase {
  const status = node === 'absent' ? undefined : versions[version as keyof typeof versions];
  const isMember = Object.hasOwn(publishers[publisher]?.members ?? {}, users[actor] ?? '');
  const isGood = kind === 'good' && publisher !== 'theirs';
  return {
    name: `publish ${publisher}-${node} ${version} with a ${kind} token`,
    actor,
    operation: 'publish-node-version',
    request: {
      path: { publisherId: publisher, nodeId: `${publisher}-${node}` },
      body: { node: { author: 'tester' }, node_version: { version }, personal_access_token: kind },
    },
    rejections: unknownFirst(actor, [
      ...when(!isGood, 'invalid_personal_access_token'),
      ...when(!isMember, 'forbidden'),
      ...when(publishers[publisher]?.banned, 'publisher_banned'),
      ...when(node === 'deleted', 'node_id_taken'),
      ...when(node === 'barred', 'node_banned'),
      ...when(status === 'NodeVersionStatusActive', 'version_exists'),
    ]),
  };
}

function hostNodeCases(actor: Actor): AccessCase[] {
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
          ...(node === 'absent' ? [] : ownerRefusals(actor, publisher)),
          ...stateRefusals(actor, node),
          ...when(
            actor !== 'admin' && policy && (entry === 'barred') !== policy.endsWith('Banned'),
            'forbidden',
          ),
        ]),
      })),
    ),
  );
}

function otherCases(actor: Actor): AccessCase[] {
  const calls = proxyNames.map((operation) => ({ operation, rejections: unknownFirst(actor, []) }));
  return [...calls, { operation: 'bulk-node-versions', rejections: [] }].map(({ operation, rejections }) => ({
    name: operation,
    actor,
    operation,
    request: {},
    rejections,
  }));
}

function unknownFirst(actor: Actor, rejections: ErrorCode[]): ErrorCode[] {
  return users[actor] === undefined ? ['unauthorized'] : rejections;
}

function ownerRefusals(actor: Actor, publisher: string): ErrorCode[] {
  const record = publishers[publisher];
  if (actor === 'admin' || !record) return [];
  const members = new Map(Object.entries(record.members));
  return [
    ...when(members.get(users[actor] ?? '') !== 'owner', 'forbidden'),
    ...when(record.banned, 'publisher_banned'),
  ];
}

function stateRefusals(actor: Actor, node: string): ErrorCode[] {
  if (actor === 'admin' || !(node in nodeStatuses)) return [];
  return [...when(node === 'deleted', 'node_not_found'), ...when(node === 'barred', 'node_banned')];
}

function when(holds: unknown, refusal: ErrorCode): ErrorCode[] {
  return holds ? [refusal] : [];
}
