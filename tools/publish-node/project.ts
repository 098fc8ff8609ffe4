import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as z from 'zod';
import { Failure } from './failure.ts';

/** What is known of a node and its version, whoever said it. */
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
  dependencies?: string[] | undefined;
}

export type Project = Metadata & { publisher: string; node: string; version: string };

const ToolTable = z.object({
  publisher: z.string().optional(),
  'display-name': z.string().optional(),
  icon: z.string().optional(),
});

/** Only what is read here; a pyproject.toml holds much more. */
const PyProject = z.object({
  project: z
    .object({
      name: z.string(),
      version: z.string(),
      description: z.string(),
      dependencies: z.array(z.string()),
      urls: z.record(z.string(), z.string()),
      license: z.union([z.string(), z.object({ file: z.string() }), z.object({ text: z.string() })]),
    })
    .partial()
    .default({}),
  tool: z.object({ 'node-registry': ToolTable.default({}) }).default({ 'node-registry': {} }),
});

/** The folder's own metadata, with what the command line says in its place. */
export async function readProject(folder: string, flags: Metadata): Promise<Project> {
  const said = Object.entries(flags).filter(([, value]) => value !== undefined);
  const metadata: Metadata = { ...(await readPyProject(folder)), ...Object.fromEntries(said) };
  const { publisher, node, version } = metadata;
  if (!publisher) throw missing('publisher', '[tool.node-registry] publisher', '--publisher');
  if (!node) throw missing('node', '[project] name', '--node');
  if (!version) throw missing('version', '[project] version', '--version');
  return { ...metadata, publisher, node, version };
}

async function readPyProject(folder: string): Promise<Metadata> {
  const content = await readFile(join(folder, 'pyproject.toml'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure('usage', `The pyproject.toml cannot be read: ${error.message}`);
  });
  if (content === undefined) return {};
  const { project, tool } = check(content);
  const { name, version, description, dependencies, license, urls } = project;
  const { publisher, icon, 'display-name': displayName } = tool['node-registry'];
  return {
    publisher,
    node: name,
    version,
    displayName,
    description,
    dependencies,
    license: typeof license === 'object' ? ('file' in license ? license.file : undefined) : license,
    repository: repositoryOf(urls ?? {}),
    icon,
  };
}

function check(content: string): z.infer<typeof PyProject> {
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw new Failure('usage', `The pyproject.toml is not valid TOML: ${String(error)}`);
  }
  const parsed = PyProject.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Failure('usage', `The pyproject.toml is not right. ${faults.join('; ')}`);
}

/** Projects call it many names, in any case. */
function repositoryOf(urls: Record<string, string>): string | undefined {
  const byName = new Map(Object.entries(urls).map(([name, url]) => [name.toLowerCase(), url]));
  return ['repository', 'source', 'source code', 'github', 'homepage']
    .map((name) => byName.get(name))
    .find((url) => url !== undefined);
}

function missing(what: string, place: string, flag: string): Failure {
  return new Failure('usage', `Name the ${what}: in pyproject.toml as ${place}, or with ${flag}.`);
}
