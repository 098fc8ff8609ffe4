import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
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
import { accessibilityProblems, closePages, inBrowser, openPage } from '@node-registry/testing/browser';
import { readExamples, runExample } from '../support/readme-examples.ts';
import { directory, folder } from '@node-registry/testing/folders';
import { packedProgram, publishNode } from '@node-registry/testing/publish-node';
import { plainEnvironment, runProgram, writeFiles } from '@node-registry/testing/shell';
import type { Page } from 'playwright-core';
import { until } from '@node-registry/testing/until';
import { relay, startReverseProxy } from '../../tools/local/reverse-proxy.ts';
import { untilEnd } from '../support/serve.ts';
import '../support/in-order.ts';

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
  await writeFiles(directory, { 'my-pack/node.py': 'NODE_CLASS_MAPPINGS = {}\n' });
  client = createRegistryClient({ baseUrl: stack.apiUrl, accessToken: () => stack.token('OWNER') });
});

afterAll(() => stack?.stop());

afterEach(closePages);

/** A person's own machine: what they are signed in as is kept apart from others'. */
function machineOf(name: string, apiUrl = stack.apiUrl) {
  const own = { NODE_REGISTRY_URL: apiUrl, XDG_CONFIG_HOME: join(directory, name) };
  const env = { ...plainEnvironment, ...own };
  const cwd = join(directory, 'my-pack');
  const run = (...args: string[]) => publishNode(args, { cwd, env: own });
  const start = (...args: string[]) => spawn(process.execPath, [packedProgram(), ...args], { cwd, env });
  return {
    run,
    start,
    report: async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout),
    session: async () => {
      const [file = ''] = await readdir(join(directory, name, 'publish-node'));
      return join(directory, name, 'publish-node', file);
    },
    /** Starts to sign in, and waits for the address to open. */
    async login(...args: string[]) {
      const child = start('login', ...args);
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      const stdout = text(child.stdout);
      return { ...(await shownBy(child)), ended, stdout };
    },
  };
}

/** The address that a command shows to sign in at. */
async function shownBy(child: ChildProcess): Promise<{ address: URL; shown: string }> {
  let shown = '';
  child.stderr?.on('data', (part) => (shown += part));
  const address = () => /http:\S+\/(?:authorize|device)\S+/.exec(shown)?.[0];
  await until(() => address() !== undefined || child.exitCode !== null);
  return { address: new URL(String(address())), shown };
}

/** What the browser sends when a person has chosen who they are. */
function choose(address: URL, person: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams([...address.searchParams, ...Object.entries(person)]);
  return fetch(address.origin + address.pathname, { method: 'POST', body, redirect: 'manual' });
}

/** The same, and back to the command. */
async function signIn(address: URL, user: string): Promise<void> {
  await fetch(String((await choose(address, { user })).headers.get('location')));
}

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
  // Its own: the commands write into it.
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
  await signIn((await shownBy(child)).address, demo.owner);
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
    const app = receiver(async (id, { state }) => {
      console.log(id, state);
      if (process.env.FAILS) throw new Error('full');
    });`;
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
      const body = JSON.stringify({ order: '1', prompt: 'rain [lose answer]' });
      const ask = () => POST(new Request('http://shop', { method: 'POST', headers: { 'x-customer': 'a' }, body }));
      const [one, other] = await Promise.all([ask(), ask()]);
      const url = (await one.json()).statusUrl;
      console.log(one.status, url?.endsWith('.json') && url === (await other.json()).statusUrl);`,
      ['200 true'],
    ],
    [
      'express',
      `${hook.replace('FRAMEWORK', 'express')}
      const response = { sendStatus: (status) => console.log(status) };
      await app.handler({ headers, body: Buffer.from(body) }, response);
      await app.handler({ headers, body: Buffer.from('{}') }, response);
      process.env.FAILS = '1';
      await app.handler({ headers, body: Buffer.from(body) }, response);`,
      ['msg_1 success', '204', '400', 'msg_1 success', '400'],
    ],
    [
      'fastify',
      `${hook.replace('FRAMEWORK', 'fastify')}
      const reply = { code: (status) => ({ send: () => console.log(status) }) };
      await app.handler({ headers, body }, reply);
      await app.handler({ headers, body: '{}' }, reply);
      process.env.FAILS = '1';
      await app.handler({ headers, body }, reply);
      process.env.PUBLIC_KEY += ' ';
      await app.handler({ headers, body }, reply);`,
      ['msg_1 success', '204', '400', 'msg_1 success', '400', '400'],
    ],
    [
      'queue-worker',
      `import { work } from './queue-worker.mjs';
      const job = { id: 7, prompt: 'rain' };
      const [one, other] = await Promise.all([work(job), work(job)]);
      console.log(one.done[0] === other.done[0] && one.done[0]);
      for (const prompt of ['[busy]', '[reject]']) console.log(Object.keys(await work({ id: prompt, prompt })));`,
      [film, "[ 'again' ]", "[ 'failed', 'task' ]"],
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
    const ask = (order: number, prompt: string) =>
      run(command, [join(place, file), `${file}-${order}`, prompt], { env: recipeEnvironment() });
    const [one, other] = [await ask(1, 'a "red"\nboat'), await ask(1, 'a "red"\nboat')];

    expect(one.stdout).toContain('.webm');
    expect(other.stdout).toBe(one.stdout);
    expect((await startedTasks()) - before).toBe(1);
    await expect(ask(2, '[fail]')).rejects.toMatchObject({ code: 1 });
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

describe('publish-node login', () => {
  test('leads from nothing to a published node, with a token of its own that ends with the run', async () => {
    const alice = machineOf('alice');
    const { address, ended, stdout } = await alice.login();
    const chosen = await choose(address, { user: 'alice', email: 'alice@example.com' });
    const back = new URL(String(chosen.headers.get('location')));
    const forged = new URL(back);
    forged.searchParams.set('state', 'of-another-page');
    expect((await fetch(forged)).status).toBe(404);
    // Any page can make a browser send this.
    expect((await fetch(`${back.origin}//[`)).status).toBe(404);
    expect(await (await fetch(back)).text()).toContain('You are signed in');
    expect([await ended, await stdout]).toEqual([0, expect.stringContaining('signed in as alice')]);
    expect((await stat(await alice.session())).mode & 0o777).toBe(0o600);

    const begun = await alice.run('init', '--publisher', 'alice-labs');
    const made = await alice.run('publisher', 'create', 'alice-labs');
    const published = await alice.report('publish');
    const who = await alice.report('whoami');

    expect(begun.stdout).toContain('Make it: publish-node publisher create alice-labs');
    expect(made.code).toBe(0);
    expect([published.status, published.version]).toEqual(['published', '1.0.0']);
    expect([who.user.email, who.publishers.map(({ id }: { id: string }) => id), who.tokens]).toEqual([
      ...['alice@example.com', ['alice-labs']],
      [],
    ]);
  });

  test('signs in by a code on another device, accepts an invitation, and loses all with the membership', async () => {
    const [alice, bob] = [machineOf('alice'), machineOf('bob')];
    const { address, ended, shown } = await bob.login('--device');
    expect(shown).toContain(String(address.searchParams.get('user_code')));
    expect((await choose(address, { user: 'bob', user_code: 'WRONG' })).status).toBe(200);
    await choose(address, { user: 'bob' });
    expect(await ended).toBe(0);

    const { invitation, invitations } = await alice.report('member', 'invite');
    const page = `${stack.accountUrl}/account/`;
    expect(await (await fetch(`${stack.apiUrl}/users/sign-in`)).json()).toMatchObject({ account_url: page });
    expect(invitations[0].link).toBe(`${page}#invitation=${encodeURIComponent(invitation)}`);
    const accepted = await bob.report('member', 'accept', invitations[0].link);
    const again = await bob.run('member', 'accept', invitation);
    const token = (await bob.run('token', 'create', 'bob’s laptop')).stdout.trim();
    const rotated = (await bob.run('token', 'rotate', 'bob’s laptop')).stdout.trim();
    const reusable = 'octo/shared/.github/workflows/publish.yml@refs/tags/v1';
    const jobs = ['group/nodes', '--issuer', 'gitlab', '--workflow', '.gitlab-ci.yml'];
    const { trusts } = await alice.report('trust', 'add', ...jobs, '--job-workflow', reusable);
    const members = await alice.report('member', 'list');
    const [, { id }] = members.members;
    const removed = await alice.run('member', 'remove', id);

    expect(trusts).toMatchObject([{ issuer: 'https://gitlab.com', job_workflow: reusable }]);
    expect([accepted.publisher, again.code]).toEqual(['alice-labs', 3]);
    expect(rotated).not.toBe(token);
    expect(removed.stdout).toContain('Ended with that: 1 token.\n');
    expect((await bob.report('whoami')).publishers).toEqual([]);
    expect((await alice.run('member', 'remove', members.members[0].id)).code).toBe(3);
  });

  test.each([
    [/^POST .*tokens$/, 'before the upload: nothing was published', 0, 0],
    [/^POST .*my-pack.versions$/, 'before the upload: nothing was published', 1, 0],
    // Its check requires the token.
    [/^POST .bulk/, 'The registry has the archive, and checks it', 1, 1],
  ])('ends the token of a publish that is stopped at %s, unless it still needs it', async (...row) => {
    const [held, sentence, before, after] = row;
    const sent = Promise.withResolvers<void>();
    const proxy = untilEnd(
      await startReverseProxy(stack.apiUrl, async (request, response, { send }) => {
        if (held.test(`${request.method} ${request.url}`)) return sent.resolve();
        relay(await send(), response);
      }),
    );
    const alice = machineOf('alice at work', proxy.url);
    const { address, ended } = await alice.login();
    await signIn(address, 'alice');
    await ended;
    const publish = alice.start('publish', '--other-version', '--version', '2.0.0');
    const closed = new Promise((resolve) => publish.once('close', resolve));
    const said = text(publish.stderr);
    const count = async () => (await alice.report('token', 'list')).tokens.length;
    await Promise.race([sent.promise, closed]);
    const during = await count();
    publish.kill('SIGINT');

    expect([await closed, await said]).toEqual([130, expect.stringMatching(`\nStopped.*${sentence}.*\n$`)]);
    expect([during, await count()]).toEqual([before, after]);
  });

  test('renews a session that ends, and says so once it is over', async () => {
    const alice = machineOf('alice');
    const file = await alice.session();
    const before = JSON.parse(await readFile(file, 'utf8'));
    const ended = { ...before.tokens, accessToken: 'ended', expiresAt: new Date(0).toISOString() };
    await writeFile(file, JSON.stringify({ ...before, tokens: ended }));
    expect((await alice.run('whoami')).code).toBe(0);
    expect(JSON.parse(await readFile(file, 'utf8')).tokens.refreshToken).not.toBe(before.tokens.refreshToken);

    // A refresh token works once.
    await writeFile(file, JSON.stringify({ ...before, tokens: ended }));
    const over = await alice.run('whoami');
    expect([over.code, over.stderr]).toEqual([3, expect.stringContaining('publish-node login')]);
    expect((await alice.run('logout')).code).toBe(0);
    expect((await alice.run('publish')).stderr).toContain('Sign in with publish-node login');
  });
});

test('the local issuer takes a code once, from who began, and sends nobody to a foreign address', async () => {
  const { address, ended } = await machineOf('carol').login();
  const redirect_uri = String(address.searchParams.get('redirect_uri'));
  const code = new URL(
    String((await choose(address, { user: 'carol' })).headers.get('location')),
  ).searchParams.get('code');
  const exchange = async (code_verifier: string) => {
    const form = { grant_type: 'authorization_code', client_id: 'local', code: String(code), redirect_uri };
    const body = new URLSearchParams({ ...form, code_verifier });
    return (await fetch(`${address.origin}/token`, { method: 'POST', body })).json();
  };
  expect(await exchange('stolen')).toEqual({ error: 'invalid_grant' });
  const foreign = new URL(address);
  foreign.searchParams.set('redirect_uri', 'https://evil.example/callback');
  expect((await fetch(foreign, { redirect: 'manual' })).status).toBe(400);
  const plain = new URL(address);
  plain.searchParams.set('code_challenge_method', 'plain');
  const denied = await fetch(plain, { redirect: 'manual' });
  expect(denied.headers.get('location')).toContain('error=invalid_request');
  await fetch(String(denied.headers.get('location')));
  expect(await ended).toBe(3);
});

inBrowser('the page for accounts', () => {
  /** The page as a person sees it who is signed in, on a phone. */
  async function signedInAs(user: string, fragment = '') {
    const { page, problems } = await openPage(360);
    page.on('dialog', (dialog) => dialog.accept());
    await page.goto(`${stack.accountUrl}/account/${fragment}`);
    await press(page, 'Sign in');
    await page.locator('form').nth(1).getByLabel('User').fill(user);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Account' }).waitFor();
    return { page, problems };
  }

  /** As by a keyboard: what has no focus, or is not seen, cannot be pressed. */
  async function press(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name, exact: true }).first().focus();
    await page.keyboard.press('Enter');
  }

  async function open(page: Page, text: string): Promise<void> {
    await page.getByText(text, { exact: true }).focus();
    await page.keyboard.press('Enter');
  }

  test('leads from nothing to two members and one again, on a phone and by keyboard', async () => {
    const { page, problems } = await signedInAs('dora');
    await page.getByLabel('ID').fill('dora-labs');
    await page.getByLabel('Name', { exact: true }).fill('Dora Labs');
    await press(page, 'Make it');
    await page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(page)).toEqual([]);
    }
    await open(page, 'Make a token');
    await page.getByLabel('What it is for').fill('a script');
    await press(page, 'Make it');
    await page.getByText('nrp_').waitFor();
    await press(page, 'Done');
    expect(await page.getByText('nrp_').count()).toBe(0);
    await open(page, 'Invite somebody');
    await press(page, 'Make a link');
    const link = await page.locator('pre', { hasText: '#invitation=' }).textContent();

    const requested: string[] = [];
    const emil = await signedInAs('emil', `#${link?.split('#')[1]}`);
    await emil.page.getByText('You are invited to the publisher dora-labs.').waitFor();
    emil.page.on('request', (request) => requested.push(request.url()));
    await press(emil.page, 'Accept');
    await emil.page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    expect(requested.filter((url) => url.includes('nri_'))).toEqual([]);

    await page.reload();
    // Tokens are in memory, so a reload signs out.
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const lost = await signedInAs('dora', '#/publishers/%');
    await lost.page.getByText('The request is not valid.').first().waitFor();
    const again = await signedInAs('dora', '#/publishers/dora-labs');
    const late = Promise.withResolvers<void>();
    await again.page.route('**/publishers/nobody', (route) => late.promise.then(() => route.continue()));
    const asked = again.page.waitForRequest('**/publishers/nobody');
    await again.page.goto(`${stack.accountUrl}/account/#/publishers/nobody`);
    const request = await asked;
    await again.page.goto(`${stack.accountUrl}/account/#/publishers/dora-labs`);
    await again.page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    late.resolve();
    await (await request.response())?.finished();
    await press(again.page, 'Remove');
    await again.page.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' });
    expect(await again.page.getByText('Ended with it').count()).toBe(0);
    await again.page.goto(`${stack.accountUrl}/account/#/nope`);
    await again.page.getByRole('heading', { name: 'Your publishers' }).waitFor();
    await again.page.getByRole('link', { name: 'Spending' }).click();
    await again.page.getByRole('heading', { name: 'Spending' }).waitFor();
    expect(await accessibilityProblems(again.page)).toEqual([]);
    await again.page.getByRole('link', { name: 'Publishers' }).click();
    await again.page.getByRole('heading', { name: 'Dora Labs' }).waitFor();
    expect(await accessibilityProblems(again.page)).toEqual([]);
    expect([problems, emil.problems, again.problems]).toEqual([[], [], []]);
  });

  test('says that there is no connection, and reads again when asked to', async () => {
    const { page } = await signedInAs('fay');
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Spending' }).click();
    await page.getByText('There is no connection. Check yours and try again.').waitFor();
    await press(page, 'Try again');
    await page.getByRole('button', { name: 'Try again', disabled: false }).waitFor();
    await page.context().setOffline(false);
    // The button has kept the focus.
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Today' }).waitFor();
  });

  test('keeps a new token, which is shown only once, after a lost connection', async () => {
    const { page } = await signedInAs('gil');
    await page.getByLabel('ID').fill('gil-labs');
    await page.getByLabel('Name', { exact: true }).fill('Gil');
    await press(page, 'Make it');
    await open(page, 'Make a token');
    await page.getByLabel('What it is for').fill('a script');
    await press(page, 'Make it');
    await page.getByText('nrp_').waitFor();
    await page.route('**/publishers/gil-labs', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await press(page, 'Save');
    await page.getByText('There is no connection').waitFor();
    expect(await page.getByText('nrp_').count()).toBe(1);
  });

  test('is in no frame, runs no foreign script, and serves nothing that a publisher wrote', async () => {
    const { headers } = await fetch(`${stack.accountUrl}/account/`);
    const policy = headers.get('content-security-policy');
    for (const rule of ["script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"])
      expect(policy).toContain(rule);
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    for (const path of ['/nodes/my-pack', '/index/v1/nodes/my-pack.json', '/search'])
      expect((await fetch(stack.accountUrl + path)).status).toBe(404);
  });
});
