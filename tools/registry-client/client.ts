import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './openapi.ts';
import { type Patience, retrying } from './retrying.ts';

export type { components, paths };
export type RegistryClient = Client<paths, 'application/json'>;

interface Options {
  baseUrl: string;
  /** The access token, or what fetches one; asked for each call, so that a fresh one is sent. */
  accessToken?: string | (() => string | Promise<string>);
  patience?: Partial<Patience>;
}

/** A client of every operation: `client.POST('/bulk/nodes/versions', { body })` answers `{ data, error, response }`. */
export function createRegistryClient({ baseUrl, accessToken, patience }: Options): RegistryClient {
  const client = createClient<paths, 'application/json'>({
    baseUrl,
    fetch: retrying(patience),
    pathSerializer: fillPath,
  });
  if (accessToken !== undefined) {
    client.use({
      async onRequest({ request }) {
        const token = typeof accessToken === 'function' ? await accessToken() : accessToken;
        if (!request.headers.has('authorization')) request.headers.set('authorization', `Bearer ${token}`);
        return request;
      },
    });
  }
  return client;
}

/** What has a meaning in an address is encoded twice: a gateway decodes the path before it chooses the route. */
function fillPath(path: string, values: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name])).replaceAll(/%(?=2F|3F|23|25)/g, '%25'),
  );
}
