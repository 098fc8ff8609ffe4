import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { createRegistryClient } from '@node-registry/registry-client';
import { folder } from '@node-registry/testing/folders';
import { packedProgram, publishNode, spawnPublishNode } from '@node-registry/testing/publish-node';
import { startRegistry } from '../support/publishing.ts';
import { plainEnvironment, runFile, writeFiles } from '@node-registry/testing/shell';

const listeners = process.listeners('SIGINT');
const registry = await startRegistry();
const { api, access } = registry;

// After a publish Ctrl-C must not say that it can be resumed.
afterAll(() => expect(process.listeners('SIGINT')).toEqual(listeners));

const write = (files: Record<string, string | Buffer>) => writeFiles(folder, files);

const project = (node: string, version = '1.0.0') => `
[project]
name = "${node}"
version = "${version}"
description = "Loads images."
dependencies = ["numpy>=2", "pillow"]
license = { file = "LICENSE" }

[project.urls]
Repository = "https://example.com/${node}"

[tool.node-registry]
publisher = "${demo.publisherId}"
display-name = "A Node"
`;

const publishFolder = (...args: string[]) => publishNode(['publish', folder, ...args], { env: access });

async function storedVersion(node_id: string, version = '1.0.0') {
  const client = createRegistryClient({ baseUrl: api.url });
  const [entry] = await client.versions.bulk([{ node_id, version }]);
  return entry?.node_version;
}

const publishes = () =>
  api.received.filter(({ route }) => route.endsWith('/versions') && !route.includes('/bulk/'));

describe('publish-node with a folder', () => {
  test('publishes it from its pyproject.toml, and the download has the reported bytes', async () => {
    await write({ 'pyproject.toml': project('whole-life'), 'node.py': 'print("hello")\n' });
    const { code, stdout, stderr } = await publishFolder();

    expect([code, stderr]).toEqual([0, expect.stringContaining('Packing 2 files, 290 B.')]);
    const [, address = '', digest] = /download {2}(\S+)\nsha256 {4}(\S+)/.exec(stdout) ?? [];
    const bytes = Buffer.from(await (await fetch(address)).arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
    expect(await storedVersion('whole-life')).toMatchObject({
      status: 'NodeVersionStatusActive',
      dependencies: ['numpy>=2', 'pillow'],
      downloadUrl: address,
      sha256: digest,
      size_bytes: bytes.length,
    });
  });

  test('publishes the folder in which npm runs it to the local stack, also when its ports are moved', async () => {
    // Without the metadata of the folder it would ask for the name of the node.
    await write({ 'pyproject.toml': project('moved'), 'node.py': 'x' });
    const LOCAL_PORT_OFFSET = String(Number(new URL(api.url).port) - 3000);
    const env = { ...access, NODE_REGISTRY_URL: undefined, LOCAL_PORT_OFFSET, INIT_CWD: folder };
    const program = ['--conditions=in-tree', 'tools/local/publish-node.ts', 'publish'];
    const { stdout } = await runFile(process.execPath, program, { env });

    expect(stdout).toContain('moved 1.0.0 is published.');
  });

  test('does not publish changed files under the same version', async () => {
    await write({ 'pyproject.toml': project('changed'), 'node.py': 'x' });
    await publishFolder();
    const before = await storedVersion('changed');
    await write({ 'node.py': 'y' });
    const { code, stdout, stderr } = await publishFolder('--json');

    expect(code).toBe(3);
    expect(stderr).toContain('This version is published with other files.');
    const meant = { publisher: 'demo', node: 'changed', version: '1.0.0' };
    expect(JSON.parse(stdout)).toMatchObject({ ...meant, error: 'published_with_other_bytes' });
    expect(await storedVersion('changed')).toEqual(before);
  });
});

test('publish-node deprecate marks a published version and takes it back, with a changelog, and publishes none', async () => {
  await write({ 'pyproject.toml': project('aged').replace('dependencies = ["numpy>=2", "pillow"]', '') });
  await publishFolder();
  const deprecate = (version: string, ...args: string[]) =>
    publishNode(['deprecate', version, ...args], { cwd: folder, env: access });
  const absent = await deprecate('aged@9.0.0');
  const marked = await deprecate('aged@v1.0', '--changelog', 'Use 2.0.0.');
  const during = await storedVersion('aged');
  const undone = await deprecate('1.0.0', '--undo', '--json');

  const reasoned = await deprecate('1.0.0', '--reason', 'It is slow.');
  const repeated = await deprecate('1.0.0', '--reason', 'It is slow.');
  expect([reasoned.code, repeated.code]).toEqual([0, 0]);
  expect((await storedVersion('aged'))?.changelog).toBe('Use 2.0.0.\n\nDeprecated: It is slow.');
  // All but the first change nothing any more, as after a lost response.
  const atOnce = await Promise.all([1, 2, 3].map(() => deprecate('1.0.0', '--undo')));
  expect(atOnce.map(({ code }) => code)).toEqual([0, 0, 0]);

  expect(marked).toMatchObject({ code: 0, stdout: expect.stringContaining('aged 1.0.0 is deprecated') });
  expect(during).toMatchObject({ deprecated: true, changelog: 'Use 2.0.0.' });
  // Unknown is no empty list.
  expect(during).not.toHaveProperty('dependencies');
  expect([undone.code, JSON.parse(undone.stdout).status]).toEqual([0, 'undeprecated']);
  expect(await storedVersion('aged')).toMatchObject({ deprecated: false, changelog: 'Use 2.0.0.' });
  expect(absent.code).toBe(3);
  expect(await storedVersion('aged', '9.0.0')).toBeUndefined();
});

describe('a failed run', () => {
  test.each<[NodeJS.Signals, number | null, string]>([
    ['SIGKILL', null, ''],
    ['SIGINT', 130, 'Stopped. Run the same command again: it resumes where this one was.\n'],
  ])('resumes after %s while it uploaded', async (signal, code, sentence) => {
    const node = `ended-by-${signal.toLowerCase()}`;
    await write({ 'pyproject.toml': project(node), 'noise.bin': randomBytes(300_000) });
    const env = { ...plainEnvironment, ...access };
    const child = spawn(process.execPath, [packedProgram(), 'publish', folder], { env });
    // At 'exit' its last words may not have been read.
    const closed = new Promise((resolve) => child.once('close', resolve));
    let said = '';
    child.stderr.on('data', (text) => {
      const isFirst = !said.includes('Uploading');
      said += String(text);
      if (isFirst && said.includes('Uploading')) child.kill(signal);
    });

    expect([await closed, said]).toEqual([code, expect.stringContaining(sentence)]);
    expect(await publishFolder()).toMatchObject({ code: 0 });
  });

  test('continues after a lost upload event, and status gives the reason for waiting', async () => {
    await write({ 'pyproject.toml': project('event-lost'), 'node.py': 'x' });
    registry.events.areLost = true;
    // In a process of its own, which ends only if nothing of the wait is left, and in the folder that is the default.
    const first = await spawnPublishNode(['publish', '--timeout', '0.5'], { cwd: folder, env: access });
    const waiting = await publishNode(['status', folder], { env: access });
    registry.events.areLost = false;

    expect(first).toMatchObject({ code: 5, stderr: expect.stringContaining('still being checked') });
    expect([waiting.code, waiting.stdout]).toEqual([
      5,
      expect.stringContaining('event-lost 1.0.0 is pending.'),
    ]);
    expect(waiting.stdout).toContain('reason      Waiting for the archive');
    expect(waiting.stdout).toContain('To finish it: publish-node publish\n');
    expect(await publishFolder()).toMatchObject({ code: 0 });
    expect(await publishNode(['status', folder], { env: access })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/is active.*download/s),
    });
  });
});

test('publish-node init writes a pyproject.toml that can be published unchanged', async () => {
  const requirements = '# What it needs\n--extra-index-url https://example.com\nnumpy>=2 # fast\n\npillow\n';
  await write({ 'node.py': 'x', LICENSE: 'MIT', 'requirements.txt': requirements });
  const options = '--publisher demo --node begun --display-name Begun --description Loads'.split(' ');
  const { code } = await publishNode(['init', folder, ...options]);

  expect(code).toBe(0);
  expect(await publishFolder()).toMatchObject({ code: 0 });
  expect(JSON.parse(String(publishes().at(-1)?.body)).node).toMatchObject({
    name: 'Begun',
    description: 'Loads',
  });
  expect(await storedVersion('begun')).toMatchObject({
    status: 'NodeVersionStatusActive',
    dependencies: ['numpy>=2', 'pillow'],
  });
});
