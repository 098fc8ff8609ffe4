import { fields, table } from '@node-registry/command-line/table';
import type { IndexedNode, PublicVersion } from '@node-registry/registry-client';
import { archiveLimits } from '@node-registry/registry-rules/archives/limits';
import { CatalogPiece, IndexedHostNodes } from '@node-registry/registry-rules/schemas/index-files';
import * as z from 'zod/mini';
import { type Address, connect } from './connect.ts';
import { exitCodes, Failure } from './failure.ts';
import { hostNodeLines } from './host-nodes.ts';
import { write } from './new-file.ts';
import { type Ending, type Mean, say } from './output.ts';
import { meantBy, readNamed, requireNamed } from './project.ts';
import type { Metadata } from './pyproject.ts';
import {
  filesOf,
  listed,
  openRegistry,
  requireNode,
  requireShape,
  requireVersion,
  wantedOf,
} from './reading.ts';

interface StatusFlags extends Address {
  metadata: Metadata;
}

/** Anyone may ask: it takes no token. */
export async function statusCommand(folder: string, flags: StatusFlags, mean: Mean): Promise<Ending> {
  const read = await readNamed(folder, flags.metadata, true);
  mean(meantBy(read));
  const { publisher, node, version } = requireNamed(read);
  const registry = connect(flags);
  const [entry] = await registry.versions.bulk([{ node_id: node, version }]);
  const found = entry?.node_version;
  if (found === undefined) {
    const sentence = `${node} ${version}: ${entry?.error_message ?? 'The version does not exist.'}`;
    throw new Failure('rejected', sentence, { code: entry?.status ?? 'not_found' });
  }
  const word = String(found.status).replace('NodeVersionStatus', '').toLowerCase();
  // Versions of a withdrawn node keep their own state.
  const withdrawn = await readWithdrawn(flags, node, found.downloadUrl);
  const state = word === 'deleted' || withdrawn ? 'withdrawn' : word;
  const reason = withdrawn ? withdrawn.status_detail : found.status_reason;
  const rows = {
    reason,
    created: found.createdAt,
    size: found.size_bytes === undefined ? undefined : `${found.size_bytes} bytes`,
    sha256: found.sha256,
    download: found.downloadUrl,
    'host nodes': [found.host_node_extract_status, found.host_node_extract_reason].filter(Boolean).join(': '),
  };
  const report = {
    status: state,
    publisher: publisher || null,
    node,
    version,
    node_version: found,
    reason,
    host_node_extract_status: found.host_node_extract_status,
    host_node_extract_reason: found.host_node_extract_reason,
    download_url: found.downloadUrl,
    sha256: found.sha256,
    archive_bytes: found.size_bytes,
  };
  const lines = [
    withdrawn
      ? `${node} is withdrawn, with all versions. To put it back: publish-node restore ${node}`
      : `${node} ${version} is ${state}.`,
    ...(found.status_reason_code === 'awaiting_upload' ? ['To finish it: publish-node publish'] : []),
    ...fields(rows).split('\n'),
  ];
  const exitCode =
    state === 'active' ? exitCodes.done : state === 'pending' ? exitCodes.tryAgain : exitCodes.rejected;
  return { exitCode, report, lines };
}

const filesMs = 5_000;

/** The node, if the registry's files say that it is withdrawn. */
async function readWithdrawn(flags: Address, node: string, downloadUrl?: string) {
  const downloadsUrl = filesOf(downloadUrl);
  if (downloadsUrl === undefined) return undefined;
  const files = connect({ ...flags, downloadsUrl }).nodes;
  const found = await files.get(node, { attempts: 1, timeoutMs: filesMs }).catch(() => undefined);
  return found?.status === 'NodeStatusDeleted' ? found : undefined;
}

const maxShown = 20;
const maxDescription = 60;

interface SearchFlags extends Address {
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

export async function versionsCommand(id: string, flags: Address, mean: Mean): Promise<Ending> {
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

/** A node and one of its versions, as NODE or NODE@VERSION names them. */
async function findVersion(text: string, flags: Address, mean: Mean) {
  const wanted = wantedOf(text);
  mean({ publisher: undefined, ...wanted });
  const registry = await openRegistry(flags, wanted);
  const node = await requireNode(registry, wanted.node);
  return { registry, node, version: requireVersion(node, wanted.version) };
}

export async function showCommand(text: string, flags: Address, mean: Mean): Promise<Ending> {
  const { registry, node: indexed, version } = await findVersion(text, flags, mean);
  const { versions: _, latest_version: __, ...node } = indexed;
  const versions = listed(indexed);
  const labels = versions.map((each) => `${each.version}${each.deprecated ? ' (deprecated)' : ''}`);
  const more = labels.length > maxShown ? `, and ${labels.length - maxShown} more` : '';
  const found = await registry.hostNodes.list(String(node.id), String(version.version));
  requireShape(z.optional(IndexedHostNodes), found, `the host nodes of ${node.id}`);
  const { host_node_extract_status: status = 'pending', host_node_extract_reason: reason } = found ?? {};
  const hostNodes = found?.host_nodes.map((each) => ({ ...each, left_open: each.left_open ?? [] }));
  const facts = {
    name: node.name,
    description: node.description,
    license: node.license,
    repository: node.repository,
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
      status: 'found',
      publisher: node.publisher?.id,
      node: node.id,
      version: version.version,
      nodes: [node],
      versions,
      node_version: version,
      download_url: version.downloadUrl,
      sha256: version.sha256,
      archive_bytes: version.size_bytes,
      host_node_extract_status: status,
      host_node_extract_reason: reason,
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

interface DownloadFlags extends Address {
  output?: string | undefined;
}

function warn({ id, status, status_detail: why }: IndexedNode, version: PublicVersion): void {
  const because = (text: string | undefined) => (text ? `: ${text}` : '.');
  if (status === 'NodeStatusDeleted') say(`${id} is withdrawn${because(why)}`);
  if (version.status === 'NodeVersionStatusDeleted')
    say(`${id} ${version.version} is withdrawn${because(version.status_reason)}`);
  if (version.deprecated) say(`${id} ${version.version} is deprecated${because(version.changelog)}`);
  if (version.status === 'NodeVersionStatusFlagged')
    say(`${id} ${version.version} is flagged${because(version.status_reason)}`);
}

/** Downloads a version, and keeps it only if its bytes match the published ones. */
export async function downloadCommand(text: string, flags: DownloadFlags, mean: Mean): Promise<Ending> {
  const { registry, node, version } = await findVersion(text, flags, mean);
  warn(node, version);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of await registry.download(version)) {
    bytes += chunk.length;
    if (bytes > archiveLimits.archiveBytes)
      throw new Failure('archiveRejected', `The archive has more than ${archiveLimits.archiveBytes} bytes.`);
    chunks.push(chunk);
  }
  const archive = Buffer.concat(chunks);
  // Names from the registry could be paths.
  const file = flags.output ?? `${node.id}-${version.version}.zip`.replaceAll(/[^\w.+-]/g, '-');
  await write(file, archive);
  return {
    report: {
      status: 'downloaded',
      publisher: node.publisher?.id,
      node: node.id,
      version: version.version,
      download_url: version.downloadUrl,
      sha256: version.sha256,
      archive_bytes: archive.length,
      output: file,
    },
    lines: [`sha256  ${version.sha256}, as published`, `Wrote ${file}.`],
  };
}
