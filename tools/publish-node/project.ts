import { NodeId, PublisherId } from '../../lib/schemas/names.ts';
import { normalizeVersion } from '../../lib/schemas/version-label.ts';

import type { PublishInput } from '../registry-client/client.ts';
import { Failure } from './failure.ts';
import { readPyProject } from './pyproject.ts';
import { semanticSpelling } from './spelling.ts';
import { isWebAddress } from './web-address.ts';

/** What is known of a node and its version, from the pyproject.toml or the command line. */
export interface Metadata {
  publisher?: string | undefined;
  node?: string | undefined;
  version?: string | undefined;
  displayName?: string | undefined;
  description?: string | undefined;
  changelog?: string | undefined;
  repository?: string | undefined;
  license?: string | undefined;
  icon?: string | undefined;
  banner?: string | undefined;
  hostVersion?: string | undefined;
  hostFrontendVersion?: string | undefined;
  dependencies?: string[] | undefined;
  tags?: string[] | undefined;
  os?: string[] | undefined;
  accelerators?: string[] | undefined;
  /** Files and folders to publish although git ignores them. */
  includes?: string[] | undefined;
  /** Files to publish although they look like secrets. */
  allow?: string[] | undefined;
}

export type Named = Metadata & { node: string; version: string };
export type Project = Named & { publisher: string };

/** The folder's own metadata, with what the command line says in its place. */
export async function readProject(folder: string, flags: Metadata): Promise<Project> {
  const named = await readNamed(folder, flags);
  const { publisher } = named;
  if (!publisher) throw missing('publisher', '[tool.node-registry] publisher', '--publisher');
  check('publisher', publisher, PublisherId.safeParse(publisher));
  return { ...named, publisher };
}

/** As much of it as says which version is meant. */
export async function readNamed(folder: string, flags: Metadata): Promise<Named> {
  const said = Object.entries(flags).filter(([, value]) => value !== undefined);
  const metadata: Metadata = { ...(await readPyProject(folder)), ...Object.fromEntries(said) };
  const { node, version } = metadata;
  if (!node) throw missing('node', '[project] name', '--node');
  if (!version) throw missing('version', '[project] version', '--version');
  check('node', node, NodeId.safeParse(node));
  const normal = normalizeVersion(version);
  if (normal === undefined) throw notSemantic(version);
  return { ...metadata, node, version: normal };
}

function missing(what: string, place: string, flag: string): Failure {
  return new Failure('usage', `Name the ${what}: in pyproject.toml as ${place}, or with ${flag}.`);
}

function notSemantic(version: string): Failure {
  const proposal = semanticSpelling(version);
  const hint = proposal === undefined ? 'Write one such as 1.2.3 or 2.0.0-beta.1.' : `Write "${proposal}".`;
  return new Failure('usage', `The version "${version}" is not a semantic version. ${hint}`);
}

interface Checked {
  success: boolean;
  error?: { issues: readonly { message: string }[] } | undefined;
}

function check(what: string, value: string, { success, error }: Checked): void {
  if (success) return;
  const sentences = error?.issues.map(({ message }) => message).join('; ');
  throw new Failure('usage', `The ${what} "${value}" is not right: ${sentences}.`);
}

/** The project as the registry takes it. Fields that nobody named are kept as they are. */
export function requestOf(
  project: Project,
): Pick<PublishInput, 'publisherId' | 'nodeId' | 'node' | 'version'> {
  const supported = {
    ...(project.hostVersion && { supported_host_version: project.hostVersion }),
    ...(project.hostFrontendVersion && { supported_host_frontend_version: project.hostFrontendVersion }),
    ...(project.os && { supported_os: project.os }),
    ...(project.accelerators && { supported_accelerators: project.accelerators }),
  };
  return {
    publisherId: project.publisher,
    nodeId: project.node,
    node: {
      id: project.node,
      ...(project.displayName && { name: project.displayName }),
      ...(project.description && { description: project.description }),
      ...(project.license && { license: project.license }),
      ...(project.tags && { tags: project.tags }),
      ...addressed('repository', project.repository),
      ...addressed('icon', project.icon),
      ...addressed('banner_url', project.banner),
      ...supported,
    },
    version: {
      version: project.version,
      ...(project.changelog && { changelog: project.changelog }),
      ...(project.dependencies && { dependencies: project.dependencies }),
      ...supported,
    },
  };
}

/** Packs also write paths there, which the registry cannot show. */
function addressed(field: 'repository' | 'icon' | 'banner_url', value: string | undefined) {
  return value !== undefined && isWebAddress(value) ? { [field]: value } : {};
}

/** What of the metadata is not published, and why. */
export function metadataNotes(project: Project): string[] {
  return (['repository', 'icon', 'banner'] as const)
    .filter((field) => project[field] !== undefined && !isWebAddress(String(project[field])))
    .map((field) => `The ${field} "${project[field]}" is left out: it is not an http or https address.`);
}
