import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { S3Event } from 'aws-lambda';
import { bulkNodeVersions } from '../../lib/contracts/bulk-node-versions.ts';
import { demo } from '../../tools/local/demo.ts';
import { finalizeOnUpload } from '../../tools/local/finalize-on-upload.ts';
import { startS3 } from '../../tools/local/s3.ts';
import { startHttpApi } from '../support/http-api.ts';
import { bearer } from '../support/tokens.ts';

jest.setTimeout(60_000);

const program = 'tools/publish-node/publish-node.ts';

let directory: string;
let folder: string;
let s3: Awaited<ReturnType<typeof startS3>>;
let api: Awaited<ReturnType<typeof startHttpApi>>;
let losesEvents = false;

/** An S3 of its own, whose events this process can hear; the functions find it when they are first loaded. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'node-registry-publish-'));
  const bucket = await startS3(0, join(directory, 's3'), String(process.env.BUCKET_NAME));
  process.env.AWS_ENDPOINT_URL_S3 = bucket.url;
  s3 = { ...bucket, ...finalizeOnUpload(bucket, async () => finalizeUnlessLost) };
  api = await startHttpApi();
  const { seed } = await import('../../tools/local/seed.ts');
  await seed();
});

afterAll(async () => {
  await Promise.all([api.stop(), s3.stop()]);
  await rm(directory, { recursive: true });
});

async function finalizeUnlessLost(event: S3Event, context: { getRemainingTimeInMillis: () => number }) {
  if (losesEvents) return;
  const { handler } = await import('../../functions/finalize-upload.ts');
  await handler(event, context);
}

beforeEach(async () => {
  folder = await mkdtemp(join(directory, 'folder-'));
  api.reset();
});

async function write(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

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

interface Ending {
  code: number | string | null | undefined;
  stdout: string;
  stderr: string;
}

function access(): string[] {
  const accessToken = bearer(demo.owner).replace('Bearer ', '');
  return ['--token', demo.personalAccessToken, '--access-token', accessToken, '--base-url', api.url];
}

function run(...args: string[]): Promise<Ending> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr });
    });
  });
}

const publishFolder = (...args: string[]) => run(folder, ...access(), ...args);

async function storedVersion(node_id: string, version = '1.0.0') {
  const response = await fetch(`${api.url}/bulk/nodes/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ node_versions: [{ node_id, version }] }),
  });
  return bulkNodeVersions.reply.parse(await response.json()).node_versions[0]?.node_version;
}

const publishes = () =>
  api.received.filter(({ route }) => route.endsWith('/versions') && !route.includes('/bulk/'));

describe('a folder', () => {
  test('lives from its pyproject.toml to a download of the very bytes that were announced', async () => {
    await write({ 'pyproject.toml': project('whole-life'), 'node.py': 'print("hello")\n' });
    const { code, stdout } = await publishFolder();

    expect(code).toBe(0);
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

  test('is published once: a second run says so, and sends nothing', async () => {
    await write({ 'pyproject.toml': project('twice'), 'node.py': 'x' });
    await publishFolder();
    api.reset();
    const { code, stdout } = await publishFolder();

    expect(code).toBe(0);
    expect(stdout).toContain('twice 1.0.0 was published already.');
    expect(publishes()).toEqual([]);
  });

  test('that has changed is not published under the same version', async () => {
    await write({ 'pyproject.toml': project('changed'), 'node.py': 'x' });
    await publishFolder();
    const before = await storedVersion('changed');
    await write({ 'node.py': 'y' });
    const { code, stderr } = await publishFolder();

    expect(code).toBe(3);
    expect(stderr).toContain('This version is published with other files.');
    expect(await storedVersion('changed')).toEqual(before);
  });

  test('without a pyproject.toml is described by options, which go before it too', async () => {
    await write({ 'node.py': 'x' });
    const named = ['--publisher', 'demo', '--node', 'by-options', '--version', 'v2.1', '--changelog', 'New'];
    expect(await publishFolder(...named)).toMatchObject({ code: 0 });

    expect(await storedVersion('by-options', '2.1.0')).toMatchObject({ changelog: 'New' });
  });

  test('leaves out what its .gitignore files name, at every depth, and .git', async () => {
    await write({
      '.gitignore': '*.log\nbuild/\n!keep.log\n',
      'a.log': '',
      'keep.log': '',
      'build/x': '',
      '.git/config': '',
      'deep/.gitignore': 'local.txt\n!b.log\n',
      'deep/local.txt': '',
      'deep/b.log': '',
      'deep/node.py': '',
      'local.txt': '',
    });
    const { stdout } = await run(folder, '--dry-run', '--publisher', 'demo', '--node', 'x', '--version', '1');

    expect(stdout.trim().split('\n')).toEqual([
      '.gitignore',
      'deep/.gitignore',
      'deep/b.log',
      'deep/node.py',
      'keep.log',
      'local.txt',
    ]);
  });
});

describe('a run that failed is made good by another', () => {
  test('after it was killed while it uploaded', async () => {
    await write({ 'pyproject.toml': project('killed'), 'noise.bin': randomBytes(3_000_000) });
    const child = spawn(process.execPath, [program, folder, ...access()]);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.stderr.on('data', (text) => {
      if (String(text).includes('Uploading')) child.kill('SIGKILL');
    });
    await exited;

    expect(await publishFolder()).toMatchObject({ code: 0 });
  });

  test('after the event of its upload was lost', async () => {
    await write({ 'pyproject.toml': project('event-lost'), 'node.py': 'x' });
    losesEvents = true;
    const first = await publishFolder('--timeout', '0.5');
    losesEvents = false;

    expect(first).toMatchObject({ code: 5, stderr: expect.stringContaining('still being checked') });
    expect(await publishFolder()).toMatchObject({ code: 0 });
  });

  test('after its archive was refused, once that is mended', async () => {
    await write({ 'pyproject.toml': project('refused'), 'zeros.bin': Buffer.alloc(1_000_000) });
    const first = await publishFolder();
    await write({ 'zeros.bin': 'none' });

    expect(first).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('unpacks to more than 100 times'),
    });
    expect(await publishFolder()).toMatchObject({ code: 0 });
  });
});

describe('the network', () => {
  test('may lose requests and answers: the command sends them again', async () => {
    await write({ 'pyproject.toml': project('disturbed'), 'node.py': 'x' });
    api.disturb('hang up', 'lose the answer', { status: 503, headers: { 'retry-after': '0' } });
    expect(await publishFolder()).toMatchObject({ code: 0 });
  });

  test('may lose the answer to the publish itself', async () => {
    await write({ 'pyproject.toml': project('answer-lost'), 'node.py': 'x' });
    const identifier = { node_id: 'answer-lost', version: '1.0.0' };
    const lookUp = { status: 200, body: { node_versions: [{ identifier, status: 'not_found' }] } };
    api.disturb(lookUp, 'lose the answer');
    expect(await publishFolder()).toMatchObject({ code: 0 });
    expect(publishes()).toHaveLength(2);
  });

  test('that is not there at all ends the run with a sentence', async () => {
    await write({ 'pyproject.toml': project('unreachable') });
    const { code, stderr } = await run(folder, '--token', 'x', '--base-url', 'http://localhost:1');

    expect(code).toBe(5);
    expect(stderr).toContain('The registry at http://localhost:1 cannot be reached.');
  });
});

describe('what is not right is said before anything is sent', () => {
  test.each<[string, Record<string, string>, string[], string]>([
    ['no metadata', { 'node.py': '' }, [], 'Name the publisher'],
    [
      'no version',
      { 'pyproject.toml': project('x').replace('version = "1.0.0"', '') },
      [],
      'Name the version',
    ],
    ['TOML that is none', { 'pyproject.toml': '[project' }, [], 'is not valid TOML'],
    ['metadata of a wrong type', { 'pyproject.toml': '[project]\nname = 5' }, [], 'project.name'],
    ['an option that does not exist', {}, ['--frobnicate'], '--frobnicate'],
    [
      'an address that is none',
      {},
      ['--base-url', 'registry'],
      '"registry" is not an http or https address.',
    ],
    ['a time that is none', {}, ['--timeout', 'soon'], '--timeout takes a number of seconds.'],
    ['no files', {}, ['--publisher', 'demo', '--node', 'x', '--version', '1'], 'There are no files'],
  ])('%s', async (_, files, args, sentence) => {
    await write(files);
    const { code, stderr } = await publishFolder(...args);

    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    expect(api.received).toEqual([]);
  });

  test('a link that could lead out of the folder', async () => {
    await write({ 'pyproject.toml': project('linked') });
    await symlink('/etc/passwd', join(folder, 'link'));

    expect(await publishFolder()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('neither a file'),
    });
  });
});

describe('what the registry refuses', () => {
  test.each<[string, string[], string]>([
    [
      'a personal access token that is none',
      ['--token', 'nrp_wrong'],
      'The personal access token is unknown',
    ],
    ['a version that is none', ['--version', 'nightly'], 'not a semantic version'],
    ['an unknown publisher', ['--publisher', 'nobody'], 'There is no such publisher.'],
  ])('%s', async (_, args, sentence) => {
    await write({ 'pyproject.toml': project('not-allowed'), 'node.py': 'x' });
    const { code, stdout, stderr } = await publishFolder(...args);

    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining(sentence)]);
    expect(stderr).not.toContain('nrp_');
  });
});

test('--help documents every exit code', async () => {
  const { code, stdout } = await run('--help');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/Exit codes:\n {2}0 .*\n {2}2 .*\n {2}3 .*\n {2}4 .*\n {2}5 /),
  ]);
});
