import type * as z from 'zod/mini';
import { isWebAddress } from '@node-registry/registry-rules/web-address';
import {
  type IndexedNode,
  type PublicVersion,
  type RegistryClient,
  RegistryError,
} from '@node-registry/registry-client';
import { IndexedNode as IndexedNodeFile } from '@node-registry/registry-rules/schemas/index-files';
import { normalizeVersion } from '@node-registry/registry-rules/version-label';
import { type Address, connect } from './connect.ts';
import { explain, Failure } from './failure.ts';
import type { Ending } from './output.ts';

export interface Wanted {
  node: string;
  version: string | undefined;
}

/** NODE or NODE@VERSION, spelled as for a publish: `v1.0` is 1.0.0. */
export function wantedOf(text: string): Wanted {
  const [, node = text, version] = /^([^@]+)@(.+)$/.exec(text) ?? [];
  return { node, version: version && (normalizeVersion(version) ?? version) };
}

/**
 * A client with the URL of the registry's files. Without an option, it comes from the registry's response
 * about the wanted version.
 */
export async function openRegistry(flags: Address, wanted?: Wanted): Promise<RegistryClient> {
  const { baseUrl } = flags;
  const downloadsUrl = flags.downloadsUrl ?? (await downloadsOf(baseUrl, wanted));
  if (downloadsUrl !== undefined && !isWebAddress(downloadsUrl))
    throw new Failure(
      'usage',
      `The registry's downloads are not at an http or https address: ${downloadsUrl}.`,
    );
  if (downloadsUrl === undefined)
    throw new Failure(
      'usage',
      'Say where the registry serves its files: --downloads-url, or NODE_REGISTRY_DOWNLOADS_URL. Every download URL begins with it.',
      { about: '--downloads-url' },
    );
  return connect({ baseUrl, downloadsUrl });
}

/** For a command whose requests go to the registry's files. */
export function ofFiles<Given extends unknown[]>(command: (...given: Given) => Promise<Ending>) {
  const unreachable = '--downloads-url, or NODE_REGISTRY_DOWNLOADS_URL';
  return (...given: Given) => command(...given).catch(explain({ unreachable }));
}

async function downloadsOf(baseUrl: string, wanted: Wanted | undefined): Promise<string | undefined> {
  if (wanted?.version === undefined) return undefined;
  const pair = { node_id: wanted.node, version: wanted.version };
  const [entry] = await connect({ baseUrl }).versions.bulk([pair]).catch(explain({}));
  return filesOf(entry?.node_version?.downloadUrl);
}

/** Every download URL begins with the URL of the registry's files. */
export function filesOf(downloadUrl = ''): string | undefined {
  return /^(.+)\/archives\//.exec(downloadUrl)?.[1];
}

/** A newer registry may have values that this command doesn't know, but no other types. */
export function requireShape(schema: z.ZodMiniType, file: unknown, what: string): void {
  const issue = schema.safeParse(file).error?.issues.find(({ code }) => code === 'invalid_type');
  if (!issue) return;
  const place = issue.path.join('.');
  const sentence = `The registry's file on ${what} is not valid at "${place}": ${issue.message}.`;
  throw new RegistryError('invalid_reply', sentence);
}

export async function requireNode(registry: RegistryClient, id: string): Promise<IndexedNode> {
  const node = await registry.nodes.get(id);
  if (!node) throw new Failure('rejected', `There is no published node ${id}.`, { code: 'not_found' });
  requireShape(IndexedNodeFile, node, id);
  if (node.status === 'NodeStatusBanned')
    throw new Failure('rejected', `The node ${id} is banned.`, { code: 'node_banned' });
  return node;
}

/** A withdrawn version is only for those who name it. */
export function listed({ versions }: IndexedNode): PublicVersion[] {
  return versions.filter(({ status }) => status !== 'NodeVersionStatusDeleted');
}

/** The named version, or the latest. */
export function requireVersion(node: IndexedNode, label: string | undefined): PublicVersion {
  const found =
    label === undefined ? node.latest_version : node.versions.find(({ version }) => version === label);
  if (found) return found;
  const known = listed(node)
    .slice(0, 5)
    .map(({ version }) => version);
  throw new Failure(
    'rejected',
    `${node.id} has no published version${label === undefined ? '' : ` ${label}`}. It has: ${known.join(', ') || 'none'}.`,
    { code: 'not_found' },
  );
}
