import { execFile, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import { isListening } from '@node-registry/command-line/is-listening';
import { readSigningKeys, signatureHeaders } from '../../lib/notifications/signature.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { demo } from '../../tools/local/demo.ts';
import { demoArchive } from '../../tools/local/demo-archive.ts';
import { findFreePort } from '../../tools/processes/ports.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import type * as RegistryModule from '@node-registry/registry-client';
import { createPublicIndex, createRegistryClient, type RegistryClient } from '@node-registry/registry-client';
import { closePages, inBrowser, openPage } from '@node-registry/testing/browser';
import { readExamples, runExample } from '../support/readme-examples.ts';
import { folder } from '@node-registry/testing/folders';
import { runProgram } from '@node-registry/testing/shell';
import { plainEnvironment } from '@node-registry/testing/shell';
import { until } from '@node-registry/testing/until';
import '../support/in-order.ts';

jest.setTimeout(120_000);

const run = promisify(execFile);

let stack: LocalStack;
let client: RegistryClient;
const document = await readFile('docs/notifications.md', 'utf8');
const video = { model: 'vidq3-pro', prompt: 'rain on a lake' } as const;

const keys = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);

/** A notification as the stack sends it now, and the key that verifies it. */
function signed() {
  const body = JSON.stringify({ task_id: '1', state: 'success' });
  const headers = signatureHeaders(keys, { id: 'msg_1', body });
  return { PUBLIC_KEY: keys[0]?.publicKey, SIGNED: JSON.stringify({ body, headers }) };
}

beforeAll(async () => {
  stack = await startLocalStack();
  client = createRegistryClient({ baseUrl: stack.apiUrl, accessToken: () => stack.token('OWNER') });
});

afterAll(() => stack?.stop());

afterEach(closePages);

/** A page of another origin than the API's. */
async function openOrigin() {
  const opened = await openPage(800);
  await opened.page.goto(`${stack.pagesUrl}/reference/openapi.json`);
  return opened;
}

/** The commands that a reader of a document copies: the `sh` blocks of one section. */
function commandsBelow(markdown: string, heading: string): string {
  const section = markdown.split(/^(?=## )/m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands).join('\n');
}

/** The first block of a language in a document. */
function blockOf(text: string, language: string): string {
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text)?.[1] ?? '';
}

test('a CI job of the stack’s own issuer is known, and rejected for its repository alone', async () => {
  const printed = runProgram(process.execPath, ['tools/local/token.ts', '--ci', 'octo/nodes'], {
    env: stack.environment,
  });
  const personal_access_token = (await printed).stdout.trim();
  const job = createRegistryClient({ baseUrl: stack.apiUrl });
  const body = { personal_access_token, node: {}, node_version: { version: '1.0.0' } };

  await expect(job.versions.register(demo.publisherId, 'from-ci', body)).rejects.toThrow(
    'The publisher does not trust the repository octo/nodes of ',
  );
});

describe('docs/notifications.md, run as printed', () => {
  test('names the public key of the local stack, as the banner and the studio do', async () => {
    const key = String(keys[0]?.publicKey);

    expect(document).toContain(`\`${key}\``);
    expect(stack.token('PUBLIC_KEY')).toBe(key);
    expect(await (await fetch(`${stack.pagesUrl}/studio.json`)).text()).toContain(key);
  });

  test('starts a receiver that verifies and prints every notification', async () => {
    const port = await findFreePort();
    await writeFile(join(folder, 'receiver.js'), blockOf(document, 'js').replace('8080', String(port)));
    await build({
      entryPoints: [join(folder, 'receiver.js')],
      outfile: join(folder, 'receiver.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      alias: { '@node-registry/registry-client': resolve('packages/registry-client/client.ts') },
    });
    const env = { ...stack.environment, PUBLIC_KEY: stack.token('PUBLIC_KEY') };
    const receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env });
    let printed = '';
    receiver.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    await until(() => isListening(`http://localhost:${port}`, 1000));
    const { task_id } = await client.videos.fromText({
      ...video,
      callback_url: `http://localhost:${port}/hook`,
    });
    const isPrinted = (state: string) => printed.includes(`${task_id} ${state}`);
    await until(() => ['queueing', 'processing', 'success'].every(isPrinted));
    const forged = await fetch(`http://localhost:${port}/hook`, { method: 'POST', body: '{}' });
    receiver.kill();

    expect(printed).toMatch(/http:\/\/localhost:\d+\/media\/\d+\.webm/);
    expect(forged.status).toBe(400);
  });
});

/** A printed answer: it may leave fields out, and a text with `…` stands for any text. */
function sample(printed: string): object {
  const revive = (_: string, value: unknown) =>
    typeof value === 'string' && value.includes('…') ? expect.any(String) : value;
  return Object(JSON.parse(printed, revive));
}

test('the README, pasted as printed publishes, uploads, reads and generates a video, and answers what the samples print', async () => {
  const names = (await readdir('.')).filter((name) => name !== '.local');
  for (const name of names) await symlink(resolve(name), join(folder, name));
  // Its own: `npm start` takes no folder for its data in which only a test has left something.
  await mkdir(join(folder, '.local'));
  const readme = await readFile('README.md', 'utf8');
  const script = commandsBelow(readme, '## Try it')
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

test('docs/publishing.md, pasted as printed, takes an empty machine from nothing to a published version', async () => {
  const home = join(folder, 'home');
  await mkdir(join(home, 'first-node'), { recursive: true });
  await writeFile(join(home, 'first-node/node.py'), 'print(1)\n');
  const pack = ['pack', '--silent', '-w', 'packages/publish-node', '--pack-destination', folder];
  const tarball = join(folder, 'publish-node.tgz');
  await rename(join(folder, (await run('npm', pack)).stdout.trim()), tarball);
  const heading = '## From nothing to a published version';
  const script = commandsBelow(await readFile('docs/publishing.md', 'utf8'), heading)
    .replace('https://registry.example.com/publish-node.tgz', `file://${tarball}`)
    .replace('DIGEST', hash('sha256', await readFile(tarball)))
    .replace('https://registry.example.com', stack.apiUrl)
    .replace('cd my-node', 'cd first-node')
    .replace('--publisher me', `--publisher ${demo.publisherId}`);
  // Of an empty machine: this repository's own command is not on its path.
  const folders = String(process.env.PATH).split(delimiter);
  const PATH = folders.filter((path) => !path.includes('node_modules')).join(delimiter);
  const env = { ...plainEnvironment, PATH, HOME: home, XDG_CONFIG_HOME: undefined };
  const child = spawn('sh', ['-e', '-c', script], { cwd: folder, env });
  const printed = text(child.stdout);
  // The person opens the address that is shown, and chooses who they are.
  let shown = '';
  child.stderr.on('data', (part) => (shown += part));
  const address = () => /http:\S+\/authorize\S+/.exec(shown)?.[0];
  await until(() => address() !== undefined || child.exitCode !== null);
  const { searchParams, origin } = new URL(String(address()));
  const body = new URLSearchParams([...searchParams, ['user', demo.owner]]);
  await fetch(`${origin}/authorize`, { method: 'POST', body });
  const stdout = await printed;

  expect(stdout).toContain('Nothing was sent.');
  expect(stdout).toContain('first-node 1.0.0 is published.');
  expect(stdout).toContain('first-node 1.0.0 is active.');
});

test('npm run verify-stage passes every check on the local stack but the two that only AWS can pass', async () => {
  const env = {
    ...stack.environment,
    NODE_REGISTRY_ACCESS_TOKEN: stack.token('OWNER'),
    NODE_REGISTRY_TOKEN: demo.personalAccessToken,
  };
  const image = ['--paid', 'https://example.com/picture.png'];
  const target = ['--url', stack.apiUrl, '--publisher', demo.publisherId];
  const command = run('npm', ['run', '--silent', 'verify-stage', '--', ...target, ...image], { env });
  const { code, stdout } = await command.catch((error) => error);

  const [checks, rest] = stdout
    .trim()
    .split('Only an account can show (docs/deploy.md, "Verify the stage"):\n');
  const lines = checks.trim().split('\n');
  expect(lines.filter((line: string) => !line.startsWith('ok  '))).toEqual([
    expect.stringMatching(/^FAIL {2}large headers get the gateway’s 431: /),
    expect.stringMatching(/^FAIL {2}a download has the headers of the distribution: /),
  ]);
  expect([code, lines.length]).toEqual([1, 11]);
  expect(rest).toMatch(/^1\. The generated URL is off\n(?:\d+\. .+\n)+\d+\. Alarms and logs arrive\.$/);
});

test('docs/examples shows the answer of every example', async () => {
  const { token, environment } = stack;
  const env = { ...environment, OWNER: token('OWNER') };
  const { versions } = createRegistryClient({ baseUrl: stack.apiUrl });
  const pair = { node_id: demo.nodeId, version: demo.version };
  // The last example needs the host nodes, which are read after the start.
  await until(async () => {
    const [entry] = await versions.bulk([pair]);
    return entry?.node_version?.host_node_extract_status === 'success';
  });
  const { stdout } = await run('npm', ['run', 'examples'], { env });
  const files = ['proxies', 'registry'].map((name) => readFile(`docs/examples/${name}.http`, 'utf8'));
  const examples = (await Promise.all(files)).join('').match(/^### /gm) ?? [];

  expect(examples.length).toBeGreaterThan(30);
  expect(stdout.match(/^ {2}✓ /gm)).toHaveLength(examples.length);
  expect(stdout).toContain(`${examples.length} examples sent, ${examples.length} answered as expected.`);
});

test('the typed client runs every example of its README', async () => {
  const archive = join(folder, 'my-node.zip');
  await writeFile(archive, demoArchive('1.2.0'));
  const { environment, token } = stack;
  const given = { OWNER: token('OWNER'), NODE_REGISTRY_TOKEN: demo.personalAccessToken };
  const env = { ...environment, ...given, ...signed() };
  const place = { cwd: folder, env, apiUrl: stack.apiUrl, downloadsUrl: stack.siteUrl };
  const examples = await readExamples();
  const publishing = examples.filter((code) => code.includes('publish('));
  let printed = '';
  for (const code of publishing) printed += await runExample(code, place);
  await rm(archive);
  const index = createPublicIndex({ downloadsUrl: stack.siteUrl });
  await until(async () => (await index.node('my-node')) !== undefined);
  for (const code of examples) if (!publishing.includes(code)) printed += await runExample(code, place);

  expect(examples.length).toBeGreaterThan(5);
  expect(printed).toMatch(/my-node\/1\.2\.0\/.*[0-9a-f]{64} false/);
  expect(printed).toMatch(/^demo-node Demo Node 1\.1\.0$/m);
  // Deleted above, and downloaded by an example.
  expect(await readFile(archive)).toEqual(demoArchive('1.2.0'));
});

describe('docs/examples/cookbook', () => {
  const place = resolve('docs/examples/cookbook');
  /** What the recipes use of frameworks that this repository doesn't install. */
  const frameworks: Record<string, string> = {
    react: `const own = {};
      export const useRef = (current) => (own.ref ??= { current });
      export const useState = (first) => [own.shown ?? first, (next) => { own.shown = next; }];`,
    express: `const express = () => ({ post(_, __, handler) { this.handler = handler; } });
      express.raw = () => undefined;
      export default express;`,
    fastify: `export default () => ({ addContentTypeParser() {}, post(_, handler) { this.handler = handler; } });`,
  };
  const hook = `import { receiver } from './FRAMEWORK.mjs';
    const { body, headers } = JSON.parse(process.env.SIGNED);
    const app = receiver((id, { state }) => console.log(id, state));`;
  const film = expect.stringMatching(/^http:.*\.webm$/);

  test.each<[string, string, unknown[]]>([
    [
      'react',
      `import { createPaidClient } from '@node-registry/registry-client/paid';
      import { useFilm } from './react.mjs';
      const registry = createPaidClient({ baseUrl: process.env.REGISTRY, accessToken: process.env.ACCESS_TOKEN });
      await Promise.all([1, 2].map(() => useFilm(registry).make('rain')));
      console.log(useFilm(registry).url);`,
      [film],
    ],
    [
      'next-route',
      `import { POST } from './next-route.mjs';
      const body = JSON.stringify({ order: '1', prompt: 'rain' });
      const ask = () => POST(new Request('http://shop', { method: 'POST', headers: { 'x-customer': 'a' }, body }));
      const [one, other] = await Promise.all([ask(), ask()]);
      console.log(one.status, (await one.json()).statusUrl === (await other.json()).statusUrl);`,
      ['200 true'],
    ],
    [
      'express',
      `${hook.replace('FRAMEWORK', 'express')}
      const response = { sendStatus: (status) => console.log(status) };
      await app.handler({ headers, body: Buffer.from(body) }, response);
      await app.handler({ headers, body: Buffer.from('{}') }, response);`,
      ['204', 'msg_1 success', '400'],
    ],
    [
      'fastify',
      `${hook.replace('FRAMEWORK', 'fastify')}
      const reply = { code: (status) => ({ send: () => console.log(status) }) };
      await app.handler({ headers, body }, reply);
      await app.handler({ headers, body: '{}' }, reply);`,
      ['msg_1 success', '204', '400'],
    ],
    [
      'queue-worker',
      `import { work } from './queue-worker.mjs';
      const job = { id: 7, prompt: 'rain' };
      const [one, other] = await Promise.all([work(job), work(job)]);
      console.log(one.done[0] === other.done[0] && one.done[0]);`,
      [film],
    ],
    [
      'shop',
      `import { deliver, goOn } from './shop.mjs';
      const show = ({ media }) => console.log(media[0]);
      await deliver('order-1', 'rain', show);
      await goOn(() => 'rain', show, console.log);`,
      [film],
    ],
  ])('has a recipe that pays once, or accepts what is signed: %s', async (_, contents, lines) => {
    const before = await startedTasks();
    const outfile = join(folder, 'recipe.mjs');
    await build({
      stdin: { contents, resolveDir: place },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      conditions: ['in-tree'],
      logLevel: 'silent',
      plugins: [
        {
          name: 'frameworks',
          setup({ onResolve, onLoad }) {
            onResolve({ filter: /^(?:react|express|fastify)$/ }, ({ path }) => ({ path, namespace: 'own' }));
            onLoad({ filter: /./, namespace: 'own' }, ({ path }) => ({ contents: frameworks[path] ?? '' }));
          },
        },
      ],
    });
    const { stdout } = await run(process.execPath, [outfile], { cwd: folder, env: recipeEnvironment() });

    expect(stdout.trim().split('\n')).toEqual(lines);
    expect((await startedTasks()) - before).toBe(contents.includes('receiver') ? 0 : 1);
  });

  test.each([
    ['python3', 'film.py'],
    ['sh', 'film.sh'],
  ])('has a program without the client that waits and pays once: %s %s', async (command, file) => {
    const before = await startedTasks();
    const busy = { provider: 'video', kind: 'status', status: 429, retryAfter: 1, times: 2 };
    await fetch(`${stack.simulatorsUrl}/control/misbehave`, { method: 'POST', body: JSON.stringify(busy) });
    const ask = () =>
      run(command, [join(place, file), `${file}-1`, 'a "red" boat'], { env: recipeEnvironment() });
    const [one, other] = [await ask(), await ask()];

    expect(one.stdout).toContain('.webm');
    expect(other.stdout).toBe(one.stdout);
    expect((await startedTasks()) - before).toBe(1);
  });

  function recipeEnvironment() {
    const given = { REGISTRY: stack.apiUrl, ACCESS_TOKEN: stack.token('OWNER'), DATABASE: ':memory:' };
    return { ...plainEnvironment, ...given, ...signed() };
  }

  async function startedTasks(): Promise<number> {
    const record = await (await fetch(`${stack.simulatorsUrl}/control/record`)).json();
    return (record as { tasks: object[] }).tasks.length;
  }
});

inBrowser('serves the typed client on a page of another origin', () => {
  test('publishes, relights a photo of 12 MB with progress, verifies, and understands errors', async () => {
    const { outputFiles } = await build({
      entryPoints: ['packages/registry-client/client.ts'],
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'registry',
      target: 'es2022',
    });
    const { page, problems } = await openOrigin();
    await page.addScriptTag({ content: String(outputFiles[0]?.text) });
    const message = { id: 'msg_1', body: '{"state":"success"}' };
    const given = {
      url: stack.apiUrl,
      owner: stack.token('OWNER'),
      personal: demo.personalAccessToken,
      zip: [...demoArchive('1.0.0')],
      signed: [0, 6].map((minutes) => signatureHeaders(keys, message, Date.now() - minutes * 60_000)),
      body: message.body,
      publicKey: stack.token('PUBLIC_KEY'),
    };
    const seen = await page.evaluate(async ({ url, owner, personal, zip, signed, body, publicKey }) => {
      const { createRegistryClient, verifyNotification } = (
        globalThis as unknown as { registry: typeof RegistryModule }
      ).registry;
      const client = createRegistryClient({ baseUrl: url, downloadsUrl: url, accessToken: owner });
      const { version } = await client.publish({
        publisherId: 'demo',
        nodeId: 'browser-node',
        version: { version: '1.0.0' },
        personalAccessToken: personal,
        archive: new Uint8Array(zip),
      });
      const [entry] = await client.versions.bulk([{ node_id: 'browser-node', version: '1.0.0' }]);
      const photo = new File([new Uint8Array(12_000_000).fill(7)], 'photo.jpg', { type: 'image/jpeg' });
      const sent: number[] = [];
      const onUpload = (told: { sent: number; total: number }) => sent.push(told.sent / told.total);
      await client.images.relight({ image: photo }, { wait: true, onUpload });
      const reasonOf = (thrown: { code?: string; reason?: string }) => thrown.code ?? thrown.reason;
      const reasons = await Promise.all([
        client.downloadBlob({ ...version, sha256: '0'.repeat(64) }).then(String, reasonOf),
        ...signed.map((headers) =>
          verifyNotification(headers, body, publicKey).then(({ id }) => id, reasonOf),
        ),
      ]);
      const error = await client.videos
        .fromText({ model: 'vidq3-pro', duration: 99 })
        .catch((thrown) => thrown);
      const { code, status, details, requestId } = error;
      const isNamed = typeof requestId === 'string';
      const rest = { sent: [sent[0], sent.at(-1)], reasons };
      return { version, entry, ...rest, error: { code, status, path: details[0].path, isNamed } };
    }, given);

    expect(seen.version).toMatchObject({ status: 'NodeVersionStatusActive', size_bytes: given.zip.length });
    // The host nodes are extracted in the meantime.
    const host_node_extract_status = expect.any(String);
    expect(seen.entry?.node_version).toEqual({ ...seen.version, host_node_extract_status });
    expect(seen.sent).toEqual([0, 1]);
    expect(seen.reasons).toEqual(['wrong_digest', 'msg_1', 'too_old']);
    expect(seen.error).toEqual({
      code: 'invalid_request',
      status: 400,
      path: 'body.duration',
      isNamed: true,
    });
    expect(problems).toEqual([]);
  });
});
