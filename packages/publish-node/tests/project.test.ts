import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { NodeInput } from '@node-registry/registry-rules/schemas/node';
import { NodeVersionInput } from '@node-registry/registry-rules/schemas/node-version';
import { folder } from '@node-registry/testing/folders';
import { shown } from '../failure.ts';
import { initCommand } from '../init-command.ts';
import { metadataNotes, readMetadata, requestOf, requireProject } from '../project.ts';

async function projectOf(pyproject: string, flags = {}) {
  await writeFile(join(folder, 'pyproject.toml'), pyproject);
  return requireProject(await readMetadata(folder, flags));
}

function withAddresses(repository: string, icon: string, banner: string) {
  return projectOf(`${base}urls = { Repository = "${repository}" }
[tool.node-registry]
publisher = "me"
icon = "${icon}"
banner = "${banner}"
`);
}

const base = '[project]\nname = "my-pack"\nversion = "1.2.0"\n';

describe('dependencies and license', () => {
  const requirements = '# of us\n-r more.txt\nnumpy>=2  # fast\n\ntorch==2.1 --hash=sha256:abc\n';

  test.each<[string, string, string | undefined, string[] | undefined, string | undefined]>([
    ['unknown', '', undefined, undefined, undefined],
    ['none', 'dependencies = []', requirements, [], undefined],
    ['of requirements.txt', '', requirements, ['numpy>=2', 'torch==2.1'], 'from requirements.txt (2)'],
    ['none by an empty requirements.txt', '', '', [], 'read from requirements.txt (0)'],
  ])('are %s for %j and a requirements.txt with %j', async (_, lines, content, expected, note) => {
    if (content !== undefined) await writeFile(join(folder, 'requirements.txt'), content);
    const project = await projectOf(`${base}${lines}\n[tool.node-registry]\npublisher = "me"\n`);

    expect(requestOf(project).version?.dependencies).toEqual(expected);
    expect(metadataNotes(project)).toEqual(note === undefined ? [] : [expect.stringContaining(note)]);
  });

  test.each([
    ['{ text = "MIT" }', 'MIT', []],
    ['"MIT"', 'MIT', []],
    ['""', undefined, []],
    ['{ text = "Permission\\nis granted" }', undefined, [expect.stringContaining('license is left out')]],
  ])('takes license = %s as %s', async (license, expected, notes) => {
    const project = await projectOf(`${base}license = ${license}\n[tool.node-registry]\npublisher = "me"\n`);

    expect([requestOf(project).node?.license, metadataNotes(project)]).toEqual([expected, notes]);
  });
});

describe('a pyproject.toml', () => {
  test.each([
    ['comfy', '__version__: Final = "1.4.0"'],
    ['hatch', "# Doc\nVERSION = '1.4.0'"],
  ])('has its version in a file that [tool.%s.version] names', async (tool, code) => {
    await writeFile(join(folder, 'about.py'), `${code}\nother = "9.9.9"\n`);
    const dynamic = `[project]\nname = "x"\ndynamic = ["version"]\n[tool.${tool}.version]\npath = "about.py"\n`;
    const project = await projectOf(`${dynamic}[tool.node-registry]\npublisher = "me"\n`);

    expect(project.version).toBe('1.4.0');
  });

  test('names the version of the host’s pages as a dependency, which is not one of the pack', async () => {
    const dependencies = 'dependencies = ["numpy", "comfyui-frontend-package>=1.20"]';
    const project = await projectOf(`${base}${dependencies}\n[tool.node-registry]\npublisher = "me"\n`);

    expect(requestOf(project).version).toMatchObject({
      dependencies: ['numpy'],
      supported_host_frontend_version: '>=1.20',
    });
  });

  test('configures a publish with every key, as docs/examples/pyproject.toml shows it', async () => {
    const example = join(import.meta.dirname, '../../../docs/examples/pyproject.toml');
    const project = await projectOf(await readFile(example, 'utf8'));
    const { node, version, ...ids } = requestOf(project);
    const supported = {
      supported_host_version: '>=0.3',
      supported_host_frontend_version: '>=1.40',
      supported_os: ['OS Independent'],
      supported_accelerators: ['GPU :: NVIDIA CUDA'],
    };
    const addresses = { repository: 'https://example.com/me/my-node', icon: 'https://example.com/icon.png' };

    expect([project.includes, project.allow]).toEqual([['web/dist'], ['tests/data/key.pem']]);
    expect(ids).toEqual({ publisherId: 'me', nodeId: 'my-node' });
    expect(node).toEqual({
      id: 'my-node',
      name: 'My Node',
      description: 'Loads images twice as fast.',
      license: 'LICENSE',
      ...addresses,
      banner_url: 'https://example.com/banner.png',
      tags: ['image'],
      ...supported,
    });
    expect(version).toEqual({ version: '1.2.0', dependencies: ['numpy>=2'], ...supported });
    expect([NodeInput.safeParse(node).success, NodeVersionInput.safeParse(version).success]).toEqual([
      true,
      true,
    ]);
  });

  test('configures a publish with the table of another registry', async () => {
    const project = await projectOf(`\uFEFF${base}license = "MIT"
[project.urls]
Homepage = ""
"Source Code" = "https://example.com/source"
[tool.comfy]
PublisherId = "drltdata"
DisplayName = "Impact"
Icon = ""
Banner = "https://example.com/banner.png"
includes = ["web/dist"]
requires-comfyui = ">=0.4.0"
Models = [{ location = "/checkpoints/a.safetensors" }]
`);

    expect(project).toEqual({
      publisher: 'drltdata',
      node: 'my-pack',
      version: '1.2.0',
      displayName: 'Impact',
      license: 'MIT',
      repository: 'https://example.com/source',
      banner: 'https://example.com/banner.png',
      includes: ['web/dist'],
      hostVersion: '>=0.4.0',
    });
  });

  test('gives our table precedence over the other, field by field', async () => {
    const both =
      '[tool.node-registry]\npublisher = "me"\n[tool.comfy]\nPublisherId = "other"\nDisplayName = "Kept"\n';

    expect(await projectOf(base + both)).toMatchObject({ publisher: 'me', displayName: 'Kept' });
  });

  test.each([
    ['git@example.com:a/b.git', 'assets/icon.png', 'data:image/png;base64,iVBORw0='],
    ['ssh://git@example.com/a', './a b.png', 'HTTP://example.com/banner.png'],
  ])('sends addresses as they are written: %s, %s, %s', async (repository, icon, banner_url) => {
    const project = await withAddresses(repository, icon, banner_url);

    expect(requestOf(project).node).toEqual({ id: 'my-pack', repository, icon, banner_url });
    expect(metadataNotes(project)).toEqual([]);
  });

  test('leaves out addresses that a page would run, with a note', async () => {
    const project = await withAddresses('javascript:x', ' VBScript:x', 'data:text/html,x');

    expect(requestOf(project).node).toEqual({ id: 'my-pack' });
    expect(metadataNotes(project)).toEqual([
      'The repository "javascript:x" is left out: a page that shows it would run it.',
      'The icon " VBScript:x" is left out: a page that shows it would run it.',
      'The banner "data:text/html,x" is left out: a page that shows it would run it.',
    ]);
  });
});

const file = () => readFile(join(folder, 'pyproject.toml'), 'utf8');
const metadata = { publisher: 'demo', node: 'begun' };
const init = () => initCommand(folder, { metadata, baseUrl: 'http://localhost' });

async function initAfter(before: string): Promise<string> {
  await writeFile(join(folder, 'pyproject.toml'), before);
  await init();
  return file();
}

const named = 'name = "mine"\nversion = "1.2.0"\n';

test.each([
  ['a table', `[project]\n${named}`],
  ['a table with spaces', `[ project ]\n${named}`],
  ['a quoted table', `["project"]\n${named}`],
  ['dotted keys', 'project.name = "mine"\nproject.version = "1.2.0"\n'],
  ['an inline table', 'project = { name = "mine", version = "1.2.0" }\n'],
  [
    'a table next to text that looks like one',
    `[project]\n${named}readme = """\n[tool.node-registry]\n"""\n`,
  ],
  ['a table before blank lines', `[project]\n${named} \n\n`],
  ['a table after a byte order mark', `\uFEFF[project]\n${named}`],
])('publish-node init adds only what is missing: %s', async (_, before) => {
  const after = await initAfter(before);

  expect(after.startsWith(before)).toBe(true);
  const names = { publisher: 'demo', node: 'mine', version: '1.2.0' };
  expect(await requireProject(await readMetadata(folder, {}))).toMatchObject(names);
  expect(after.includes('[project]', before.length)).toBe(false);
});

describe('publish-node init without a change', () => {
  test.each([
    ['a table', '[tool.node-registry]\n'],
    ['a table with spaces', '[ tool . node-registry ]\n'],
    ['an inline table', '[tool]\nnode-registry = { publisher = "me" }\n'],
    ['dotted keys', '[tool]\nnode-registry.publisher = "me"\n'],
  ])('rejects a pyproject.toml that has the registry’s own table as %s', async (_, before) => {
    await expect(initAfter(before)).rejects.toThrow('has a [tool.node-registry] table already');

    expect(await file()).toBe(before);
  });

  test('shows the text to write if no table can be added', async () => {
    const before = 'tool = { other = 1 }\n';
    const rejected = await initAfter(before).catch(shown);

    expect(rejected).toContainEqual(expect.stringContaining('Write the tables there yourself.'));
    expect(rejected).toContain('  line 7: publisher = "demo"');
    expect(await file()).toBe(before);
  });
});
