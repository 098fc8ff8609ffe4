import { handler } from '../../functions/publish-node-version.ts';
import { invoke } from './invoke.ts';
import { addPublisher, addToken } from './registry.ts';
import { bearer } from './tokens.ts';

let token: string;

/** Two publishers with members, and a token of each. Returns that of the second one. */
export async function addPublishers(): Promise<string> {
  await addPublisher('acme', { olga: 'owner', mats: 'member' });
  await addPublisher('rival', { rita: 'owner' });
  token = await addToken('acme');
  return addToken('rival');
}

export interface Publication {
  publisherId?: string;
  nodeId: string;
  version?: string;
  node?: object;
  fields?: object;
  token?: string;
  as?: string;
  headers?: Record<string, string | undefined>;
}

/** Publishes for a member of the first publisher, unless told otherwise. */
export function publish({
  publisherId = 'acme',
  nodeId,
  version = '1.0.0',
  node = {},
  fields = {},
  ...rest
}: Publication) {
  return invoke(handler, 'publish-node-version', {
    path: { publisherId, nodeId },
    body: { personal_access_token: rest.token ?? token, node, node_version: { version, ...fields } },
    headers: { authorization: rest.as ?? bearer('mats'), ...rest.headers },
  });
}

/** The same without a person, as a CI job does. */
export function publishAlone({ headers, ...publication }: Publication) {
  return publish({ ...publication, headers: { authorization: undefined, ...headers } });
}

/** PUTs to a signed URL, without a type. */
export async function put(url: string, text: string): Promise<number> {
  return (await fetch(url, { method: 'PUT', body: new TextEncoder().encode(text) })).status;
}
