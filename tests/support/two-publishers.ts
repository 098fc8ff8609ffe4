import { randomUUID } from 'node:crypto';
import { handler as updateNode } from '../../functions/update-node.ts';
import { invoke } from './invoke.ts';
import { publish } from './publish.ts';
import { addNode, addPublisher, addToken, storedNode } from './registry.ts';
import { bearer } from './tokens.ts';
import { storedVersion } from './uploads.ts';

export let from: string;
export let to: string;
export let nodeId: string;

let token: string;

/** Two publishers with owners of their own and a member of both; the first one has a node. */
export async function addTwoPublishers(): Promise<void> {
  const id = `a${randomUUID().slice(0, 8)}`;
  [from, to, nodeId] = [`${id}-old`, `${id}-new`, `node-${id}`];
  await addPublisher(from, { olga: 'owner', mats: 'member' });
  await addPublisher(to, { rita: 'owner', mats: 'member' });
  await addNode(from, nodeId);
  await useTokenOf(from);
}

/** Later versions are published with a token of this publisher. */
export async function useTokenOf(publisherId: string): Promise<void> {
  token = await addToken(publisherId);
}

/** Publishes a version, and returns the answer and the place of its upload. */
export async function publishAs(publisherId: string, user: string, version: string) {
  const answer = await publish({ publisherId, nodeId, version, token, as: bearer(user) });
  const { id, upload_id } = await storedVersion(nodeId, version);
  return { ...answer, upload: { nodeId, version, versionId: String(id), uploadId: String(upload_id) } };
}

export function updateAs(publisherId: string, user: string, body = {}) {
  const headers = { authorization: bearer(user) };
  return invoke(updateNode, 'update-node', { path: { publisherId, nodeId }, body, headers });
}

/** The publishers that the records of the node and of its versions name, each once. */
export async function ownersNow(...versions: string[]) {
  const found = await Promise.all([
    storedNode(nodeId),
    ...versions.map((version) => storedVersion(nodeId, version)),
  ]);
  return [...new Set(found.map((record) => record?.publisher_id))];
}
