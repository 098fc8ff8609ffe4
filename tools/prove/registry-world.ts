import type { Context, S3Event } from 'aws-lambda';
import { uploadOf } from '../../lib/bucket/object-keys.ts';
import { sweepUploads } from '../../lib/uploads/sweep-uploads.ts';
import { demo } from '../local/demo.ts';
import { demoArchive } from '../local/demo-archive.ts';
import type { Arena, ArenaAnswer } from './arena.ts';

const { handler: finalizeUpload } = await import('../../functions/finalize-upload.ts');
const limitMs = 60_000;

/** What a publisher, the owner of the demo publisher, and S3 do, in the words of a hunt. */
export class RegistryWorld {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  publish(nodeId: string, version: string, headers: Record<string, string> = {}): Promise<ArenaAnswer> {
    const body = { node: {}, node_version: { version }, personal_access_token: demo.personalAccessToken };
    const path = { publisherId: demo.publisherId, nodeId };
    return this.#arena.call('publish-node-version', { path, body, headers });
  }

  update(nodeId: string, body: object, headers: Record<string, string> = {}): Promise<ArenaAnswer> {
    const path = { publisherId: demo.publisherId, nodeId };
    return this.#arena.call('update-node', { path, body, headers });
  }

  editHostNode(nodeId: string, version: string, hostNodeName: string, body: object): Promise<ArenaAnswer> {
    return this.#arena.call('update-host-node', { path: { nodeId, version, hostNodeName }, body });
  }

  bulk(pairs: readonly { node_id: string; version: string }[]): Promise<ArenaAnswer> {
    return this.#arena.call('bulk-node-versions', { body: { node_versions: pairs } });
  }

  /** PUTs an archive to a signed URL, as a publisher does. */
  async upload(signedUrl: string, bytes: Buffer): Promise<void> {
    const headers = { 'content-type': 'application/zip' };
    const { status } = await fetch(signedUrl, { method: 'PUT', body: new Uint8Array(bytes), headers });
    if (status !== 200) throw new Error(`The upload was answered with ${status}.`);
  }

  /** Tells the finaliser of an upload, as S3 does; false where it wants to be told again. */
  finalize(signedUrl: string): Promise<boolean> {
    const key = decodeURIComponent(new URL(signedUrl).pathname).replace(/^\/[^/]+\//, '');
    if (!uploadOf(key)) throw new Error(`The signed URL ${signedUrl} is of no upload.`);
    const event = { Records: [{ s3: { object: { key: encodeURIComponent(key) } } }] } as S3Event;
    const context = { getRemainingTimeInMillis: () => limitMs } as Context;
    return finalizeUpload(event, context).then(
      () => true,
      () => false,
    );
  }

  /** The sweep that a schedule runs, over everything that was published since. */
  async sweep(since: number): Promise<void> {
    await sweepUploads({ from: since, to: Date.now() + limitMs, deadline: Date.now() + limitMs });
  }

  archive(label: string): Promise<Buffer> {
    return demoArchive(label);
  }
}
