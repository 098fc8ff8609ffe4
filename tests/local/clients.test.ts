import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { readSigningKeys, signatureHeaders } from '../../lib/notifications/signature.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { demo } from '../../tools/local/demo.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import type * as RegistryModule from '../../packages/registry-client/client.ts';
import {
  createPublicIndex,
  createRegistryClient,
  type PublishInput,
  type RegistryClient,
} from '../../packages/registry-client/client.ts';
import { hasBrowser, launchBrowser, note, openPage } from '../support/browser.ts';
import { readExamples, runExample } from '../support/readme-examples.ts';
import { until } from '../support/until.ts';
import { commandsBelow } from '../support/walk-through.ts';

const run = promisify(execFile);

let stack: LocalStack;

beforeAll(async () => {
  stack = await startLocalStack();
});

afterAll(() => stack.stop());

describe('the README, pasted as printed', () => {
  const heading = '## Try it';
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'node-registry-readme-'));
    for (const name of await readdir('.')) await symlink(resolve(name), join(folder, name));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A printed answer: it may leave fields out, and a text with `…` stands for any text. */
  function sample(printed: string): object {
    return JSON.parse(printed, (_, value) =>
      typeof value === 'string' && value.includes('…') ? expect.any(String) : value,
    );
  }

  test('publishes, uploads, reads and generates a video, and answers what the samples print', async () => {
    const readme = await readFile('README.md', 'utf8');
    const blocks = commandsBelow(readme, heading);
    const script = blocks
      .join('\n')
      .replaceAll('http://localhost:3000', stack.apiUrl)
      .replaceAll('http://localhost:3004', stack.pagesUrl);
    const { stdout } = await run('sh', ['-e', '-c', script], { cwd: folder, env: stack.environment });
    const samples = [...readme.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => sample(text));
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

    expect(samples).toHaveLength(4);
    expect(answers).toHaveLength(samples.length);
    expect(answers).toMatchObject(samples);
  });

  test('works section by section', () => {
    const text =
      '# A\n## B\n```sh\none # two\n# three\n```\n### C\n```json\n{}\n```\n```sh\nfour\n```\n## D\n```sh\nfive\n```\n';

    expect(commandsBelow(text, '## B')).toEqual(['one # two\n# three\n', 'four\n']);
    expect(commandsBelow(text, '## D')).toEqual(['five\n']);
    expect(commandsBelow(text, '## E')).toEqual([]);
  });
});

describe('docs/publishing.md, pasted as printed', () => {
  test('takes an empty machine from nothing to a published version', async () => {
    const place = await mkdtemp(join(tmpdir(), 'node-registry-publishing-'));
    await mkdir(join(place, 'first-node'));
    await writeFile(join(place, 'first-node/node.py'), 'print(1)\n');
    const pack = ['pack', '--silent', '-w', 'publish-node', '--pack-destination', place];
    const tarball = join(place, (await run('npm', pack)).stdout.trim());
    const heading = '## From nothing to a published version in five minutes';
    const script = commandsBelow(await readFile('docs/publishing.md', 'utf8'), heading)
      .join('\n')
      .replace('https://registry.example.com/publish-node.tgz', tarball)
      .replace('https://registry.example.com', stack.apiUrl)
      .replace('cd my-node', 'cd first-node')
      .replace('nrp_…', demo.personalAccessToken)
      .replace('--publisher me', `--publisher ${demo.publisherId}`);
    const answers = { npm_config_yes: 'true', NODE_REGISTRY_ACCESS_TOKEN: stack.token('OWNER') };
    const env = { ...stack.environment, ...answers };
    const { stdout } = await run('sh', ['-e', '-c', script], { cwd: place, env });
    await rm(place, { recursive: true });

    expect(stdout).toContain('Nothing was sent.');
    expect(stdout).toContain('first-node 1.0.0 is published.');
    expect(stdout).toContain('first-node 1.0.0 is active.');
  });
});

describe('npm run verify-stage', () => {
  test('passes every check on the local stack but the two that only AWS can pass', async () => {
    const env = {
      ...stack.environment,
      NODE_REGISTRY_ACCESS_TOKEN: stack.token('OWNER'),
      NODE_REGISTRY_TOKEN: demo.personalAccessToken,
    };
    const image = ['--paid', 'https://example.com/picture.png'];
    const target = ['--url', stack.apiUrl, '--publisher', demo.publisherId];
    const command = run('npm', ['run', '--silent', 'verify-stage', '--', ...target, ...image], { env });
    const { code, stdout } = await command.catch((error) => error);

    const lines = stdout.trim().split('\n');
    expect(lines.filter((line: string) => !line.startsWith('ok  '))).toEqual([
      expect.stringMatching(/^FAIL {2}large headers get the gateway’s 431: /),
      expect.stringMatching(/^FAIL {2}a download has the headers of the distribution: /),
    ]);
    expect([code, lines.length]).toEqual([1, 11]);
  });
});

describe('a CI job without a stored secret', () => {
  const tool = async (...args: string[]) =>
    (await run('npm', ['run', '--silent', ...args], { env: stack.environment })).stdout.trim();

  test('publishes a version, does nothing when run again, and publishes the next one', async () => {
    const place = await mkdtemp(join(tmpdir(), 'node-registry-ci-'));
    await writeFile(join(place, 'node.py'), 'print(1)\n');
    const job = ['--repository', 'octo/nodes', '--workflow', 'release.yml'];
    await tool(
      'admin',
      '--',
      'trust',
      'add',
      demo.publisherId,
      ...job,
      '--issuer',
      'http://localhost:3001/ci',
    );
    const publishFromCi = async (version: string) => {
      const token = await tool('token', '--', '--ci', 'octo/nodes');
      const node = ['--publisher', demo.publisherId, '--node', 'from-ci', '--version', version];
      const env = {
        ...stack.environment,
        GITLAB_CI: 'true',
        NODE_REGISTRY_URL: stack.apiUrl,
        NODE_REGISTRY_ID_TOKEN: token,
      };
      return JSON.parse(
        (
          await run('npm', ['run', '--silent', 'publish-node', '--', 'publish', place, ...node, '--json'], {
            env,
          })
        ).stdout,
      );
    };
    const results = [
      await publishFromCi('1.0.0'),
      await publishFromCi('1.0.0'),
      await publishFromCi('1.1.0'),
    ];
    const shown = JSON.parse(await tool('admin', '--', 'node-version', 'show', 'from-ci', '1.1.0', '--json'));
    await rm(place, { recursive: true });

    expect(results.map(({ version, status }) => [version, status])).toEqual([
      ['1.0.0', 'published'],
      ['1.0.0', 'already_published'],
      ['1.1.0', 'published'],
    ]);
    expect(shown.provenance).toMatchObject({ repository: 'octo/nodes', workflow: 'release.yml' });
  });
});

describe('docs/examples', () => {
  const folder = 'docs/examples';
  const texts = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));

  test('shows the answer of every example', async () => {
    const { token, environment } = stack;
    const env = { ...environment, OWNER: token('OWNER') };
    const { stdout } = await run('npm', ['run', 'examples'], { env });
    const examples = texts.join('').match(/^### /gm) ?? [];

    expect(examples.length).toBeGreaterThan(30);
    expect(stdout.match(/^ {2}✓ /gm)).toHaveLength(examples.length);
    expect(stdout).toContain(`${examples.length} examples sent, ${examples.length} answered as expected.`);
  });

  test('shows a success and an error of every operation', () => {
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
    const examples = texts.flatMap((text) => text.split(/^### /m).slice(1));
    const routes = Object.entries<object>(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const missing = routes.flatMap((route) => {
      const pattern = new RegExp(
        `^${route.replace(' ', ' {{host}}').replaceAll(/\{(\w+)\}(?!\})/g, '[^/\\s]+')}$`,
        'm',
      );
      const shown = examples.filter((example) => pattern.test(example));
      return ['2', '[45]'].filter(
        (kind) => !shown.some((text) => new RegExp(`status == ${kind}`).test(text)),
      );
    });

    expect(routes).toHaveLength(8);
    expect(missing).toEqual([]);
  });
});

describe('the typed client', () => {
  const image = 'https://example.com/image.png';
  let client: RegistryClient;

  beforeAll(() => {
    client = createRegistryClient({ baseUrl: stack.apiUrl, accessToken: () => stack.token('OWNER') });
  });

  test('runs every example of its README', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'node-registry-client-'));
    const archive = join(cwd, 'my-node.zip');
    await writeFile(archive, await demoArchive('1.2.0'));
    const body = JSON.stringify({ task_id: '1', state: 'success' });
    const keys = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);
    const env = {
      ...stack.environment,
      OWNER: stack.token('OWNER'),
      NODE_REGISTRY_TOKEN: demo.personalAccessToken,
      PUBLIC_KEY: keys[0]?.publicKey,
      SIGNED: JSON.stringify({ body, headers: signatureHeaders(keys, { id: 'msg_1', body }) }),
    };
    const place = { cwd, env, apiUrl: stack.apiUrl, downloadsUrl: stack.pagesUrl };
    const examples = await readExamples();
    const publishing = examples.filter((code) => code.includes('publish('));
    let printed = '';
    for (const code of publishing) printed += await runExample(code, place);
    await rm(archive);
    const index = createPublicIndex({ downloadsUrl: stack.pagesUrl });
    await until(async () => (await index.node('my-node')) !== undefined);
    for (const code of examples) if (!publishing.includes(code)) printed += await runExample(code, place);

    expect(examples.length).toBeGreaterThan(6);
    expect(printed).toMatch(/my-node\/1\.2\.0\/.*[0-9a-f]{64} false/);
    expect(printed).toMatch(/^demo-node Demo Node 1\.1\.0$/m);
    // Deleted above, and downloaded by an example.
    expect(await readFile(archive)).toEqual(await demoArchive('1.2.0'));
    await rm(cwd, { recursive: true });
  });

  test('publishes a version, uploads its archive, waits for it, and publishes nothing twice', async () => {
    const archive = await demoArchive('1.0.0');
    const input: PublishInput = {
      publisherId: demo.publisherId,
      nodeId: 'client-node',
      node: { name: 'Client Node' },
      version: { version: '1.0.0' },
      personalAccessToken: demo.personalAccessToken,
      archive,
    };
    const steps: string[] = [];
    const first = await client.publish(input, { onStep: (step) => steps.push(step) });
    const second = await client.publish(input);
    const download = await fetch(first.version.downloadUrl);
    const others = client.publish({ ...input, archive: await demoArchive('1.0.1') });

    expect(steps).toEqual(['registering', 'uploading', 'checking']);
    expect(first).toMatchObject({ wasPublished: false, version: { status: 'NodeVersionStatusActive' } });
    // The host nodes are extracted in the meantime.
    const host_node_extract_status = expect.any(String);
    expect(second).toEqual({ wasPublished: true, version: { ...first.version, host_node_extract_status } });
    expect(Buffer.from(await download.arrayBuffer()).equals(archive)).toBe(true);
    await expect(others).rejects.toMatchObject({ code: 'published_with_other_bytes' });
  });

  test('says why an archive was rejected', async () => {
    const rejected = client.publish({
      publisherId: demo.publisherId,
      nodeId: 'client-rejected',
      version: { version: '1.0.0' },
      personalAccessToken: () => demo.personalAccessToken,
      archive: new Blob(['this is not a zip']),
    });

    await expect(rejected).rejects.toMatchObject({ code: 'archive_rejected', message: /not a zip/ });
  });

  test('changes a node and a host node whose name needs escaping', async () => {
    const node = await client.nodes.update(demo.publisherId, demo.nodeId, { tags: ['typed'] });
    const name = 'Blend | 50%25 #1 (a//b)?';
    // An admin may add a host node that the archive does not have.
    const admin = createRegistryClient({ baseUrl: stack.apiUrl, accessToken: stack.token('ADMIN') });
    const hostNode = await admin.hostNodes.update(demo.nodeId, demo.version, name, { category: 'image' });

    expect(node).toMatchObject({ id: demo.nodeId, tags: ['typed'] });
    expect(hostNode).toMatchObject({ host_node_name: name, category: 'image' });
  });

  test('starts all four kinds of paid tasks', async () => {
    const relit = await client.images.relight({ image });
    const video = await client.videos.fromText({ prompt: 'rain' });
    const source = { video_creation_id: '1', video_url: 'https://example.com/video.mp4' };
    const longer = await client.videos.extend({ model: 'vidq2-pro', ...source });
    const joined = await client.videos.multiframe({
      model: 'vidq2-pro',
      start_image: image,
      image_settings: [{ key_image: image }, { key_image: image }],
    });

    expect(relit.data.status).toBe('CREATED');
    for (const { state } of [video, longer, joined]) expect(state).toBe('created');
  });
});

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser(`serves the typed client on a page of another origin${note}`, () => {
  test('publishes, reads, starts a paid task and understands an error', async () => {
    const { outputFiles } = await build({
      entryPoints: ['packages/registry-client/client.ts'],
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'registry',
      target: 'es2022',
    });
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><title>Other origin</title><script>${outputFiles[0]?.text}</script>`);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const browser = await launchBrowser();
    try {
      const { page, problems } = await openPage(browser, 800);
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const given = {
        url: stack.apiUrl,
        owner: stack.token('OWNER'),
        personal: demo.personalAccessToken,
        zip: [...(await demoArchive('1.0.0'))],
      };
      const seen = await page.evaluate(async ({ url, owner, personal, zip }) => {
        const { createRegistryClient } = (globalThis as unknown as { registry: typeof RegistryModule })
          .registry;
        const client = createRegistryClient({ baseUrl: url, accessToken: owner });
        const { version } = await client.publish({
          publisherId: 'demo',
          nodeId: 'browser-node',
          version: { version: '1.0.0' },
          personalAccessToken: personal,
          archive: new Uint8Array(zip),
        });
        const [entry] = await client.versions.bulk([{ node_id: 'browser-node', version: '1.0.0' }]);
        const task = await client.videos.fromText({ prompt: 'rain' });
        const error = await client.videos
          .fromText({ model: 'vidq3-pro', duration: 99 })
          .catch((thrown) => thrown);
        const { code, status, details, requestId } = error;
        const isNamed = typeof requestId === 'string';
        return { version, entry, state: task.state, error: { code, status, path: details[0].path, isNamed } };
      }, given);

      expect(seen.version).toMatchObject({ status: 'NodeVersionStatusActive', size_bytes: given.zip.length });
      // The host nodes are extracted in the meantime.
      const host_node_extract_status = expect.any(String);
      expect(seen.entry?.node_version).toEqual({ ...seen.version, host_node_extract_status });
      expect(seen.state).toBe('created');
      expect(seen.error).toEqual({
        code: 'invalid_request',
        status: 400,
        path: 'body.duration',
        isNamed: true,
      });
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      server.close();
    }
  });
});

inBrowser(`serves a page of another origin${note}`, () => {
  test('sends every request header of the document and reads every answer header', async () => {
    const server = createServer((_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Other origin</title>');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const misbehavior = { provider: 'video', kind: 'status', status: 429, retryAfter: 28, times: 1 };
    const browser = await launchBrowser();
    try {
      const { page, problems } = await openPage(browser, 800);
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const given = { url: stack.apiUrl, owner: stack.token('OWNER') };
      const ask = (path: string, method: string, body: object, headers: Record<string, string> = {}) =>
        page.evaluate(
          async ({ url, owner, path, method, body, headers }) => {
            const response = await fetch(`${url}${path}`, {
              method,
              body: JSON.stringify(body),
              headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json', ...headers },
            });
            await response.text();
            return { status: response.status, headers: Object.fromEntries(response.headers) };
          },
          { ...given, path, method, body, headers },
        );
      const key = { 'idempotency-key': `page-${Date.now()}` };
      await ask('/proxy/video-provider/text2video', 'POST', { prompt: 'rain' }, key);
      const repeated = await ask('/proxy/video-provider/text2video', 'POST', { prompt: 'rain' }, key);
      const node = `/publishers/${demo.publisherId}/nodes/${demo.nodeId}`;
      const updated = await ask(node, 'PUT', { category: 'image' }, { 'x-request-id': 'from-a-page' });
      const stale = await ask(node, 'PUT', {}, { 'if-match': '"0"' });
      await fetch(`${stack.simulatorsUrl}/control/misbehave`, {
        method: 'POST',
        body: JSON.stringify(misbehavior),
      });
      const busy = await ask('/proxy/video-provider/text2video', 'POST', { prompt: 'snow' });

      expect(repeated).toMatchObject({ status: 200, headers: { 'idempotent-replayed': 'true' } });
      expect(updated).toMatchObject({
        status: 200,
        headers: {
          etag: expect.stringMatching(/^"\d+"$/),
          deprecation: expect.stringMatching(/^@/),
          'x-request-id': 'from-a-page',
        },
      });
      expect(stale.status).toBe(412);
      expect(busy).toMatchObject({ status: 429, headers: { 'retry-after': '28' } });
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
      server.close();
    }
  });
});
