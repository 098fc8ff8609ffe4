import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import { parse, TomlError } from 'smol-toml';
import * as z from 'zod/mini';
import { didYouMean } from './did-you-mean.ts';
import { Failure, type Problem } from './failure.ts';
import { readOwnFile, statsOf } from './files/own-file.ts';
import { readRequirements } from './requirements.ts';

const text = z.optional(z.string());
const texts = z.optional(z.array(z.string()));

const OwnTable = z.object({
  publisher: text,
  'display-name': text,
  icon: text,
  banner: text,
  tags: texts,
  includes: texts,
  allow: texts,
  'requires-host': text,
  'requires-host-frontend': text,
});

/** The table of packs that were published elsewhere before; its other fields are ignored. */
const PeersTable = z.object({
  PublisherId: text,
  DisplayName: text,
  Icon: text,
  Banner: text,
  includes: texts,
  'requires-comfyui': text,
  version: z.optional(z.object({ path: text })),
});

const license = z.optional(
  z.union([z.string(), z.object({ file: text, text })], 'must be text, or a table with file or text'),
);

/** Only the tables that are read here; a pyproject.toml contains much more. */
const Tables = z.object({
  project: z._default(
    z.object({
      name: text,
      version: text,
      description: text,
      dependencies: texts,
      classifiers: texts,
      urls: z.optional(z.record(z.string(), z.string())),
      license,
    }),
    {},
  ),
  tool: z._default(
    z.object({
      'node-registry': z._default(OwnTable, {}),
      comfy: z._default(PeersTable, {}),
      hatch: z._default(z.object({ version: z.optional(z.object({ path: text })) }), {}),
    }),
    { 'node-registry': {}, comfy: {}, hatch: {} },
  ),
});
type Tables = z.infer<typeof Tables>;

/** The known metadata of a node and its version, from the pyproject.toml or the command line. */
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
  /** The folder's own metadata that isn't published, and why. */
  notes?: string[] | undefined;
}

export interface PyProject {
  /** Its values; empty ones count as absent. */
  metadata: Metadata;
  /** Its problems, and the keys that are therefore not read; an empty key is the whole file. */
  failures: readonly Failure[];
  unread: readonly string[];
}

export async function readPyProject(folder: string): Promise<PyProject> {
  if (!statsOf(join(folder, projectFile))) return { metadata: {}, failures: [], unread: [] };
  const root = await realpath(folder);
  try {
    const file = await readOwnFile(root, projectFile);
    if (file === undefined) return unreadable('is not a file of the folder of at most 1 MB');
    const value = parse(file.content.toString().replace(/^\uFEFF/, ''));
    return withRequirements(await withDynamicVersion(read(value), value, root), root);
  } catch (error) {
    // The parser's own sentence quotes the file.
    if (error instanceof TomlError)
      return unreadable(`is not valid TOML at line ${error.line}, column ${error.column}`);
    throw error;
  }
}

const projectFile = 'pyproject.toml';

/** A version that is in a file of the pack, as other tools read it from there without running anything. */
async function withDynamicVersion(project: PyProject, value: object, root: string): Promise<PyProject> {
  const { tool } = Tables.safeParse(value).data ?? {};
  const path = tool?.comfy.version?.path ?? tool?.hatch.version?.path;
  if (path === undefined || project.metadata.version !== undefined) return project;
  const file = await readOwnFile(root, path);
  const found = /^(?:__version__|VERSION|version)\s*(?::[^=\n]*)?=\s*["']([^"'\n]+)["']/m;
  const version = found.exec(file?.content.toString() ?? '')?.[1];
  return version === undefined ? project : { ...project, metadata: { ...project.metadata, version } };
}

/** Unnamed dependencies are unknown. An empty list means that there are none. */
async function withRequirements(project: PyProject, root: string): Promise<PyProject> {
  const { metadata, unread } = project;
  const isNamed = metadata.dependencies !== undefined || unread.includes('project.dependencies');
  const dependencies = isNamed ? undefined : await readRequirements(root);
  if (dependencies === undefined) return project;
  const note = `Dependencies are read from requirements.txt (${dependencies.length}), because pyproject.toml has no [project] dependencies.`;
  const notes = [...(metadata.notes ?? []), note];
  return { ...project, metadata: { ...metadata, dependencies, notes } };
}

function unreadable(why: string): PyProject {
  const failure = new Failure('usage', `The ${projectFile} ${why}.`, { about: projectFile });
  return { metadata: {}, failures: [failure], unread: [''] };
}

/** The valid part of it, and the problems of the rest. */
function read(value: object): PyProject {
  const { error } = Tables.safeParse(value);
  const issues = error?.issues ?? [];
  const mistakes = issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issueSentence(issue, value).replace('an object', 'a table'),
  }));
  const unread = issues.map(({ path }) => path.slice(0, path[0] === 'tool' ? 3 : 2));
  for (const path of unread) remove(value, path);
  const problems = [...mistakes, ...unknownKeys(value)];
  return {
    metadata: metadataOf(Tables.parse(value)),
    failures:
      problems.length > 0 ? [new Failure('usage', 'The pyproject.toml has mistakes.', { problems })] : [],
    unread: unread.map((path) => path.join('.')),
  };
}

function remove(value: object, path: readonly PropertyKey[]): void {
  const last = path.at(-1);
  const table = path.slice(0, -1).reduce((inner, key) => Reflect.get(inner, key) ?? {}, value);
  if (last !== undefined) Reflect.deleteProperty(table, last);
}

function metadataOf({ project, tool }: Tables): Metadata {
  const { 'node-registry': own, comfy: peers } = tool;
  const { license } = project;
  const dependencies = project.dependencies?.filter((dependency) => dependency.trim() !== '');
  // Packs name the host's pages among their dependencies; it is no package that they install.
  const frontend = dependencies?.find((dependency) => frontendPackage.test(dependency));
  const metadata: Metadata = {
    publisher: own.publisher || peers.PublisherId,
    node: project.name,
    version: project.version,
    displayName: own['display-name'] || peers.DisplayName,
    description: project.description,
    dependencies: dependencies?.filter((dependency) => dependency !== frontend),
    license: licenseOf(license),
    repository: repositoryOf(project.urls ?? {}),
    icon: own.icon || peers.Icon,
    banner: own.banner || peers.Banner,
    tags: own.tags,
    includes: own.includes ?? peers.includes,
    allow: own.allow,
    hostVersion: own['requires-host'] || peers['requires-comfyui'],
    hostFrontendVersion: own['requires-host-frontend'] || frontend?.replace(frontendPackage, '').trim(),
    os: classified(project.classifiers, 'Operating System :: '),
    accelerators: classified(project.classifiers, 'Environment :: GPU :: ', 'GPU :: '),
    notes: typeof license === 'object' && license.text && !licenseOf(license) ? [licenseNote] : undefined,
  };
  const said = Object.entries(metadata).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(said);
}

const frontendPackage = /^\s*comfyui[-_.]frontend[-_.]package(?![\w.-])/i;
const licenseNote = 'The text of the license is left out. Name its file: license = { file = "LICENSE" }.';

/** Only for our own table: otherwise, a misspelled key would be silently ignored. */
function unknownKeys(value: object): Problem[] {
  const table = (value as { tool?: { 'node-registry'?: object } }).tool?.['node-registry'] ?? {};
  const known = Object.keys(OwnTable.shape);
  return Object.keys(table)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      path: `tool.node-registry.${key}`,
      message: `is not a known key.${didYouMean(key, known)}`,
    }));
}

function licenseOf(license: Tables['project']['license']): string | undefined {
  if (typeof license !== 'object') return license;
  const name = license.text?.trim() ?? '';
  return license.file || (/^[^\n]{1,100}$/.test(name) ? name : undefined);
}

/** Projects use many names for it, in any case. */
function repositoryOf(urls: Record<string, string>): string | undefined {
  const byName = new Map(Object.entries(urls).map(([name, url]) => [name.toLowerCase(), url]));
  return ['repository', 'source', 'source code', 'github', 'homepage']
    .map((name) => byName.get(name))
    .find((url) => url !== undefined && url !== '');
}

/** The rest of classifiers with a prefix, such as `POSIX :: Linux`; undefined if there are none. */
function classified(classifiers: readonly string[] = [], prefix: string, kept = ''): string[] | undefined {
  const values = classifiers
    .filter((classifier) => classifier.startsWith(prefix))
    .map((classifier) => kept + classifier.slice(prefix.length));
  return values.length > 0 ? values : undefined;
}
