import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { isListening } from '../../packages/command-line/is-listening.ts';
import { createRegistryClient, type TaskProgress } from '../../packages/registry-client/client.ts';
import { verifyNotification } from '../../packages/registry-client/notification.ts';
import { readSigningKeys } from '../../lib/notifications/signature.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { localPublicKeys } from '../../tools/local/inbox.ts';
import { findFreePort } from '../../tools/processes/ports.ts';
import type { Misbehavior } from '../../tools/simulators/misbehaviors.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { accessibilityProblems, hasBrowser, launchBrowser, note, openPage } from '../support/browser.ts';
import { errorOf } from '../support/client-errors.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

let stack: LocalStack;
const servers: Server[] = [];
const [receiver, leaving] = [await startReceiver(), await startReceiver()];
leaving.answers.push(410);
const browser = hasBrowser ? launchBrowser() : undefined;
let client: ReturnType<typeof createRegistryClient>;
const document = await readFile('docs/notifications.md', 'utf8');
const video = { model: 'vidq3-pro', prompt: 'rain on a lake' } as const;
const created = { task_id: '77', state: 'created', credits: 1, created_at: '2026-01-01T00:00:00Z' };

/** The first block of a language in a document. */
function blockOf(text: string, language: string): string {
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text)?.[1] ?? '';
}

beforeAll(async () => {
  stack = await startLocalStack();
  client = createRegistryClient({ baseUrl: stack.apiUrl, accessToken: stack.token('OWNER') });
  // First, so that their notifications arrive while other tests run.
  await Promise.all(Object.values(receivers()).map(relight));
});

afterAll(async () => {
  for (const server of servers) server.close();
  await Promise.all([...[stack?.stop(), receiver.stop(), leaving.stop()], browser?.then((it) => it.close())]);
});

interface Simulated {
  received: { body: Record<string, string> }[];
  tasks: { id: string; notifications: { state: string; answer: number | string }[] }[];
}

async function misbehave(misbehavior: Misbehavior): Promise<void> {
  await fetch(`${stack.simulatorsUrl}/control/misbehave`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(misbehavior),
  });
}

async function simulated(): Promise<Simulated> {
  return (await (await fetch(`${stack.simulatorsUrl}/control/record`)).json()) as Simulated;
}

function post(path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${stack.token('OWNER')}` };
  return fetch(stack.apiUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Receivers that take a notification, that answer 404, and that answer 410. */
function receivers() {
  const { pagesUrl } = stack;
  return {
    taking: `${pagesUrl}/callbacks`,
    rejecting: `${pagesUrl}/nowhere`,
    gone: `${leaving.url}/hook`,
  };
}

function relight(webhook_url: string): Promise<Response> {
  return post('/proxy/image-provider/v1/ai/image-relight', {
    image: 'https://example.com/a.png',
    webhook_url,
  });
}

const callback_url = `${receiver.url}/hook`;

// First: the home page shows the last tasks.
describe('npm start with relayed notifications', () => {
  test('makes the simulated provider notify the local API of each state, and accepts every call', async () => {
    const answer = await post('/proxy/video-provider/text2video', { model: 'vidq3-pro', callback_url });
    const { task_id } = (await answer.json()) as { task_id: string };
    let last: Simulated['tasks'][number] | undefined;
    await until(async () => {
      last = (await simulated()).tasks.find(({ id }) => id === task_id);
      return (last?.notifications.length ?? 0) >= 3;
    });
    const { received } = await simulated();

    expect(last?.notifications).toEqual([
      { state: 'queueing', answer: 200 },
      { state: 'processing', answer: 200 },
      { state: 'success', answer: 200 },
    ]);
    expect(received.at(-1)?.body.callback_url).toMatch(
      new RegExp(`^${stack.apiUrl}/notifications/video/[\\w-]{43}$`),
    );
  });

  test('notifies the caller of each state, signed with the local key', async () => {
    await until(() => receiver.received.length >= 3);
    const [key] = readSigningKeys(localEnvironment.NOTIFICATION_SIGNING_KEY);
    const verified = await Promise.all(
      receiver.received.map(({ headers, body }) => verifyNotification(headers, body, String(key?.publicKey))),
    );

    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    // A queue keeps no order.
    const states = verified.map(({ payload }) => (payload as { state: string }).state);
    expect(states.sort()).toEqual(['processing', 'queueing', 'success']);
    expect(new Set(verified.map(({ id }) => id)).size).toBe(3);
  });

  test('answers 400 to a request whose address nothing may be sent to', async () => {
    const answer = await relight('https://127.0.0.2/hook');
    const { error, details } = (await answer.json()) as { error: string; details: { path: string }[] };

    expect([answer.status, error, details.map(({ path }) => path)]).toEqual([
      400,
      'invalid_request',
      ['body.webhook_url'],
    ]);
  });

  test('answers a forged call as any unknown path', async () => {
    const forged = await post(`/notifications/video/${'A'.repeat(43)}`, { state: 'success' });
    const unknown = await post('/nowhere', {});
    const bodies = [await forged.json(), await unknown.json()] as Record<string, string>[];

    expect([forged.status, unknown.status]).toEqual([404, 404]);
    for (const body of bodies) delete body.request_id;
    expect(bodies[0]).toEqual(bodies[1]);
  });

  (browser ? test : test.skip).each([1280, 360])(
    `shows result, attempts, next attempt and error of deliveries on the home page, and fits %d pixels${note}`,
    async (width) => {
      const { page, problems } = await openPage(await (browser as NonNullable<typeof browser>), width);
      await page.goto(stack.pagesUrl);
      await page.getByRole('tab', { name: 'Tasks' }).click();
      for (const hasText of [
        /success: .*Sent on: delivered in 1 attempt.*signature valid/,
        /success: .*Sent on: pending in \d+ attempts?, answered_no 404, next at [\d:]+/,
        /success: .*Sent on: gone in 1 attempt/,
      ])
        await page.locator('#tasks > li', { hasText }).first().waitFor();

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.close();
    },
  );
});

async function bytesOf(url: string | undefined): Promise<Buffer> {
  const answer = await fetch(String(url));
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

const webm = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

describe('a call of the client with wait: true', () => {
  test('returns the film, and tells each state once, with the address to go on waiting at', async () => {
    const told: TaskProgress[] = [];
    const film = await client.videos.fromText(video, {
      wait: true,
      onState: (progress) => told.push(progress),
    });
    const [first] = told;
    const again = await client.tasks.wait(String(first?.statusUrl));

    expect((await bytesOf(film.media[0])).subarray(0, 4)).toEqual(webm);
    expect(told[0]?.state).toBe('created');
    expect(told.at(-1)?.state).toBe('success');
    expect(new Set(told.map(({ state }) => state)).size).toBe(told.length);
    expect(new Set(told.map(({ taskId }) => taskId)).size).toBe(1);
    expect(again).toEqual(film);
  });

  test('returns a picture, a longer film and a film of frames', async () => {
    const image = 'https://example.com/a.png';
    const [picture, ...films] = await Promise.all([
      client.images.relight({ image }, { wait: true }),
      client.videos.extend({ model: 'vidq2-pro', video_creation_id: '1', video_url: image }, { wait: true }),
      client.videos.multiframe(
        {
          model: 'vidq2-pro',
          start_image: image,
          image_settings: [{ key_image: image }, { key_image: image }],
        },
        { wait: true },
      ),
    ]);

    expect((await bytesOf(picture.media[0])).subarray(0, 4)).toEqual(png);
    for (const { media } of films) expect((await bytesOf(media[0])).subarray(0, 4)).toEqual(webm);
  });

  test('throws an error of unknown outcome with the address at which the film appears all the same', async () => {
    await misbehave({ provider: 'video', kind: 'reset' });
    const error = await errorOf(client.videos.fromText(video, { wait: true }));
    const film = await client.tasks.wait(String(error.statusUrl));

    expect(error).toMatchObject({ code: 'provider_timeout', status: 504 });
    expect(JSON.stringify(error)).not.toContain(String(error.statusUrl));
    expect((await bytesOf(film.media[0])).subarray(0, 4)).toEqual(webm);
  });

  test('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const waiting = client.videos.fromText(video, {
      wait: true,
      signal: stop.signal,
      onState: () => stop.abort(new Error('enough')),
    });

    await expect(waiting).rejects.toThrow('enough');
  });

  test('gives up after waitMs, with the address', async () => {
    const error = await errorOf(client.videos.fromText(video, { wait: true, waitMs: 1 }));

    expect(error).toMatchObject({ code: 'still_running' });
    expect(error.message).toMatch(/http:\/\/localhost:\d+\/.*\/status\/[\w-]{27}\.json$/);
  });
});

describe('a status address', () => {
  test('answers 404 before the provider has said something, to every origin, and nothing lists its folder', async () => {
    const headers = { authorization: `Bearer ${stack.token('OWNER')}`, 'content-type': 'application/json' };
    const origin = 'http://localhost:5173';
    // A provider that answers, and then says nothing.
    const text = JSON.stringify(created);
    await misbehave({ provider: 'video', kind: 'text', accepted: false, text });
    const answer = await fetch(`${stack.apiUrl}/proxy/video-provider/text2video`, {
      method: 'POST',
      headers: { ...headers, origin },
      body: JSON.stringify(video),
    });
    const [, url = ''] = /^<(.*)>; rel="status"$/.exec(answer.headers.get('link') ?? '') ?? [];
    const early = await fetch(url, { headers: { origin } });
    const folder = url.slice(0, url.lastIndexOf('/') + 1);
    const bucket = folder.slice(0, -'status/'.length);
    const statuses = await Promise.all(
      [folder, bucket, `${bucket}?list-type=2`, url.replace(/.\.json$/, '.json')].map(
        async (address) => (await fetch(address)).status,
      ),
    );

    expect(answer.headers.get('access-control-expose-headers')?.toLowerCase()).toContain('link');
    expect(early.status).toBe(404);
    expect(early.headers.get('access-control-allow-origin')).toMatch(/^(?:\*|http:\/\/localhost:5173)$/);
    expect(statuses.filter((status) => status < 400)).toEqual([]);
  });
});

describe('a registry that relays no notifications', () => {
  test('differs from one that does at once, with the id of the task that was paid for', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(created));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const direct = createRegistryClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
    const error = await errorOf(direct.videos.fromText(video, { wait: true }));
    server.close();

    expect(error).toMatchObject({ code: 'no_status', details: [{ path: 'task_id', message: '77' }] });
  });
});

describe('docs/notifications.md, run as printed', () => {
  test('names the public key of the local stack, as the banner and the home page do', async () => {
    const [key = ''] = localPublicKeys();

    expect(document).toContain(`\`${key}\``);
    expect(stack.token('PUBLIC_KEY')).toBe(key);
    expect(await (await fetch(`${stack.pagesUrl}/state`)).text()).toContain(key);
  });

  test('starts a receiver that verifies and prints every notification', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'node-registry-receiver-'));
    const port = await findFreePort();
    await writeFile(join(folder, 'receiver.js'), blockOf(document, 'js').replace('8080', String(port)));
    await build({
      entryPoints: [join(folder, 'receiver.js')],
      outfile: join(folder, 'receiver.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      alias: { 'registry-client': resolve('packages/registry-client/client.ts') },
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
    await rm(folder, { recursive: true });

    expect(printed).toMatch(/http:\/\/localhost:\d+\/media\/\d+\.webm/);
    expect(forged.status).toBe(400);
  });

  (browser ? test : test.skip)(`has a page that shows the film, in a browser${note}`, async () => {
    const html = blockOf(document, 'html')
      .replace('https://registry.example.com', stack.apiUrl)
      .replace('the access token of your user', stack.token('OWNER'));
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { page, problems } = await openPage(await (browser as NonNullable<typeof browser>), 800);
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}`);
    await page.getByRole('button').click();
    await page.waitForFunction('document.querySelector("video").videoWidth === 160', undefined, {
      timeout: 20_000,
    });

    expect(await page.locator('p').textContent()).toBe('success');
    expect(problems).toEqual([]);
  });
});

describe('a photo of 12 MB', () => {
  const photo = new Uint8Array(12_000_000).map((_, index) => index * 7919);

  async function received(): Promise<{ path: string; headers: Record<string, string> }[]> {
    const record = (await (await fetch(`${stack.simulatorsUrl}/control/record`)).json()) as {
      received: { path: string; headers: Record<string, string> }[];
    };
    return record.received.filter(({ path }) => path.endsWith('image-relight'));
  }

  test('becomes a relit image from Node in two requests and one upload, with a small request', async () => {
    const before = (await received()).length;
    const told: number[] = [];
    const statuses: number[] = [];
    const { data } = await client.images.relight(
      { image: new Blob([photo], { type: 'image/jpeg' }) },
      { onUpload: ({ sent }) => told.push(sent), onResponse: ({ status }) => statuses.push(status) },
    );
    const [last] = (await received()).slice(before);

    expect(data.task_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(statuses).toEqual([409, 200]);
    expect([told[0], told.at(-1)]).toEqual([0, photo.length]);
    expect(Number(last?.headers['content-length'])).toBeLessThan(5000);
    expect((await received()).length).toBe(before + 1);
  });

  test('needs no second upload', async () => {
    const statuses: number[] = [];
    await client.images.relight({ image: photo }, { onResponse: ({ status }) => statuses.push(status) });

    expect(statuses).toEqual([200]);
  });

  (browser ? test : test.skip)(`is relit from a page, with progress${note}`, async () => {
    const bundle = await build({
      stdin: {
        contents: `import { createRegistryClient } from './packages/registry-client/client.ts';
            window.relight = async (baseUrl, accessToken) => {
              const registry = createRegistryClient({ baseUrl, accessToken });
              const photo = new File([new Uint8Array(12_000_000).fill(7)], 'photo.jpg', { type: 'image/jpeg' });
              const told = [];
              const picture = await registry.images.relight({ image: photo }, { wait: true, onUpload: ({ sent, total }) => told.push(sent / total) });
              return { told, media: picture.media };
            };`,
        resolveDir: '.',
        loader: 'ts',
      },
      bundle: true,
      format: 'esm',
      write: false,
      logLevel: 'silent',
    });
    const script = `<!doctype html><title>Photo</title><script type="module">${bundle.outputFiles[0]?.text}</script>`;
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(script);
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { page, problems } = await openPage(await (browser as NonNullable<typeof browser>), 800);
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}`);
    const call = `relight(${JSON.stringify(stack.apiUrl)}, ${JSON.stringify(stack.token('OWNER'))})`;
    const { told, media } = await page.evaluate<{ told: number[]; media: string[] }>(call);

    expect(told[0]).toBe(0);
    expect(told.at(-1)).toBe(1);
    expect((await bytesOf(media[0])).subarray(0, 4)).toEqual(png);
    expect(problems).toEqual([]);
  });
});
