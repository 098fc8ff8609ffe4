import { fields, table } from '@node-registry/command-line/table';
import * as z from 'zod/mini';
import { CatalogPiece, IndexedHostNodes } from '@node-registry/registry-rules/schemas/index-files';
import type { PublicVersion } from '@node-registry/registry-client';
import { hostNodeLines } from './host-nodes.ts';
import type { Ending, Mean } from './output.ts';
import {
  listed,
  openRegistry,
  type ReadFlags,
  requireNode,
  requireShape,
  requireVersion,
  wantedOf,
} from './reading.ts';

const maxShown = 20;
const maxDescription = 60;

interface SearchFlags extends ReadFlags {
  page: number;
}

function shortened(text: string | undefined): string | undefined {
  const [line = ''] = text?.split('\n', 1) ?? [];
  return line.length > maxDescription ? `${line.slice(0, maxDescription - 1)}…` : line;
}

export async function searchCommand(text: string, { page, ...flags }: SearchFlags): Promise<Ending> {
  const nodes = await (await openRegistry(flags)).nodes.search(text);
  requireShape(CatalogPiece, { nodes }, 'its nodes');
  const shown = nodes.slice((page - 1) * maxShown, page * maxShown);
  const rows = shown.map(({ id, latest_version, name, publisher, description }) => [
    ...[id, latest_version, name, publisher.id, shortened(description)],
  ]);
  const left = nodes.length - page * maxShown;
  const more = left > 0 ? [`and ${left} more: --page ${page + 1}`] : [];
  const none =
    nodes.length > 0
      ? `Page ${page} is past the last: there are ${nodes.length} nodes.`
      : 'No node has all of these words.';
  return {
    report: { status: 'found', nodes },
    lines: [
      ...table(['NODE', 'VERSION', 'NAME', 'PUBLISHER', 'DESCRIPTION'], rows, { none }).split('\n'),
      ...more,
    ],
  };
}

export async function versionsCommand(id: string, flags: ReadFlags, mean: Mean): Promise<Ending> {
  mean({ publisher: undefined, node: id, version: undefined });
  const found = await requireNode(await openRegistry(flags), id);
  const { id: node, publisher } = found;
  const versions = listed(found);
  const rows = versions.map(({ version, createdAt, size_bytes, deprecated }) => [
    ...[version, createdAt?.slice(0, 10), size_bytes, deprecated ? 'deprecated' : undefined],
  ]);
  return {
    report: { status: 'found', publisher: publisher?.id, node, versions },
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
  const versions = listed(indexed);
  const labels = versions.map((each) => `${each.version}${each.deprecated ? ' (deprecated)' : ''}`);
  const more = labels.length > maxShown ? `, and ${labels.length - maxShown} more` : '';
  const found = await registry.hostNodes.list(wanted.node, String(version.version));
  requireShape(z.optional(IndexedHostNodes), found, `the host nodes of ${wanted.node}`);
  const { host_node_extract_status: status = 'pending', host_node_extract_reason: reason } = found ?? {};
  const hostNodes = found?.host_nodes.map((each) => ({ ...each, left_open: each.left_open ?? [] }));
  const facts = {
    ...{ name: node.name, description: node.description, license: node.license, repository: node.repository },
    publisher: node.publisher?.name ?? node.publisher?.id,
    status: node.status === 'NodeStatusDeleted' ? 'withdrawn' : undefined,
    reason: node.status_detail,
    version: version.status === 'NodeVersionStatusDeleted' ? 'withdrawn' : undefined,
    created: version.createdAt,
    size: version.size_bytes === undefined ? undefined : `${version.size_bytes} bytes`,
    sha256: version.sha256,
    download: version.downloadUrl,
    'published by': provenanceOf(version),
    dependencies: version.dependencies === undefined ? 'unknown' : version.dependencies.join(', ') || 'none',
    changelog: version.changelog,
    versions: labels.slice(0, maxShown).join(', ') + more,
  };
  return {
    report: {
      ...{ status: 'found', publisher: node.publisher?.id, node: node.id, version: version.version },
      ...{ nodes: [node], versions, node_version: version },
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

function provenanceOf({ provenance }: PublicVersion): string | undefined {
  if (!provenance) return undefined;
  const { repository, commit, ref, workflow, run, issuer } = provenance;
  return `${workflow} of ${repository} at ${ref} (${commit}), run ${run} (${issuer})`;
}

const named = ({ host_node_name: name = '', ...fields }: HostNode) => ({ name, fields });

type HostNode = IndexedHostNodes['host_nodes'][number];
