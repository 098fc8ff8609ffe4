import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { didYouMean } from './did-you-mean.ts';
import { Failure } from './failure.ts';
import type { Metadata } from './project.ts';

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

/** The table that packs carry which were published elsewhere before; what it has in addition is not read. */
const ComfyTable = z.object({
  PublisherId: text,
  DisplayName: text,
  Icon: text,
  Banner: text,
  includes: texts,
  'requires-comfyui': text,
});

/** Only what is read here; a pyproject.toml holds much more. */
const PyProject = z.object({
  project: z._default(
    z.object({
      name: text,
      version: text,
      description: text,
      dependencies: texts,
      classifiers: texts,
      urls: z.optional(z.record(z.string(), z.string())),
      license: z.optional(z.union([z.string(), z.object({ file: text, text })])),
    }),
    {},
  ),
  tool: z._default(
    z.object({ 'node-registry': z._default(OwnTable, {}), comfy: z._default(ComfyTable, {}) }),
    {
      'node-registry': {},
      comfy: {},
    },
  ),
});

/** What a folder's pyproject.toml says of it; what it leaves empty counts as absent. */
export async function readPyProject(folder: string): Promise<Metadata> {
  const content = await readFile(join(folder, 'pyproject.toml'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure('usage', `The pyproject.toml cannot be read: ${error.message}`);
  });
  if (content === undefined) return {};
  const { project, tool } = check(content.replace(/^\uFEFF/, ''));
  const { 'node-registry': own, comfy } = tool;
  const metadata: Metadata = {
    publisher: own.publisher || comfy.PublisherId,
    node: project.name,
    version: project.version,
    displayName: own['display-name'] || comfy.DisplayName,
    description: project.description,
    dependencies: project.dependencies?.filter((dependency) => dependency.trim() !== ''),
    license: licenseOf(project.license),
    repository: repositoryOf(project.urls ?? {}),
    icon: own.icon || comfy.Icon,
    banner: own.banner || comfy.Banner,
    tags: own.tags,
    includes: own.includes ?? comfy.includes,
    allow: own.allow,
    hostVersion: own['requires-host'] || comfy['requires-comfyui'],
    hostFrontendVersion: own['requires-host-frontend'],
    os: classified(project.classifiers, 'Operating System :: '),
    accelerators: classified(project.classifiers, 'Environment :: GPU :: ', 'GPU :: '),
  };
  const said = Object.entries(metadata).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(said);
}

function check(content: string): z.infer<typeof PyProject> {
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw new Failure('usage', `The pyproject.toml is not valid TOML: ${String(error)}`);
  }
  const parsed = PyProject.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
    throw new Failure('usage', 'The pyproject.toml has mistakes.', { problems });
  }
  refuseUnknownKeys(value);
  return parsed.data;
}

/** Only of our own table: a misspelled key would be left out without a word. */
function refuseUnknownKeys(value: unknown): void {
  const table = (value as { tool?: { 'node-registry'?: object } }).tool?.['node-registry'] ?? {};
  const known = Object.keys(OwnTable.shape);
  const problems = Object.keys(table)
    .filter((key) => !known.includes(key))
    .map((key) => ({ path: `tool.node-registry.${key}`, message: `is no key.${didYouMean(key, known)}` }));
  if (problems.length > 0) throw new Failure('usage', 'The pyproject.toml has mistakes.', { problems });
}

function licenseOf(license: z.infer<typeof PyProject>['project']['license']): string | undefined {
  return typeof license === 'object' ? license.file : license;
}

/** Projects call it many names, in any case. */
function repositoryOf(urls: Record<string, string>): string | undefined {
  const byName = new Map(Object.entries(urls).map(([name, url]) => [name.toLowerCase(), url]));
  return ['repository', 'source', 'source code', 'github', 'homepage']
    .map((name) => byName.get(name))
    .find((url) => url !== undefined && url !== '');
}

/** What classifiers with a prefix say, such as `POSIX :: Linux`; undefined where none says anything. */
function classified(classifiers: readonly string[] = [], prefix: string, kept = ''): string[] | undefined {
  const values = classifiers
    .filter((classifier) => classifier.startsWith(prefix))
    .map((classifier) => kept + classifier.slice(prefix.length));
  return values.length > 0 ? values : undefined;
}
