import { NodeId, PublisherId } from '@node-registry/registry-rules/names';
import { Timestamp } from '@node-registry/registry-rules/schemas/fields';
import * as z from 'zod/mini';
import type { Contract } from '../../contract.ts';
import type { ErrorCode } from '../../errors.ts';

/*
 * What follows from a route of self-service: its parameters, its status, its errors, and that a person calls it. Its
 * contract says the rest.
 */

export const text = (description: string) => z.string().with(z.describe(description));
export const whole = (description: string) => z.int().with(z.describe(description));
export const moment = (description: string) => Timestamp.with(z.describe(description));

const uuid = z.string().check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/));
const idOf = (name: string) => uuid.with(z.describe(`The \`id\` of the ${name}`));
const MemberId = z
  .string()
  .check(z.regex(/^[0-9a-f]{32}$/, 'must be the id of a member, 32 hexadecimal digits'))
  .with(z.describe('The id of a member, as `members` of the publisher has it'));

/** The parts of paths, each with the errors of what it names. */
const parts = {
  publisherId: [PublisherId, ['publisher_not_found']],
  nodeId: [NodeId, ['node_not_found']],
  versionId: [idOf('version'), ['node_version_not_found']],
  memberId: [MemberId, ['not_found']],
  tokenId: [idOf('token'), ['not_found']],
  trustId: [idOf('trust'), ['not_found']],
  invitationId: [idOf('invitation'), ['not_found']],
} as const satisfies Record<string, readonly [z.ZodMiniType, readonly ErrorCode[]]>;

type Part = keyof typeof parts;
type PartsOf<Route> = Route extends `${string}{${infer Name}}${infer Rest}` ? Name | PartsOf<Rest> : never;
type Parameters<Route> = z.ZodMiniObject<{ [Name in PartsOf<Route> & Part]: (typeof parts)[Name][0] }>;

type Method = Contract['method'];
interface Given extends Pick<Contract, 'summary' | 'description' | 'query' | 'body' | 'reply'> {
  route: `${Method} /${string}`;
  /** Unless it is `user`. */
  access?: 'guest' | 'anyone';
  /** Unless the method says it. */
  status?: 200;
  /** Besides those that follow from the route. */
  errors?: readonly ErrorCode[];
}

type Made<Name, G extends Given> = Omit<G, 'route' | 'errors' | 'status'> & {
  name: Name;
  method: G['route'] extends `${infer M extends Method} ${string}` ? M : never;
  path: string;
  access: G['access'] extends 'guest' | 'anyone' ? G['access'] : 'user';
  parameters: Parameters<G['route']>;
  status: Contract['status'];
  errors: readonly ErrorCode[];
};

/** Contracts by their names. */
// @__NO_SIDE_EFFECTS__
export function contractsOf<const All extends Record<string, Given>>(
  all: All,
): { [Name in keyof All]: Made<Name, All[Name]> } {
  const made = Object.entries(all).map(([name, given]) => [name, contractOf(name, given)]);
  return Object.fromEntries(made);
}

function contractOf(name: string, { route, errors = [], ...given }: Given): Contract {
  const access = given.access ?? 'user';
  const [method, path = ''] = route.split(' ') as [Method, string];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, each]) => each as Part);
  const codes = new Set([
    ...errors,
    ...(access === 'user' ? ['forbidden' as const] : []),
    ...(method === 'GET' ? [] : errorsOfChange(path)),
    ...(method === 'POST' ? ['too_many_requests' as const] : []),
    ...names.flatMap((each) => parts[each][1]),
  ]);
  return {
    name,
    method,
    path,
    errors: [...codes],
    parameters: z.object(Object.fromEntries(names.map((each) => [each, parts[each][0]]))),
    status: given.reply === undefined ? 204 : method === 'POST' ? 201 : 200,
    ...given,
    access,
  };
}

/** Taking a right away is never closed to who may do it. */
const revokes = /\{(?:token|trust|invitation)Id\}$/;

function errorsOfChange(path: string): ErrorCode[] {
  if (revokes.test(path)) return ['conflict'];
  return [
    ...(['conflict', 'caller_blocked'] as const),
    ...(path === '/publishers' ? [] : ['publisher_banned' as const]),
    ...(path.includes('{memberId}') ? ['last_owner' as const] : []),
    ...(path.includes('{versionId}') ? ['node_banned' as const] : []),
  ];
}
