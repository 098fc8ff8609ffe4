import { request } from 'node:http';
import { handler } from '../../functions/publish-node-version.ts';
import { invoke } from './invoke.ts';
import './patience.ts';
import { addPublisher, addToken } from './registry.ts';
import { bearer } from './tokens.ts';

let token: string;

/** Two publishers with members, and a token of each. */
export async function addPublishers(): Promise<{ token: string; rivalToken: string }> {
  await addPublisher('acme', { olga: 'owner', mats: 'member' });
  await addPublisher('rival', { rita: 'owner' });
  token = await addToken('acme');
  return { token, rivalToken: await addToken('rival') };
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

export function put(url: string, body: string, contentType: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-length': String(body.length),
      ...(contentType && { 'content-type': contentType }),
    };
    const upload = request(url, { method: 'PUT', headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    upload.once('error', reject);
    upload.end(body);
  });
}
