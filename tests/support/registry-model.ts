import assert from 'node:assert/strict';
import type { Result } from './invoke.ts';
import { registry } from './demo-registry.ts';

interface ModelVersion {
  id: string;
  state: 'awaiting_upload' | 'archive_refused' | 'active';
  hostNodes: Map<string, string>;
}

interface ModelNode {
  isBanned: boolean;
  author: string | undefined;
  versions: Map<string, ModelVersion>;
}

/** A signed URL that was issued, and the archive that was uploaded to it. */
interface ModelUpload {
  node: string;
  version: string;
  signedUrl: string;
  content?: 'good' | 'bad';
}

/** Labels by their precedence as a node's latest version, lowest first. */
export const labels = ['2.0.0-beta.1', '1.9.0', '1.10.0'] as const;

/**
 * The registry as a publisher understands it, in maps. Each method returns what the real one must answer, such as
 * `201` or `403 node_banned`, and makes the same change here.
 */
export class RegistryModel {
  readonly nodes = new Map<string, ModelNode>();
  readonly uploads: ModelUpload[] = [];

  publish(nodeId: string, label: string): string {
    const node = this.nodes.get(nodeId);
    if (node?.isBanned) return '403 node_banned';
    if (node?.versions.get(label)?.state === 'active') return '409 version_exists';
    return '201';
  }

  published(nodeId: string, label: string, { body }: Result): void {
    const { id } = body.node_version;
    const node = this.nodes.get(nodeId) ?? { isBanned: false, author: undefined, versions: new Map() };
    const known = node.versions.get(label);
    assert.equal(id, known?.id ?? id, 'a version that is published again keeps its id');
    const hostNodes = known?.hostNodes ?? new Map<string, string>();
    node.versions.set(label, { id, state: 'awaiting_upload', hostNodes });
    this.nodes.set(nodeId, node);
    this.uploads.push({ node: nodeId, version: label, signedUrl: body.signedUrl });
  }

  finalize(upload: ModelUpload): void {
    const node = this.nodes.get(upload.node);
    const version = node?.versions.get(upload.version);
    const isSamePlace = (other: ModelUpload) =>
      other.node === upload.node && other.version === upload.version;
    const isNewest = this.uploads.findLast(isSamePlace) === upload;
    if (!version || node?.isBanned || version.state === 'active' || !isNewest || !upload.content) return;
    version.state = upload.content === 'good' ? 'active' : 'archive_refused';
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

  /** Compares everything that is visible of the real registry. */
  async compare(): Promise<void> {
    const pairs = [...this.nodes.keys()].flatMap((node_id) =>
      labels.map((version) => ({ node_id, version })),
    );
    const { status, body } = await registry.bulk(pairs);
    assert.equal(status, 200);
    for (const [index, { node_id, version }] of pairs.entries())
      compareVersion(this.nodes.get(node_id) as ModelNode, version, body.node_versions[index]);
    for (const [nodeId, node] of this.nodes) await compareNode(nodeId, node);
  }
}

function compareVersion(
  { isBanned, versions }: ModelNode,
  label: string,
  seen: { status: string; node_version: Record<string, unknown> },
): void {
  const expected = versions.get(label);
  assert.equal(seen.status, expected ? 'success' : 'not_found');
  if (!expected) return;
  const { id, status, downloadUrl, status_reason_code: code } = seen.node_version;
  const isActive = expected.state === 'active';
  const ownStatus = isActive ? 'NodeVersionStatusActive' : 'NodeVersionStatusPending';
  assert.equal(id, expected.id);
  assert.equal(status, isBanned ? 'NodeVersionStatusBanned' : ownStatus);
  assert.equal(downloadUrl !== undefined, isActive && !isBanned, 'who may download a version');
  if (!isBanned) assert.equal(code, isActive ? undefined : expected.state);
}

async function compareNode(nodeId: string, node: ModelNode): Promise<void> {
  const { status, body } = await registry.update(nodeId, {});
  assert.equal(status, node.isBanned ? 403 : 200);
  if (node.isBanned) return;
  assert.equal(body.author, node.author);
  const latest = labels.findLast((label) => node.versions.get(label)?.state === 'active');
  assert.equal(body.latest_version?.version, latest);
  for (const [label, { hostNodes }] of node.versions)
    for (const [name, category] of hostNodes) {
      const edited = await registry.editHostNode(nodeId, label, name, {});
      assert.equal(edited.body.category, category);
    }
}
