import type {
  CatalogEntry,
  IndexedHostNodes,
  IndexedNode,
  PublicVersion,
} from '@node-registry/registry-rules/schemas/index-files';
import { renderReadme } from '../readme.ts';
import { entryOf } from '../templates/entry.ts';
import type { NodeFiles } from '../templates/node-page.ts';

/** A node with its line in the catalog, and its other files. */
export interface Listed extends NodeFiles {
  node: IndexedNode;
  entry: CatalogEntry | undefined;
}

export const filesOf = ({ node, hostNodes, readme }: Listed): NodeFiles => ({ node, hostNodes, readme });

export const entriesOf = (listed: readonly Listed[]): CatalogEntry[] =>
  listed.flatMap(({ entry }) => entry ?? []);

const words = ['latent', 'upscale', 'mask', 'video', 'prompt', 'sampler', 'color', 'depth', 'audio', 'batch'];
const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();

export function version(id: string, label: string, fields: Partial<PublicVersion> = {}): PublicVersion {
  return {
    id: `${id}-${label}`,
    node_id: id,
    version: label,
    status: 'NodeVersionStatusActive',
    createdAt: at(label.length),
    deprecated: false,
    size_bytes: 12_345,
    sha256: 'ab'.repeat(32),
    downloadUrl: `https://downloads.example/archives/${id}/${label}.zip`,
    ...fields,
  };
}

export function listed(
  id: string,
  { readme, ...fields }: Partial<IndexedNode> & { readme?: string } = {},
  hostNodes: IndexedHostNodes['host_nodes'] = [],
): Listed {
  const versions = fields.versions ?? [version(id, '1.0.0')];
  const [latest_version] = versions;
  const node: IndexedNode = {
    id,
    status: 'NodeStatusActive',
    publisher: { id: 'acme', name: 'Acme Nodes' },
    ...(latest_version && { latest_version }),
    versions,
    ...fields,
  };
  const label = String(latest_version?.version);
  const file: IndexedHostNodes = {
    node_id: id,
    version: label,
    host_node_extract_status: 'success',
    host_nodes: hostNodes,
  };
  const html = renderReadme(readme ?? '', { path: 'README.md', repository: undefined });
  return {
    node,
    entry: entryOf(node),
    ...(latest_version && { hostNodes: file }),
    ...(readme !== undefined && {
      readme: { node_id: id, version: label, path: 'README.md', text: readme, html },
    }),
  };
}

/** As many nodes as a registry of some years has. */
export function manyNodes(count: number): Listed[] {
  return Array.from({ length: count }, (_, index) => {
    const pick = (step: number) => words[Math.floor(index / step) % words.length];
    const id = `${pick(1)}-${pick(10)}-${index}`;
    return listed(id, {
      name: `${pick(1)} ${pick(10)} ${index}`,
      description: `Does something to the ${pick(7)} of every ${pick(3)}, in one pass and without a copy, number ${index * 7919}.`,
      tags: [String(pick(1)), String(pick(3))],
      publisher: { id: `publisher-${index % 300}`, name: `Publisher ${index % 300}` },
      versions: [version(id, '1.0.0', { createdAt: at(index) })],
    });
  });
}
