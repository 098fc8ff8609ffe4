import { mkdtemp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { nodeKey } from '../../../lib/store/keys.ts';
import { banNodeVersion } from '../../admin/registry/node-versions.ts';
import { demo } from '../../../tools/local/demo.ts';
import { createRegistryClient } from '../../registry-client/client.ts';
import { publishNode, startRegistry, writeFiles } from '../../../tests/support/publishing.ts';
import { setFields } from '../../../tests/support/registry.ts';
import { bearer } from '../../../tests/support/tokens.ts';

jest.setTimeout(60_000);

let registry: Awaited<ReturnType<typeof startRegistry>>;
let folder: string;
let access: Record<string, string>;

beforeAll(async () => {
  registry = await startRegistry();
  access = {
    NODE_REGISTRY_TOKEN: demo.personalAccessToken,
    NODE_REGISTRY_ACCESS_TOKEN: bearer(demo.owner).replace('Bearer ', ''),
    NODE_REGISTRY_URL: registry.api.url,
  };
});

afterAll(() => registry.stop());

beforeEach(async () => {
  folder = await mkdtemp(join(registry.directory, 'folder-'));
});

async function write(node: string, files = {}): Promise<void> {
  const project = `[project]\nname = "${node}"\nversion = "1.0.0"\n[tool.node-registry]\npublisher = "demo"\n`;
  await writeFiles(folder, { 'pyproject.toml': project, 'node.py': 'x', ...files });
}

const command = (name: string, ...args: string[]) => {
  const given = args[0]?.startsWith('-') === false ? args : [folder, ...args];
  return publishNode([name, ...given], { env: access });
};

async function report(name: string, ...args: string[]) {
  const { code, stdout } = await command(name, ...args, '--json');
  return { code, ...JSON.parse(stdout) };
}

const keys = [
  ...['code', 'status', 'publisher', 'node', 'version', 'download_url', 'sha256', 'archive_bytes'],
  ...[
    'unpacked_bytes',
    'chosen_by',
    'files',
    'notes',
    'host_node_extract_status',
    'host_node_extract_reason',
    'host_nodes',
    'host_node_notes',
    'node_version',
    'reason',
    'error',
    'message',
  ],
  ...['details', 'request_id'],
];

describe('publish-node --json', () => {
  test('has one shape for a dry run, a publish, a second publish and a status', async () => {
    await write('reported');
    const planned = await report('publish', '--dry-run');
    const published = await report('publish');
    const again = await report('publish');
    const active = await report('status');
    const reports = [planned, published, again, active];

    for (const each of reports) expect(Object.keys(each)).toEqual(keys);
    expect(reports.map(({ code, status }) => [code, status])).toEqual([
      [0, 'dry_run'],
      [0, 'published'],
      [0, 'already_published'],
      [0, 'active'],
    ]);
    for (const each of reports)
      expect(each).toMatchObject({ node: 'reported', version: '1.0.0', error: null });
    for (const { sha256, archive_bytes } of reports)
      expect([sha256, archive_bytes]).toEqual([planned.sha256, planned.archive_bytes]);
    for (const { files, unpacked_bytes, chosen_by } of reports.slice(0, 3))
      expect([files, unpacked_bytes, chosen_by]).toEqual([
        planned.files,
        planned.unpacked_bytes,
        'ignore files',
      ]);
    for (const { download_url, node_version } of reports.slice(1))
      expect(download_url).toBe(node_version.downloadUrl);
  });

  test.each<[string, [string, ...string[]], number, string, RegExp]>([
    ['a wrong command line', ['publish', '--versoin', '1'], 2, 'usage', /Did you mean --version\?/],
    ['a wrong folder', ['publish', 'nowhere'], 2, 'usage', /There is no folder/],
    ['a secret', ['publish', '--version', '2.0.0'], 2, 'usage', /look like secrets/],
    [
      'a refusal',
      ['publish', '--allow', '.env', '--token', 'nrp_x'],
      3,
      'invalid_personal_access_token',
      /unknown/,
    ],
    ['a version that is not there', ['status'], 3, 'not_found', /There is no such node version/],
    [
      'a registry that is not there',
      ['status', '--base-url', 'http://localhost:1'],
      5,
      'unreachable',
      /reached/,
    ],
  ])('for %s', async (_, args, exitCode, error, sentence) => {
    await write('not-reported', { '.env': 'A=1' });
    const failed = await report(...args);

    expect(Object.keys(failed)).toEqual(keys);
    expect(failed).toMatchObject({ code: exitCode, status: 'failed', error, sha256: null, files: null });
    expect(failed.message).toMatch(sentence);
  });

  test.each<[string, string[], object]>([
    ['other files under a published version', [], { version: '1.0.0', error: 'published_with_other_bytes' }],
    ['a secret', ['--version', 'v2.0.0'], { version: '2.0.0', error: 'usage' }],
    ['a version that is not semantic', ['--version', '1.0.0rc1'], { version: '1.0.0rc1', error: 'usage' }],
  ])('for %s, with the publisher, node and version that were meant', async (title, args, expected) => {
    const node = `meant-${args.length}-${title.length}`;
    await write(node);
    if (args.length === 0) await report('publish');
    await write(node, { 'node.py': 'y', ...(args.length > 0 && { '.env': 'A=1' }) });

    expect(await report('publish', ...args)).toMatchObject({ publisher: 'demo', node, ...expected });
  });

  test('has one shape for a version that is not there, with the node and version that were meant', async () => {
    await write('never-published');

    expect(await report('status')).toMatchObject({
      publisher: 'demo',
      node: 'never-published',
      version: '1.0.0',
      error: 'not_found',
    });
  });

  test('is valid Unicode, even if a node of the pack has half a character', async () => {
    await write('half', { '__init__.py': String.raw`raise ValueError("half \ud83c")` });
    const { stdout } = await command('publish', '--dry-run', '--json');

    expect(JSON.parse(stdout).host_node_extract_reason).toContain('ValueError: half \ufffd');
    expect(stdout).not.toMatch(/\\ud83c/i);
  });

  test('lists several problems, each with its place', async () => {
    await write('not-reported', { '.env': 'A=1' });
    const { message, details } = await report('publish', '--version', '1.0.0rc1', '--include', 'web');

    expect(details).toEqual([
      { path: 'version', message: 'The version "1.0.0rc1" is not a semantic version. Write "1.0.0-rc.1".' },
      { path: 'web', message: 'The includes entry "web" names no file.' },
      { path: '.env', message: 'is an environment file.' },
    ]);
    expect(message).toMatch(/is not a semantic version\. .* names no file\. These files look like secrets\./);
  });
});

describe('publish-node and a folder with several problems', () => {
  test('reports all problems at once: metadata, identity, includes, links, paths, secrets and allow entries', async () => {
    const wrong = '[project]\nversion = "1.0.0rc1"\ndependencies = "numpy"\n[tool.node-registry]\ntag = []\n';
    await writeFiles(folder, { 'pyproject.toml': wrong, '.env': 'A=1', 'aux.py': '', 'node.py': '' });
    await symlink('nowhere', join(folder, 'link.py'));
    const entries = [
      '--include',
      'web/dist',
      '--include',
      '../x',
      '--allow',
      'nothere.txt',
      '--allow',
      '.evn',
    ];
    const { code, stdout, stderr } = await publishNode(['publish', folder, '--publisher', 'Me!', ...entries]);

    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trim().split('\n')).toEqual([
      'The pyproject.toml has mistakes.',
      '  project.dependencies: must be a list',
      '  tool.node-registry.tag: is no key. Did you mean "tags"?',
      'Name the node: in pyproject.toml as [project] name, or with --node.',
      'The version "1.0.0rc1" is not a semantic version. Write "1.0.0-rc.1".',
      expect.stringMatching(/^The publisher "Me!" is not right: /),
      'The includes entry "web/dist" names no file.',
      'The includes entry "../x" leads out of the folder.',
      'Some of it cannot be published. A .publishignore file leaves things out.',
      '  link.py: is a link to nothing. Put the file in its place.',
      'The registry would refuse these paths. A .publishignore file leaves things out.',
      '  aux.py: has the name of a Windows device, "aux.py". Rename it.',
      'These files look like secrets. Leave them out with .publishignore, or name each: --allow PATH.',
      '  .env: is an environment file.',
      'These allow entries name no file that is published.',
      '  nothere.txt: matches nothing.',
      '  .evn: matches nothing. Did you mean ".env"?',
      'Give a personal access token: NODE_REGISTRY_TOKEN, or --token TOKEN.',
    ]);
  });

  test('does not ask for what a pyproject.toml that cannot be read may say', async () => {
    await writeFiles(folder, { 'pyproject.toml': '[project', '.env': 'A=1' });
    const { stderr } = await publishNode(['publish', folder, '--token', demo.personalAccessToken]);

    expect(stderr).toMatch(
      /^The pyproject\.toml is not valid TOML at line 1, column 2\.\n.*\n {2}\.env: is an environment file\.\n$/s,
    );
    expect(stderr).not.toContain('Name the');
  });

  test('warns that dependencies in the spelling of Poetry are left out', async () => {
    const poetry =
      '[tool.poetry]\nname = "x"\nversion = "1.0.0"\n[tool.poetry.dependencies]\npython = "^3.9"\n';
    await writeFiles(folder, { 'pyproject.toml': `${poetry}numpy = "^2"\n` });
    const { code, stderr, stdout } = await publishNode([
      'publish',
      folder,
      '--publisher',
      'demo',
      '--dry-run',
    ]);

    expect([code, stdout]).toEqual([0, expect.stringContaining('node       x\nversion    1.0.0')]);
    expect(stderr).toContain('The dependencies of [tool.poetry] are left out.');
  });
});

describe('publish-node status', () => {
  test('reports that a published version was banned, and why', async () => {
    await write('banned-later');
    await command('publish');
    await banNodeVersion('banned-later', '1.0.0', 'It mines coins.');

    expect(await command('publish')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining(
        'The registry refused: The operator of the registry has banned this version: It mines coins. Publish a new version.\n',
      ),
    });
    expect(await command('status')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^banned-later 1\.0\.0 is banned\.\nreason {6}It mines coins\.\n/),
    });
  });

  test('reports that a version was banned before its archive arrived', async () => {
    const client = createRegistryClient({
      baseUrl: registry.api.url,
      accessToken: String(access.NODE_REGISTRY_ACCESS_TOKEN),
    });
    const personal_access_token = demo.personalAccessToken;
    const body = { node: {}, node_version: { version: '1.0.0' }, personal_access_token };
    await client.versions.register('demo', 'banned-early', body);
    await banNodeVersion('banned-early', '1.0.0', 'Spam');

    await expect(client.versions.register('demo', 'banned-early', body)).rejects.toMatchObject({
      code: 'version_exists',
      message: 'This version is banned; publish a new version instead.',
    });
  });

  test.each([
    [5, '5 seconds'],
    [600, '10 minutes'],
    [40_000, '12 hours'],
  ])('reports when a limit that is met for %i more seconds ends', async (seconds, wait) => {
    const body = { error: 'too_many_requests', message: 'Too many requests.' };
    const answer = { status: 429, headers: { 'retry-after': String(seconds) }, body };
    registry.api.disturb(
      ...Array.from({ length: 5 }, () => (seconds > 60 ? answer : { ...answer, status: 500 })),
    );

    expect(await command('status', '--node', 'x', '--version', '1.0.0')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`Too many requests. It can work again in ${wait}.\n`),
    });
    registry.api.reset();
  });

  test('reports that a node was deleted', async () => {
    await write('deleted-node');
    await command('publish');
    await setFields(nodeKey('deleted-node'), { status: 'NodeStatusDeleted' });

    expect(await command('publish', '--version', '1.1.0', '--other-version')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        'The registry refused: The node was deleted, and its id cannot be used again; publish under another id.\n',
      ),
    });
  });
});
