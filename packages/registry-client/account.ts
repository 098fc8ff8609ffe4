import type { operations } from './openapi.ts';
import { type Call, segment } from './request.ts';
import { send } from './send.ts';
import type { Settings } from './settings.ts';
import type { CallOptions, Reply } from './types.ts';

/** What people do for themselves, if the registry offers it. */
const routes = {
  listNodeVersions: 'GET /publishers/{publisherId}/nodes/{nodeId}/versions',
  getSpending: 'GET /users/spending',
  getUser: 'GET /users',
  listPublishersForUser: 'GET /users/publishers',
  listTasks: 'GET /users/tasks',
  signInSettings: 'GET /users/sign-in',
  createPublisher: 'POST /publishers',
  deleteNodeVersion: 'DELETE /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}',
  updateNodeVersion: 'PUT /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}',
  getPermissionOnPublisher: 'GET /publishers/{publisherId}/permissions',
  getPermissionOnPublisherNodes: 'GET /publishers/{publisherId}/nodes/{nodeId}/permissions',
  getPublisher: 'GET /publishers/{publisherId}',
  updatePublisher: 'PUT /publishers/{publisherId}',
  listHistory: 'GET /publishers/{publisherId}/history',
  listNodesForPublisher: 'GET /publishers/{publisherId}/nodes/v2',
  validatePublisher: 'GET /publishers/validate',
  acceptInvitation: 'POST /invitations/accept',
  createInvitation: 'POST /publishers/{publisherId}/invitations',
  listInvitations: 'GET /publishers/{publisherId}/invitations',
  deleteInvitation: 'DELETE /publishers/{publisherId}/invitations/{invitationId}',
  listMembers: 'GET /publishers/{publisherId}/members',
  removeMember: 'DELETE /publishers/{publisherId}/members/{memberId}',
  updateMember: 'PUT /publishers/{publisherId}/members/{memberId}',
  createPersonalAccessToken: 'POST /publishers/{publisherId}/tokens',
  listPersonalAccessTokens: 'GET /publishers/{publisherId}/tokens',
  createTrust: 'POST /publishers/{publisherId}/trusts',
  listTrusts: 'GET /publishers/{publisherId}/trusts',
  deletePersonalAccessToken: 'DELETE /publishers/{publisherId}/tokens/{tokenId}',
  deleteTrust: 'DELETE /publishers/{publisherId}/trusts/{trustId}',
} as const;

export type AccountOperation = keyof typeof routes;

type PartOf<Source, Part extends string> =
  Source extends Record<Part, infer Fields>
    ? [Fields] extends [never]
      ? unknown
      : Record<Part, Fields>
    : Source extends Partial<Record<Part, infer Fields>>
      ? [Exclude<Fields, undefined>] extends [never]
        ? unknown
        : Partial<Record<Part, Fields>>
      : unknown;

/** The path, query and body of an operation, as far as it has them. */
export type AccountInput<Name extends AccountOperation> = PartOf<operations[Name]['parameters'], 'path'> &
  PartOf<operations[Name]['parameters'], 'query'> &
  (operations[Name] extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { body: Body }
    : unknown);

interface AnyInput {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
}

/** Calls an operation by its name. A secret in a response is shown once, so what makes one is never repeated. */
export type Account = <Name extends AccountOperation>(
  name: Name,
  input: AccountInput<Name>,
  options?: CallOptions,
) => Promise<Reply<Name>>;

export function createAccount(settings: Settings): Account {
  return (name, input, options) => send(settings, callOf(name, input as AnyInput), options);
}

const lists: ReadonlySet<AccountOperation> = new Set([
  ...(['listPublishersForUser', 'listMembers', 'listInvitations', 'listHistory'] as const),
  ...(['listPersonalAccessTokens', 'listTrusts', 'listNodeVersions'] as const),
]);

function callOf(name: AccountOperation, { path = {}, query = {}, body }: AnyInput): Call {
  const [method, pattern] = routes[name].split(' ') as [Call['method'], string];
  const filled = pattern.replace(/\{(\w+)\}/g, (_, parameter) => segment(path[parameter] ?? ''));
  const asked = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${segment(String(value))}`],
  );
  return {
    method,
    path: asked.length > 0 ? `${filled}?${asked.join('&')}` : filled,
    body,
    isRepeatable: method !== 'POST' && name !== 'removeMember',
    answer: lists.has(name) ? 'list' : {},
  };
}
