import assert from 'node:assert/strict';
import type { RegistryWorld } from './registry-world.ts';

interface ModelVersion {
  id: string;
  isActive: boolean;
  isRefused: boolean;
  hostNodes: Map<string, string>;
}

interface ModelNode {
  isBanned: boolean;
  author: string | undefined;
  versions: Map<string, ModelVersion>;
}

/** One signed URL that was handed out, and what lies behind it. */
interface ModelUpload {
  node: string;
  version: string;
  signedUrl: string;
  content?: 'good' | 'bad';
}

/** Labels by how much they are wanted as a node's latest version. */
export const labels = ['2.0.0-beta.1', '1.0.0', '1.1.0'] as const;

/**
 * The registry as a publisher understands it, in maps. Each method says what the real one must answer, as
 * `201` or `403 node_banned`, and takes the change over.
 */
export class RegistryModel {
  readonly nodes = new Map<string, ModelNode>();
  readonly uploads: ModelUpload[] = [];

  publish(nodeId: string, label: string): string {
    const node = this.nodes.get(nodeId);
    if (node?.isBanned) return '403 node_banned';
    if (node?.versions.get(label)?.isActive) return '409 version_exists';
    return '201';
  }

  published(nodeId: string, label: string, id: string, signedUrl: string): void {
    const node = this.nodes.get(nodeId) ?? { isBanned: false, author: undefined, versions: new Map() };
    const known = node.versions.get(label);
    assert.equal(id, known?.id ?? id, 'a version that is published again keeps its id');
    const hostNodes = known?.hostNodes ?? new Map<string, string>();
    node.versions.set(label, { id, isActive: false, isRefused: false, hostNodes });
    this.nodes.set(nodeId, node);
    this.uploads.push({ node: nodeId, version: label, signedUrl });
  }

  finalize(upload: ModelUpload): void {
    const version = this.nodes.get(upload.node)?.versions.get(upload.version);
    const latest = this.uploads.findLast((other) => isSamePlace(other, upload));
    if (!version || version.isActive || latest !== upload || !upload.content) return;
    version.isActive = upload.content === 'good';
    version.isRefused = upload.content === 'bad';
  }

  update(nodeId: string, author: string): string {
    const node = this.nodes.get(nodeId);
    if (!node) return '404 node_not_found';
    if (node.isBanned) return '403 node_banned';
    node.author = author;
    return '200';
  }

  editHostNode(nodeId: string, label: string, name: string, category: string): string {
    const node = this.nodes.get(nodeId);
    if (!node) return '404 node_not_found';
    if (node.isBanned) return '403 node_banned';
    const version = node.versions.get(label);
    if (!version) return '404 node_version_not_found';
    version.hostNodes.set(name, category);
    return '200';
  }

  /** Compares all that can be seen of the real registry. */
  async compare(world: RegistryWorld): Promise<void> {
    const pairs = [...this.nodes.keys()].flatMap((node_id) =>
      labels.map((version) => ({ node_id, version })),
    );
    const { status, body } = await world.bulk(pairs);
    assert.equal(status, 200);
    for (const [index, { node_id, version }] of pairs.entries()) {
      const expected = this.nodes.get(node_id)?.versions.get(version);
      const seen = body.node_versions[index];
      assert.equal(seen.status, expected ? 'success' : 'not_found');
      if (!expected) continue;
      const { id, status: state, downloadUrl, status_reason: reason } = seen.node_version;
      assert.equal(id, expected.id);
      assert.equal(state, expected.isActive ? 'NodeVersionStatusActive' : 'NodeVersionStatusPending');
      assert.equal(downloadUrl !== undefined, expected.isActive);
      if (!expected.isActive) assert.equal(String(reason).startsWith('Waiting'), !expected.isRefused);
    }
    for (const [nodeId, node] of this.nodes) {
      if (node.isBanned) continue;
      const { body: seen } = await world.update(nodeId, {});
      assert.equal(seen.author, node.author);
      assert.equal(
        seen.latest_version?.version,
        labels.findLast((label) => node.versions.get(label)?.isActive),
      );
    }
  }
}

function isSamePlace(a: ModelUpload, b: ModelUpload): boolean {
  return a.node === b.node && a.version === b.version;
}
