import { randomUUID } from 'node:crypto';
import type { Context, S3Event } from 'aws-lambda';
import { demo } from '../../tools/local/demo.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { seed as seedDemo } from '../../tools/local/seed.ts';
import { call } from './endpoints.ts';
import type { Result } from './invoke.ts';
import { emptyTable } from './table-image.ts';
import { bearer } from './tokens.ts';
import { handler as finalizeUpload } from '../../functions/finalize-upload.ts';

const limitMs = 60_000;

/** A table with only the demo publisher and its nodes. */
export async function seed(): Promise<void> {
  await emptyTable();
  await seedDemo();
}

export interface Pair {
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

  archive(content: string): Promise<Buffer> {
    return demoArchive(content);
  },
} as const;

/** PUTs an archive to a signed URL, like a publisher. */
export async function upload(signedUrl: string, bytes: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/zip' };
  const { status } = await fetch(signedUrl, { method: 'PUT', body: new Uint8Array(bytes), headers });
  if (status !== 200) throw new Error(`The upload was answered with ${status}.`);
}

/** Sends S3's event about an upload to the finalizer; false if the finalizer fails and must be called again. */
export function finalize(signedUrl: string, awsRequestId: string = randomUUID()): Promise<boolean> {
  const key = decodeURIComponent(new URL(signedUrl).pathname).replace(/^\/[^/]+\//, '');
  const event = { Records: [{ s3: { object: { key: encodeURIComponent(key) } } }] } as S3Event;
  const context = { awsRequestId, getRemainingTimeInMillis: () => limitMs } as Context;
  return finalizeUpload(event, context).then(
    () => true,
    () => false,
  );
}

export async function download(url: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}
