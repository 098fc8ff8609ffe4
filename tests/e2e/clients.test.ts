import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demo } from '../../tools/local/demo.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { createRegistryClient, type RegistryClient } from '../../tools/registry-client/client.ts';
import { commandsBelow } from '../support/walk-through.ts';

const run = promisify(execFile);

let stack: LocalStack;

beforeAll(async () => {
  stack = await startLocalStack();
}, 60_000);

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
    const script = blocks.join('\n').replaceAll('http://localhost:3000', stack.apiUrl);
    const { stdout } = await run('sh', ['-e', '-c', script], { cwd: folder, env: stack.environment });
    const samples = [...readme.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => sample(text));
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

    expect(answers).toHaveLength(3);
    expect(answers).toMatchObject(samples);
  }, 60_000);

  test('is read section by section', () => {
    const text =
      '# A\n## B\n```sh\none # two\n# three\n```\n### C\n```json\n{}\n```\n```sh\nfour\n```\n## D\n```sh\nfive\n```\n';

    expect(commandsBelow(text, '## B')).toEqual(['one # two\n# three\n', 'four\n']);
    expect(commandsBelow(text, '## D')).toEqual(['five\n']);
    expect(commandsBelow(text, '## E')).toEqual([]);
  });
});

describe('docs/examples', () => {
  const folder = 'docs/examples';
  const texts = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));

  test('every example is answered as it says', async () => {
    const { token, environment } = stack;
    const env = { ...environment, OWNER: token('OWNER') };
    const { stdout } = await run('npm', ['run', 'examples'], { env });
    const examples = texts.join('').match(/^### /gm) ?? [];

    expect(examples.length).toBeGreaterThan(30);
    expect(stdout.match(/^ {2}✓ /gm)).toHaveLength(examples.length);
    expect(stdout).toContain(`${examples.length} examples sent, ${examples.length} answered as expected.`);
  }, 30_000);

  test('every operation has an example of its success and of an error', () => {
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
  const nodeId = 'client-node';
  const pairs = { node_versions: [{ node_id: nodeId, version: '1.0.0' }] };
  let client: RegistryClient;

  beforeAll(() => {
    client = createRegistryClient({ baseUrl: stack.apiUrl, accessToken: () => stack.token('OWNER') });
  });

  async function publishedVersion() {
    const { data } = await client.POST('/bulk/nodes/versions', { body: pairs });
    return data?.node_versions[0]?.node_version;
  }

  async function waitUntilActive(): Promise<void> {
    const end = Date.now() + 5000;
    while ((await publishedVersion())?.status !== 'NodeVersionStatusActive') {
      if (Date.now() > end) throw new Error('The version did not become active.');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  test('publishes a version, uploads its archive and downloads it', async () => {
    const { data } = await client.POST('/publishers/{publisherId}/nodes/{nodeId}/versions', {
      params: { path: { publisherId: demo.publisherId, nodeId } },
      body: {
        personal_access_token: demo.personalAccessToken,
        node: { name: 'Client Node' },
        node_version: { version: '1.0.0' },
      },
    });
    const archive = await demoArchive('1.0.0');
    const upload = await fetch(String(data?.signedUrl), {
      method: 'PUT',
      headers: { 'content-type': 'application/zip' },
      body: new Uint8Array(archive),
    });
    await waitUntilActive();
    const download = await fetch(String((await publishedVersion())?.downloadUrl));

    expect(data?.node_version.status).toBe('NodeVersionStatusPending');
    expect(upload.status).toBe(200);
    expect(Buffer.from(await download.arrayBuffer()).equals(archive)).toBe(true);
  });

  test('changes a node and a host node whose name needs escaping', async () => {
    const path = { nodeId, version: '1.0.0', hostNodeName: 'Blend | 50%25 #1 (a//b)?' };
    const node = await client.PUT('/publishers/{publisherId}/nodes/{nodeId}', {
      params: { path: { publisherId: demo.publisherId, nodeId } },
      body: { tags: ['typed'] },
    });
    const hostNode = await client.PUT('/nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName}', {
      params: { path },
      body: { category: 'image' },
    });

    expect(node.data).toMatchObject({ id: nodeId, tags: ['typed'] });
    expect(hostNode.data).toMatchObject({ host_node_name: path.hostNodeName, category: 'image' });
  });

  test('starts all four kinds of paid tasks', async () => {
    const image = 'https://example.com/image.png';
    const relit = await client.POST('/proxy/image-provider/v1/ai/image-relight', { body: { image } });
    const video = await client.POST('/proxy/video-provider/text2video', { body: { prompt: 'rain' } });
    const longer = await client.POST('/proxy/video-provider/extend', {
      body: { model: 'vidq2-pro', video_creation_id: '1', video_url: 'https://example.com/video.mp4' },
    });
    const joined = await client.POST('/proxy/video-provider/multiframe', {
      body: {
        model: 'vidq2-pro',
        start_image: image,
        image_settings: [{ key_image: image }, { key_image: image }],
      },
    });

    expect(relit.data?.data.status).toBe('CREATED');
    for (const { data } of [video, longer, joined]) expect(data?.state).toBe('created');
  });
});
