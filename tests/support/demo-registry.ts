import { demo } from '../../tools/local/demo.ts';
import { seed as seedDemo } from '../../tools/local/seed.ts';
import { call } from './endpoints.ts';
import type { Result } from './invoke.ts';
import { emptyTable } from './table-image.ts';
import { bearer } from './tokens.ts';

/** A table with only the demo publisher and its nodes. */
export async function seed(): Promise<void> {
  await emptyTable();
  await seedDemo();
}

interface Pair {
  node_id: string;
  version: string;
}

/** The registry as used by the owner of the demo publisher, by readers of its versions and by S3. */
export const registry = {
  publish(nodeId: string, version: string): Promise<Result> {
    const body = { node: {}, node_version: { version }, personal_access_token: demo.personalAccessToken };
    const path = { publisherId: demo.publisherId, nodeId };
    return call('publish-node-version', { path, body });
  },

  update(nodeId: string, body: object, headers: Record<string, string> = {}): Promise<Result> {
    const path = { publisherId: demo.publisherId, nodeId };
    return call('update-node', { path, body, headers });
  },

  editHostNode(nodeId: string, version: string, hostNodeName: string, body: object): Promise<Result> {
    return call('update-host-node', { path: { nodeId, version, hostNodeName }, body });
  },

  bulk(pairs: readonly Pair[]): Promise<Result> {
    return call('bulk-node-versions', { body: { node_versions: pairs } });
  },

  /** The entry of one version in a bulk answer. */
  async version(node_id: string, version: string) {
    const { body } = await registry.bulk([{ node_id, version }]);
    return body.node_versions[0];
  },

  /** A node as an admin sees it, even if it is banned. */
  async nodeForAdmin(nodeId: string) {
    const headers = { authorization: bearer('admin', { admin: true }) };
    return (await registry.update(nodeId, {}, headers)).body;
  },
} as const;
