import { type operations, routes } from './openapi.ts';
import { type Call, readOnly, segment } from './request.ts';
import { send } from './send.ts';
import type { Settings } from './settings.ts';
import type { CallOptions, Reply } from './types.ts';

export type AccountOperation = keyof typeof routes;

/** The path, query and body of an operation, as far as it has them. */
export type AccountInput<Name extends AccountOperation> = Pick<
  operations[Name]['parameters'],
  'path' | 'query'
> &
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
  return async (name, input, options) => {
    const call = callOf(name, input as AnyInput);
    const sent = send<Reply<typeof name>>(settings, call, options);
    return call.method === 'GET' ? readOnly(sent) : sent;
  };
}

function callOf(name: AccountOperation, { path = {}, query = {}, body }: AnyInput): Call {
  const { method, path: pattern, isList } = routes[name];
  const filled = pattern.replace(/\{(\w+)\}/g, (_, parameter) => segment(path[parameter] ?? ''));
  const asked = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${segment(String(value))}`],
  );
  return {
    method,
    path: asked.length > 0 ? `${filled}?${asked.join('&')}` : filled,
    body,
    isRepeatable: method !== 'POST' && name !== 'removeMember',
    answer: isList ? 'list' : {},
  };
}
