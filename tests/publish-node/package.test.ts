import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { startRegistry } from '../support/publishing.ts';
import { serve } from '../support/serve.ts';
import { type Ending, git, runFile, writeFiles } from '@node-registry/testing/shell';

const registry = await startRegistry();
let tarball: string;
let empty: string;
let installed: string;

/** The first Node on the path that is not this repository's own, like that of a person. */
const ownNode = String(process.env.PATH)
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((file) => existsSync(file));
const node = ownNode ?? process.execPath;

beforeAll(async () => {
  const packed = await runFile('npm', [
    'pack',
    '-w',
    'packages/publish-node',
    '--pack-destination',
    registry.directory,
  ]);
  tarball = join(registry.directory, packed.stdout.trim().split('\n').at(-1) ?? '');
  empty = join(registry.directory, 'empty');
  await mkdir(empty);
  const unpacked = await runFile('tar', ['-xzf', tarball], { cwd: empty });
  installed = join(empty, 'package/dist/publish-node.cjs');
  expect([packed.code, unpacked.code]).toEqual([0, 0]);
});

async function packFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(registry.directory, 'pack-'));
  await writeFiles(folder, {
    'pyproject.toml': `[project]\nname = "${name}"\nversion = "1.0.0"\n[tool.comfy]\nPublisherId = "demo"\n`,
    'node.py': 'print(1)\n',
  });
  await git(folder, 'init', '--quiet');
  return folder;
}

describe('the packed publish-node command', () => {
  test('holds one file without dependencies, under 300 KB, for Node 20, and a second one for --dry-run', async () => {
    const manifest = JSON.parse(await readFile(join(empty, 'package/package.json'), 'utf8'));
    const listed = await runFile('tar', ['-tzf', tarball]);
    const files = listed.stdout.trim().split('\n').sort();

    const built = ['THIRD-PARTY.txt', 'extraction.cjs', 'publish-node.cjs', 'sbom.cdx.json'];
    expect(files).toEqual([
      ...['package/README.md', ...built.map((name) => `package/dist/${name}`), 'package/package.json'],
    ]);
    const notices = await readFile(join(empty, 'package/dist/THIRD-PARTY.txt'), 'utf8');
    const { components } = JSON.parse(await readFile(join(empty, 'package/dist/sbom.cdx.json'), 'utf8'));
    const bundled = components.map(({ name }: { name: string }) => name);
    expect(bundled.join(' ')).toBe(
      '@noble/hashes commander fastest-levenshtein fflate get-east-asian-width minisearch py-ast smol-toml zod',
    );
    for (const name of bundled) expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
    expect(notices.match(/Permission is hereby granted|Redistribution and use/g)?.length).toBeGreaterThan(6);
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.engines.node).toBe('>=20.15');
    expect((await stat(installed)).size).toBeLessThan(300_000);
    expect((await stat(join(empty, 'package/dist/extraction.cjs'))).size).toBeLessThan(300_000);
    expect((await readFile(installed, 'utf8')).startsWith('#!/usr/bin/env node')).toBe(true);
  });

  test('shows the same archive and host nodes with the Node of this machine and of this repository', async () => {
    const folder = await packFolder('same-bytes');
    await writeFiles(folder, {
      '__init__.py': 'NODE_CLASS_MAPPINGS = {"A": type("A", (), {"FUNCTION": "f"})}',
    });
    const runs = await Promise.all(
      [node, process.execPath].map((file) =>
        runFile(file, [installed, 'publish', '--dry-run', '--json'], { cwd: folder }),
      ),
    );
    const [own, other] = runs.map(({ stdout }) => JSON.parse(stdout));

    expect(own).toEqual(other);
    expect(own).toMatchObject({
      sha256: expect.stringMatching(/^\w{64}$/),
      host_nodes: [{ host_node_name: 'A', function: 'f' }],
    });
  });

  test('needs nothing that is newer than Node 20.15, as its parts that others run', async () => {
    const sources = await readdir('packages/host-nodes', { recursive: true });
    const shipped = sources.filter((file) => /^(?!tests|node_modules|dist|command).*\.ts$/.test(file));
    const files = [installed, join(empty, 'package/dist/extraction.cjs')];
    const texts = [...files, ...shipped.map((file) => join('packages/host-nodes', file))].map((file) =>
      readFile(file, 'utf8'),
    );
    const newer =
      /withResolvers|URL\.parse|(?:Map|Object)\.groupBy|Promise\.try|fromAsync|getBuiltinModule|RegExp\.escape|\.(?:isSubsetOf|symmetricDifference)\(|\.(?:values|keys|entries)\(\)\.(?:map|filter|some|every|find|toArray|reduce)\(/;

    for (const text of await Promise.all(texts)) expect(newer.exec(text)).toBeNull();
    expect(shipped.length).toBeGreaterThan(30);
  });

  test('publishes without the file that reads host nodes, since the registry reads them', async () => {
    const alone = join(empty, 'alone.cjs');
    await cp(installed, alone);
    const folder = await packFolder('read-there');

    const run = await runFile(node, [alone, 'publish', '--json'], { cwd: folder, env: registry.access });
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('"status": "published"')]);
  });

  test('ends without a word if its reader leaves early', async () => {
    const script = '"$0" "$1" --help | true; echo $PIPESTATUS';

    const quiet = { code: 0, stdout: '0\n', stderr: '' };
    expect(await runFile('bash', ['-c', script, node, installed])).toEqual(quiet);
  });

  test('ends with exit code 70 and a stack after a fault of its own', async () => {
    const folder = await packFolder('at-fault');
    const env = { GITHUB_OUTPUT: join(folder, 'nowhere/output') };
    const args = [installed, 'publish', '--dry-run', '--github'];

    expect(await runFile(node, args, { cwd: folder, env })).toMatchObject({
      code: 70,
      stderr: expect.stringMatching(/\nError: ENOENT.*\n +at /),
    });
  });
});

const idToken = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvIn0.c2lnbmF0dXJl';
const runner = await serve((_, response) => response.end(JSON.stringify({ value: idToken })));

const required = (input: unknown) => Object(input).required === true;

const action = 'packages/publish-node/action/action.yml';

describe('the publish-node action', () => {
  test('publishes a folder as the job, and sets the published version as its outputs', async () => {
    const directory = await packFolder('by-action');
    const version = { node_id: 'by-action', version: '1.1.0' };
    const other = { version: 'v1.1.0', 'other-version': 'true' };
    const plan = await runAction(directory, { 'dry-run': 'true', ...other });
    const { sha256 } = plan.outputs;
    const active = { status: 'NodeVersionStatusActive', downloadUrl: 'http://localhost/a.zip', sha256 };
    const entry = { identifier: version, status: 'success', node_version: { ...version, ...active } };
    registry.api.reset();
    registry.api.disturb(
      { status: 409, body: { error: 'version_exists', message: 'It exists.' } },
      { status: 200, body: { node_versions: [entry] } },
    );
    const run = await runAction(directory, other);

    expect(plan.steps).toEqual(['Check and unpack the command', 'Publish']);
    expect(plan.outputs).toMatchObject({ version: '1.1.0', status: 'dry_run', 'download-url': '' });
    expect(run).toMatchObject({
      code: 0,
      outputs: { version: '1.1.0', status: 'already_published', 'download-url': active.downloadUrl, sha256 },
    });
  });

  test('sends the ID token of the job and fails like the command, even if a token is stored', async () => {
    const directory = await packFolder('rejected-action');
    registry.api.reset();
    const changelog = 'a "quoted" $(text)';
    const run = await runAction(directory, { changelog });
    const [publish] = registry.api.received;
    const body = JSON.parse(String(publish?.body));

    expect([run.code, run.outputs]).toMatchObject([3, { status: 'failed', version: '1.0.0' }]);
    expect(run.stderr).toMatch(/^::error title=publish-node::The registry rejected the request: .*$/m);
    expect(run.summary).toContain('| status | <code>failed</code> |');
    expect(run.stdout + run.stderr).not.toContain('"node_version"');
    expect(publish?.headers.authorization).toBeUndefined();
    expect(body.personal_access_token).toBe(idToken);
    expect(body.node_version.changelog).toBe(changelog);
  });

  test('runs nothing of a workspace with an .npmrc, programs and a package of the name of the command', async () => {
    const directory = await packFolder('hostile-workspace');
    const marker = join(directory, 'the-command-ran');
    const programs = [
      'evil.sh',
      ...['node', 'git', 'publish-node'].map((name) => `node_modules/.bin/${name}`),
    ];
    const scripts = { prepare: './evil.sh', prepack: './evil.sh' };
    await writeFiles(directory, {
      'evil.cjs': `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`,
      '.npmrc':
        'node-options=--require=./evil.cjs\nscript-shell=./evil.sh\ngit=./evil.sh\neditor=./evil.sh\nprefix=./evil\n',
      'package.json': JSON.stringify({ name: 'publish-node', version: '9.9.9', bin: './evil.sh', scripts }),
      ...Object.fromEntries(programs.map((path) => [path, `#!/bin/sh\ntouch ${marker}\n`])),
    });
    await Promise.all(programs.map((path) => chmod(join(directory, path), 0o755)));
    const run = await runAction(directory, { 'dry-run': 'true', package: relative(directory, tarball) });

    expect([run.code, run.outputs.status]).toEqual([0, 'dry_run']);
    expect(existsSync(marker)).toBe(false);
  });

  test('runs a downloaded package only if it has the given digest', async () => {
    const bytes = await readFile(tarball);
    const download = await serve((_, response) => response.end(bytes));
    const directory = await packFolder('by-digest');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const runs = ['', 'a'.repeat(64), sha256].map((digest) =>
      runAction(directory, { 'dry-run': 'true', package: download.url, sha256: digest }),
    );
    const [without, other, right] = await Promise.all(runs);

    for (const run of [without, other]) {
      expect([run?.code, run?.steps]).toEqual([1, ['Check and unpack the command']]);
      expect(run?.stderr).toContain(`The package has the SHA-256 ${sha256}`);
    }
    expect(right).toMatchObject({ code: 0, outputs: { status: 'dry_run' } });
  });

  test('installs nothing, and reads inputs as variables only', async () => {
    const { runs, inputs, outputs } = parse(await readFile(action, 'utf8'));
    const [node, ...steps] = runs.steps;
    const scripts: string[] = steps.map(({ run }: { run: string }) => run);

    expect(node.uses).toMatch(/^actions\/setup-node@[0-9a-f]{40}$/);
    expect(scripts.join('')).not.toMatch(/\$\{\{|\bnp[mx]\b/);
    // Expressions would be paths of the host in a job with a container.
    expect(JSON.stringify(runs.steps)).not.toMatch(/github\.action_path|runner\.temp|working-directory/);
    for (const run of scripts) expect(run).toMatch(/^(?:mkdir .*\n)?cd "\$RUNNER_TEMP/);
    expect(Object.keys(outputs)).toEqual(['version', 'status', 'download-url', 'sha256']);
    expect([inputs.registry.required, inputs.package.required]).toEqual([true, true]);
  });

  test('matches the workflows of docs/examples', async () => {
    const { inputs, outputs } = parse(await readFile(action, 'utf8'));
    const gitHub = await readFile('docs/examples/release.yml', 'utf8');
    const gitLab = parse(await readFile('docs/examples/gitlab-ci.yml', 'utf8'));
    const { permissions, steps } = parse(gitHub).jobs.publish;
    const used = gitHub.match(/(?<=steps\.node\.outputs\.)[\w-]+/g) ?? [];

    expect(Object.keys(steps[1].with).filter((name) => !(name in inputs))).toEqual([]);
    expect(used.filter((name) => !(name in outputs))).toEqual([]);
    expect(used.length).toBeGreaterThan(1);
    for (const { uses = '', run = '' } of steps) {
      expect(run).not.toContain('${{');
      expect(uses).toMatch(/^(?:actions\/[\w-]+@[0-9a-f]{40}|OWNER\/.*@COMMIT|)$/);
    }
    expect(
      Object.entries(inputs).filter(([name, input]) => required(input) && !(name in steps[1].with)),
    ).toEqual([]);
    expect(permissions['id-token']).toBe('write');
    expect(Object.keys(gitLab.publish.id_tokens)).toEqual(['NODE_REGISTRY_ID_TOKEN']);
  });
});

interface Action {
  inputs: Record<string, { default?: string }>;
  /** `uses` is another action, such as one that sets Node up: this machine has it. */
  runs: { steps: { name: string; uses?: string; run: string; env?: Record<string, string> }[] };
}

interface Run extends Ending {
  /** The names of the steps that ran. */
  steps: string[];
  outputs: Record<string, string>;
  /** The Markdown that the step left for the page of the run. */
  summary: string;
}

/** Runs the action's steps in a folder as a job on GitHub does: inputs put in, bash with -e. */
async function runAction(directory: string, inputs: Record<string, string>): Promise<Run> {
  const { inputs: known, runs }: Action = parse(await readFile(action, 'utf8'));
  const given: Record<string, string> = { registry: registry.api.url, package: tarball, ...inputs };
  const inputOf = (_: string, name = '') => given[name] ?? known[name]?.default ?? `no input ${name}`;
  const place = await mkdtemp(join(registry.directory, 'runner-'));
  const [output, summary] = [join(place, 'output'), join(place, 'summary')];
  await Promise.all([output, summary].map((file) => writeFile(file, '')));
  const run: Run = { code: 0, stdout: '', stderr: '', steps: [], outputs: {}, summary: '' };
  for (const step of runs.steps.filter(({ uses }) => uses === undefined)) {
    run.steps.push(step.name);
    const variables = Object.entries(step.env ?? {}).map(([name, text]) => [
      ...[name, text.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, inputOf)],
    ]);
    const env = {
      ...registry.access,
      ...Object.fromEntries(variables),
      GITHUB_ACTIONS: 'true',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/?v=1`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret of the job',
      GITHUB_WORKSPACE: directory,
      RUNNER_TEMP: place,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
    };
    const shell = ['-e', '-o', 'pipefail', '-c', step.run];
    const { code, stdout, stderr } = await runFile('bash', shell, { cwd: directory, env });
    run.stdout += stdout;
    run.stderr += stderr;
    run.code = code;
    if (code !== 0) break;
  }
  const lines = (await readFile(output, 'utf8')).split('\n').filter((line) => line !== '');
  run.outputs = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  run.summary = await readFile(summary, 'utf8');
  return run;
}
