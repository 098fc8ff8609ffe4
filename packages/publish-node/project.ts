import { realpath, stat } from 'node:fs/promises';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import { NodeId, PublisherId } from '@node-registry/registry-rules/names';
import { normalizeVersion, semanticSpelling } from '@node-registry/registry-rules/version-label';

import type { PublishInput } from '@node-registry/registry-client';
import { Failure, throwAll } from './failure.ts';
import { wantedOf } from './reading.ts';
import type { Meant } from './output.ts';
import { type Metadata, type PyProject, readPyProject } from './pyproject.ts';
import { isRunByPage } from '@node-registry/registry-rules/web-address';

export type Named = Metadata & { node: string; version: string };
export type Project = Named & { publisher: string };

interface ReadMetadata extends PyProject {
  metadata: Metadata;
  /** The version in pyproject.toml, even if the command line names another. */
  ownVersion: string | undefined;
}

export async function requireFolder(folder: string): Promise<string> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats?.isDirectory()) return realpath(folder);
  throw new Failure('usage', `There is no folder "${folder}".`);
}

/** The folder's own metadata, overridden by the command line. */
export async function readMetadata(folder: string, flags: Metadata): Promise<ReadMetadata> {
  const said = Object.entries(flags).filter(([, value]) => value !== undefined);
  const read = await readPyProject(await requireFolder(folder));
  const ownVersion = read.metadata.version;
  return { ...read, ownVersion, metadata: { ...read.metadata, ...Object.fromEntries(said) } };
}

/**
 * The same for a folder, or for NODE or NODE@VERSION, whose publisher the current folder may name. A version alone is
 * one of the node in the current folder.
 */
export async function readNamed(text: string, flags: Metadata, hasVersion = false): Promise<ReadMetadata> {
  const isFolder = (await stat(text).catch(() => undefined))?.isDirectory() === true;
  const wanted = wantedOf(text);
  if (isFolder || !NodeId.safeParse(wanted.node).success) return readMetadata(text, flags);
  const { metadata } = await readMetadata('.', flags);
  const label = metadata.node && normalizeVersion(text);
  const { node, version = flags.version } = label ? { node: metadata.node, version: label } : wanted;
  if (hasVersion && version === undefined) {
    const ofNode = `There is no folder "${text}". For a node, name its version: ${node}@VERSION.`;
    throw new Failure('usage', normalizeVersion(text) ? `Name the node: NODE@${text}.` : ofNode);
  }
  const named = { publisher: metadata.publisher, node, version };
  return { metadata: named, failures: [], unread: [], ownVersion: undefined };
}

/** Everything that a publish needs, or all problems with it. */
export async function requireProject(read: ReadMetadata, others: readonly Failure[] = []): Promise<Project> {
  throwAll([...read.failures, ...nameFailures(read), ...others, ...publisherFailures(read)]);
  return named(read.metadata);
}

/**
 * An installed pack has the version of its pyproject.toml, and the same bytes must not become two versions.
 * So neither the command line nor the job's tag may name another one.
 */
export function versionFailures(
  { ownVersion, metadata }: ReadMetadata,
  flags: Metadata,
  environment: NodeJS.ProcessEnv,
): Failure[] {
  const own = ownVersion && (normalizeVersion(ownVersion) ?? semanticSpelling(ownVersion));
  const tag = flags.version === undefined ? tagOf(environment) : undefined;
  const other = normalizeVersion(tag ?? metadata.version ?? '');
  if (!own || other === undefined || own === other) return [];
  const by = tag === undefined ? '--version' : `the tag ${tag}`;
  const sentence = `The version is ${other} by ${by}, and ${own} in pyproject.toml, which the installed pack would show. Change one of them, or insist with --other-version.`;
  return [new Failure('usage', sentence, { about: 'version' })];
}

/** Undefined if the tag isn't a version. */
function tagOf(environment: NodeJS.ProcessEnv): string | undefined {
  const { GITHUB_ACTIONS, GITHUB_REF_TYPE, GITHUB_REF_NAME, GITLAB_CI, CI_COMMIT_TAG } = environment;
  const tag =
    GITHUB_ACTIONS === 'true' && GITHUB_REF_TYPE === 'tag'
      ? GITHUB_REF_NAME
      : GITLAB_CI === 'true'
        ? CI_COMMIT_TAG
        : undefined;
  return tag !== undefined && /\d+\.\d+/.test(tag) && normalizeVersion(tag) !== undefined ? tag : undefined;
}

/** The part that identifies the version. */
export function requireNamed(read: ReadMetadata): Named {
  throwAll([...read.failures, ...nameFailures(read)]);
  return named(read.metadata);
}

/** The part that identifies the node and its publisher. */
export function requireOwned(read: ReadMetadata): { publisher: string; node: string } {
  throwAll([...read.failures, ...nodeFailures(read), ...publisherFailures(read)]);
  const { publisher = '', node = '' } = read.metadata;
  return { publisher, node };
}

/** The names for a failure report, valid or not. */
export function meantBy({ metadata: { publisher, node, version } }: ReadMetadata): Meant {
  return { publisher, node, version: version && (normalizeVersion(version) ?? version) };
}

function named({ publisher = '', node = '', version = '', ...metadata }: Metadata): Project {
  return { ...metadata, publisher, node, version: normalizeVersion(version) ?? version };
}

function nameFailures(read: ReadMetadata): Failure[] {
  const { version } = read.metadata;
  return [
    ...nodeFailures(read),
    ...(version ? notSemantic(version) : missing(read, 'version', 'project.version', '--version')),
  ];
}

function nodeFailures(read: ReadMetadata): Failure[] {
  const { node } = read.metadata;
  return node ? invalid('node', node, NodeId) : missing(read, 'node', 'project.name', '--node');
}

function publisherFailures(read: ReadMetadata): Failure[] {
  const { publisher } = read.metadata;
  const key = 'tool.node-registry.publisher';
  return publisher
    ? invalid('publisher', publisher, PublisherId)
    : missing(read, 'publisher', key, '--publisher');
}

/** Undefined if pyproject.toml may state it in a way that can't be read here. */
function missing({ unread }: ReadMetadata, what: string, key: string, flag: string): Failure[] {
  if (unread.some((path) => key.startsWith(path))) return [];
  const [, table, field] = /^(.*)\.(.*)$/.exec(key) ?? [];
  const sentence = `Name the ${what}: in pyproject.toml as [${table}] ${field}, or with ${flag}.`;
  return [new Failure('usage', sentence, { about: what })];
}

function notSemantic(version: string): Failure[] {
  if (normalizeVersion(version) !== undefined) return [];
  const proposal = semanticSpelling(version);
  const hint = proposal === undefined ? 'Write one such as 1.2.3 or 2.0.0-beta.1.' : `Write "${proposal}".`;
  const sentence = `The version "${version}" is not a semantic version. ${hint}`;
  return [new Failure('usage', sentence, { about: 'version' })];
}

const maxShown = 100;

function invalid(what: string, value: string, schema: typeof NodeId | typeof PublisherId): Failure[] {
  const { error } = schema.safeParse(value);
  if (!error) return [];
  const sentences = error.issues.map((issue) => issueSentence(issue, value)).join('; ');
  const shown = value.length > maxShown ? `${value.slice(0, maxShown)}…` : value;
  return [new Failure('usage', `The ${what} "${shown}" is not valid: ${sentences}.`, { about: what })];
}

/** The project in the registry's format. Absent fields keep their values. */
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

/** Sent as written: a URL of any kind, `git@host:path` or a path. */
function addressed(field: 'repository' | 'icon' | 'banner_url', value: string | undefined) {
  return value && !isRunByPage(value) ? { [field]: value } : {};
}

/** The metadata that isn't published, and why. */
export function metadataNotes(project: Project): string[] {
  const addresses = (['repository', 'icon', 'banner'] as const)
    .filter((field) => isRunByPage(project[field] ?? ''))
    .map((field) => `The ${field} "${project[field]}" is left out: a page that shows it would run it.`);
  return [...addresses, ...(project.notes ?? [])];
}
