import { fields, table } from 'command-line/table';
import * as z from 'zod/mini';
import { CatalogPiece, IndexedHostNodes } from 'registry-rules/schemas/index-files';
import { exitCodes } from './failure.ts';
import { hostNodeLines } from './host-nodes.ts';
import type { Ending, Mean } from './output.ts';
import {
  openRegistry,
  type ReadFlags,
  requireNode,
  requireShape,
  requireVersion,
  wantedOf,
} from './reading.ts';

const maxShown = 20;

export async function searchCommand(text: string, flags: ReadFlags): Promise<Ending> {
  const nodes = await (await openRegistry(flags)).nodes.search(text);
  requireShape(CatalogPiece, { nodes }, 'its nodes');
  const rows = nodes
    .slice(0, maxShown)
    .map(({ id, latest_version, name, publisher }) => [id, latest_version, name, publisher.id]);
  const more = nodes.length - rows.length;
  const lines = [
    ...table(['NODE', 'VERSION', 'NAME', 'PUBLISHER'], rows).split('\n'),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
  return {
    exitCode: exitCodes.done,
    report: { status: 'found', nodes },
    lines: nodes.length === 0 ? ['No node has all of these words.'] : lines,
  };
}

export async function versionsCommand(id: string, flags: ReadFlags, mean: Mean): Promise<Ending> {
  mean({ publisher: undefined, node: id, version: undefined });
  const node = await requireNode(await openRegistry(flags), id);
  const rows = node.versions.map(({ version, createdAt, size_bytes, deprecated }) => [
    version,
    createdAt?.slice(0, 10),
    size_bytes,
    deprecated === true ? 'deprecated' : undefined,
  ]);
  return {
    exitCode: exitCodes.done,
    report: { status: 'found', ...ownerOf(node), versions: node.versions },
    lines: table(['VERSION', 'CREATED', 'BYTES', 'NOTE'], rows, { alignRight: [2] }).split('\n'),
  };
}

export async function showCommand(text: string, flags: ReadFlags, mean: Mean): Promise<Ending> {
  const wanted = wantedOf(text);
  mean({ publisher: undefined, ...wanted });
  const registry = await openRegistry(flags, wanted);
  const indexed = await requireNode(registry, wanted.node);
  const version = requireVersion(indexed, wanted.version);
  const { versions: _, latest_version: __, ...node } = indexed;
  const found = await registry.hostNodes.list(wanted.node, String(version.version));
  requireShape(z.optional(IndexedHostNodes), found, `the host nodes of ${wanted.node}`);
  const { host_node_extract_status: status = 'pending', host_node_extract_reason: reason } = found ?? {};
  const hostNodes = found?.host_nodes.map((each) => ({ ...each, left_open: leftOpen(each) }));
  const facts = {
    ...{ name: node.name, description: node.description, license: node.license, repository: node.repository },
    publisher: node.publisher?.name ?? node.publisher?.id,
    status: node.status === 'NodeStatusDeleted' ? 'withdrawn' : undefined,
    created: version.createdAt,
    size: version.size_bytes === undefined ? undefined : `${version.size_bytes} bytes`,
    sha256: version.sha256,
    download: version.downloadUrl,
    dependencies: version.dependencies === undefined ? 'unknown' : version.dependencies.join(', ') || 'none',
    changelog: version.changelog,
  };
  return {
    exitCode: exitCodes.done,
    report: {
      ...{ status: 'found', ...ownerOf(node), version: version.version, nodes: [node] },
      node_version: version,
      ...{ download_url: version.downloadUrl, sha256: version.sha256, archive_bytes: version.size_bytes },
      ...{ host_node_extract_status: status, host_node_extract_reason: reason },
      host_nodes: hostNodes,
    },
    lines: [
      `${node.id} ${version.version}`,
      ...fields(facts).split('\n'),
      ...(hostNodes && status !== 'pending'
        ? hostNodeLines({ status, reason, notes: [], nodes: hostNodes.map(named) })
        : ['', 'Its host nodes are being read.']),
    ],
  };
}

function ownerOf({ id, publisher }: { id?: string | undefined; publisher?: { id?: string } | undefined }) {
  return { publisher: publisher?.id, node: id };
}

const named = ({ host_node_name: name = '', ...fields }: HostNode) => ({ name, fields });

type HostNode = IndexedHostNodes['host_nodes'][number];

/** What every host node has: an older extraction leaves out what is open, and does not say why. */
const expected = ['category', 'function', 'input_types', 'return_types'] as const;

function leftOpen(hostNode: HostNode): string[] {
  return hostNode.left_open ?? expected.filter((field) => hostNode[field] === undefined);
}
