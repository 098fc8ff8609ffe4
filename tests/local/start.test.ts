import { execFile, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { isListening } from '@node-registry/command-line/is-listening';
import { demo } from '../../tools/local/demo.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import type { HttpServer } from '../../tools/processes/http-server.ts';
import { findFreePort } from '../../tools/processes/ports.ts';
import { until } from '@node-registry/testing/until';
import {
  accessibilityProblems,
  hasBrowser,
  launchBrowser,
  note,
  openPage,
} from '@node-registry/testing/browser';
import { partOf } from '../../tools/local/stack-processes.ts';
import { serve } from '../support/serve.ts';
import '../support/in-order.ts';

jest.setTimeout(120_000);

/** `npm start`: its pages and the example of a film in a browser, its API over HTTP, and how it ends. */

const run = promisify(execFile);

let stack: LocalStack;
let browser: Browser;
let page: Page;
let problems: string[];

const inBrowser = hasBrowser ? describe : describe.skip;

beforeAll(async () => {
  [stack] = await Promise.all([startLocalStack(), startBrowser()]);
});

afterAll(async () => {
  await Promise.all([stack.stop(), browser?.close()]);
});

async function startBrowser(): Promise<void> {
  if (hasBrowser) browser = await launchBrowser();
}

/** The page that is open, if it is that wide: another one would load and compile every script again. */
async function showPage(width: number): Promise<void> {
  if (page?.viewportSize()?.width === width) return;
  await page?.close();
  ({ page, problems } = await openPage(browser, width));
}

async function open(path: string, width: number): Promise<void> {
  await showPage(width);
  await page.goto(stack.pagesUrl + path);
}

inBrowser(`the pages in a browser${note}`, () => {
  afterEach(async () => {
    // A page asks every second: a route that is still asking when the page goes would fail every test of the file.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(problems.splice(0)).toEqual([]);
  });

  test('the home page fits 360 pixels in dark colors, and passes the checks of axe', async () => {
    await fetch(`${stack.apiUrl}/${'x'.repeat(200)}`);
    await open('/', 360);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page
      .locator('#requests li', { hasText: 'x'.repeat(200) })
      .first()
      .waitFor();

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test('shows the demo node from the index on the site, and leads back to the home page', async () => {
    // A page is a file: it does not change while it is open.
    await until(async () => {
      const written = await fetch(`${stack.siteUrl}/nodes/demo-node`);
      return (await written.text()).includes('Blend Images (demo)');
    });
    await showPage(1280);
    await page.goto(`${stack.siteUrl}/search`);
    await page.locator('#results a[href="/nodes/demo-node"]').click();
    await page.waitForURL('**/nodes/demo-node');
    await page.getByRole('link', { name: 'Host nodes' }).click();
    await page.locator('.host-node', { hasText: 'Blend Images (demo)' }).waitFor();
    // Another spelling, and a page that does not exist.
    for (const [path, status] of [
      ['nodes/Demo_Node', 200],
      ['nodes/unknown', 404],
    ] as const) {
      const answer = await fetch(`${stack.siteUrl}/${path}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        status,
        'text/html; charset=utf-8',
      ]);
    }
    await page.getByRole('link', { name: 'Local stack' }).click();

    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  describe('the API reference', () => {
    test.each([1280, 360])('is text that fits %d pixels, and asks no other machine', async (width) => {
      await showPage(width);
      await page.goto(`${stack.pagesUrl}/reference/`);

      expect(await page.getByRole('heading', { level: 2, name: 'Extend a video' }).count()).toBe(1);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await accessibilityProblems(page)).toEqual([]);
    });

    test('is one page and a style of 32 KB, without a script', async () => {
      const html = await (await fetch(`${stack.pagesUrl}/reference/`)).text();
      const style = await (await fetch(`${stack.pagesUrl}/site/site.css`)).text();

      expect(html.match(/<script|<img|"stylesheet"/g)).toEqual(['"stylesheet"']);
      expect(gzipSync(html).length + gzipSync(style).length).toBeLessThan(32_000);
    });

    test('has a call of each operation that works when it is pasted', async () => {
      await page.goto(`${stack.pagesUrl}/reference/`);
      const [token = '', ...calls] = (await page
        .locator('main > pre, pre.call')
        .allTextContents()) as string[];
      const statuses = calls.map(async (call) => {
        const command = `${token}\n${call} --silent --output /dev/null --write-out '%{http_code}'`;
        return (await run('sh', ['-c', command])).stdout;
      });

      expect((await Promise.all(statuses)).sort()).toEqual([...Array(7).fill('200'), '201']);
    });
  });
});

inBrowser(`shows docs/examples/film.html over a network that loses answers${note}`, () => {
  let lossy: HttpServer;
  let server: ReturnType<typeof spawn>;
  let address = '';
  /** How many of the registry's next answers are lost. */
  let losing = 0;
  /** What the registry answers to the next requests. */
  let rejecting: object | undefined;
  const keys: unknown[] = [];

  beforeAll(async () => {
    lossy = await serve(async (request, response) => {
      keys.push(request.headers['idempotency-key']);
      if (rejecting) return response.writeHead(502).end(JSON.stringify(rejecting));
      const { host: _, ...headers } = request.headers as Record<string, string>;
      const answer = await fetch(stack.apiUrl + request.url, {
        ...{ method: 'POST', headers, body: await text(request) },
      });
      if (losing-- > 0) return request.socket.destroy();
      response.writeHead(answer.status, { link: answer.headers.get('link') ?? '' }).end(await answer.text());
    });
    const port = await findFreePort();
    address = `http://localhost:${port}/`;
    const own = { REGISTRY: lossy.url, ACCESS_TOKEN: stack.token('OWNER'), PORT: String(port) };
    const env = { ...stack.environment, ...own };
    server = spawn(process.execPath, ['docs/examples/film-server.mjs'], { env, stdio: 'ignore' });
    await until(() => isListening(address, 1000));
  });

  afterAll(() => void server.kill());

  // An open page that plays a film would slow the other tests down.
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  });

  beforeEach(() => {
    losing = 0;
    rejecting = undefined;
    keys.length = 0;
  });

  async function tasks(): Promise<number> {
    const record = await (await fetch(`${stack.simulatorsUrl}/control/record`)).json();
    return (record as { tasks: object[] }).tasks.length;
  }

  async function open() {
    const { page, problems } = await openPage(browser, 800);
    await page.goto(address);
    const button = page.getByRole('button');
    const status = page.getByRole('status');
    const isShown = () => page.waitForFunction('document.querySelector("video").videoWidth === 160');
    return { page, problems, button, status, isShown };
  }

  test('shows the film after lost polls, and never has the access token', async () => {
    const { page, problems, button, status, isShown } = await open();
    const heard: string[] = [];
    page.on('request', async (request) => heard.push(JSON.stringify(await request.allHeaders())));
    page.on('response', async (answer) => heard.push(await answer.text().catch(() => '')));
    await page.route('**/status/*', (route) => route.abort(), { times: 2 });
    await button.click();
    await isShown();

    expect(await status.textContent()).toBe('success');
    expect(heard.join()).not.toContain(stack.token('OWNER'));
    expect(problems).toEqual([]);
  });

  test('pays once for two clicks, lost answers and a reload', async () => {
    const before = await tasks();
    const { page, isShown } = await open();
    losing = 2;
    await page.evaluate('document.forms[0].requestSubmit(), document.forms[0].requestSubmit()');
    await until(() => losing <= 0);
    await page.reload();
    await isShown();

    expect([(await tasks()) - before, new Set(keys).size]).toEqual([1, 1]);
  });

  test('stops sending after an error that does not go away by itself', async () => {
    const { button, status, isShown } = await open();
    rejecting = { error: 'provider_credentials', message: 'The key is wrong.' };
    await button.click();
    await status.getByText('The key is wrong.').waitFor();
    expect(await button.isEnabled()).toBe(true);
    rejecting = undefined;
    await button.click();
    await isShown();

    expect(new Set(keys).size).toBe(2);
  });

  test.each([
    ['[fail]', 'The simulated provider was asked to fail', 1],
    ['[reject]', 'The prompt asks for it', 0],
  ])('shows why there is no film after %s, and makes the next one', async (word, reason, paid) => {
    const before = await tasks();
    const { page, button, status, isShown } = await open();
    await page.getByLabel('Prompt').fill(`rain ${word}`);
    await button.click();
    await status.getByText(reason).waitFor();
    await page.getByLabel('Prompt').fill('rain');
    await button.click();
    await isShown();

    expect([(await tasks()) - before, new Set(keys).size]).toEqual([paid + 1, 2]);
  });
});

async function request(method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(stack.apiUrl + path, {
    method,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  const reply = (await response.json().catch(() => undefined)) as any;
  return { status: response.status, headers: response.headers, body: reply };
}

const owner = () => ({ authorization: `Bearer ${stack.token('OWNER')}` });
/** An admin may add a host node that the archive does not have. */
const admin = () => ({ authorization: `Bearer ${stack.token('ADMIN')}` });

describe('npm start', () => {
  test('prints tokens, and a call that works when it is pasted', async () => {
    const calls = stack.output().match(/^ {2}curl .*\/bulk\/.*$/gm) ?? [];
    const { stdout } = await run('sh', ['-c', `${calls[0]} --silent --write-out '%{http_code}'`]);

    expect(stdout).toMatch(/"status":"success".*200$/s);
    for (const name of ['OWNER', 'ADMIN', 'PERSONAL']) expect(stack.token(name)).not.toBe('');
  });

  test('says in one sentence that a port is taken, and leaves the stack that has it alone', async () => {
    const second = await startLocalStack(stack.place).catch((error: Error) => error.message);

    expect(second).toMatch(
      /Port \d+ \(\w+\) is taken\. Stop your local stack \(process \d+\).*LOCAL_PORT_OFFSET=100 npm start/,
    );
    expect(second).not.toContain('    at ');
    expect((await request('POST', '/bulk/nodes/versions', { node_versions: [] })).status).toBe(200);
  });
});

describe('over HTTP', () => {
  // Every operation with an answer of its own, and other origins: tests/local/clients.test.ts.
  const hostNodes = `/nodes/${demo.nodeId}/versions/${demo.version}/host-nodes`;

  const encoded = encodeURIComponent;

  test.each([
    // With four characters encoded once or twice.
    ...[
      'Load Image (demo)',
      'HyperTile //Inspire',
      'ends/',
      'A + B',
      'a|b',
      'a#b',
      '100%',
      '名前 ünï 🖼',
      "quote's",
    ].flatMap((name) => [name, name.replace(/[%/?#]/g, encoded)].map((sent) => [encoded(sent), name])),
    // As a deployed gateway does.
    ['a/b', 'a/b'],
    ['HyperTile%20//Inspire', 'HyperTile //Inspire'],
    ['why%253F%2523%25252F', 'why?#%2F'],
    ['50%2525%20off', '50% off'],
    ['%252541', '%41'],
  ])('reads the path %s as the host node %j', async (path, name) => {
    const { status, body } = await request('PUT', `${hostNodes}/${path}`, { category: 'e2e' }, admin());

    expect([status, body.host_node_name]).toEqual([200, name]);
  });

  test.each(['why%3F', 'why%3Fx', 'a?b=c'])(
    'rejects the path %s, since a name would be cut at its "?"',
    async (path) => {
      const { status, body } = await request('PUT', `${hostNodes}/${path}`, {}, owner());

      expect([status, body.details?.[0]?.path]).toEqual([400, 'query']);
    },
  );

  test.each([
    ['an escaped slash in another place', `/nodes/${demo.nodeId}%2Fx/versions/1.0.0/host-nodes/x`, 404],
    ['a malformed escape', `${hostNodes}/%zz`, 400],
    ['an escape that is not UTF-8', `${hostNodes}/%E7%94`, 400],
  ])('answers a path with %s as the gateway does', async (_, path, expected) => {
    expect((await request('PUT', path, {}, owner())).status).toBe(expected);
  });

  test('finds the function of a percent-encoded route', async () => {
    expect((await request('POST', '/bulk%2Fnodes/v%65rsions', { node_versions: [] })).status).toBe(200);
  });
});

describe('serverless invoke local', () => {
  // A request and an event. A command takes seconds, and tests/functions answers every sample event.
  const shown = {
    'update-node': '"statusCode": 200',
    'finalize-upload': '"node_id":"demo-node"',
  };

  /** The offset of its ports is the only hint to where the stack is. */
  function offsetOnly(): NodeJS.ProcessEnv {
    const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_S3, TOKEN_JWKS_URL, ...rest } = stack.environment;
    const { IMAGE_PROVIDER_URL, VIDEO_PROVIDER_URL, ...environment } = rest;
    return environment;
  }

  test.each(Object.entries(shown))('answers the sample event of %s', async (name, words) => {
    const functionName = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const command = ['invoke', 'local', '-f', functionName, '-p', `events/${name}.json`];
    const { stdout } = await run('serverless', command, { env: offsetOnly() });

    expect(stdout).toContain(words);
  });
});

/** Whether a process of the group still runs. A zombie does not. */
async function isGroupAlive(group: number): Promise<boolean> {
  const { stdout } = await run('ps', ['-eo', 'pgid=,stat=']);
  return stdout.split('\n').some((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line));
}

test('keeps data between starts, and leaves no process behind after Ctrl-C', async () => {
  await request('PUT', '/publishers/demo/nodes/demo-node', { author: 'kept' }, owner());
  expect(await isGroupAlive(stack.group)).toBe(true);
  await stack.stop({ keepData: true });
  expect(await isGroupAlive(stack.group)).toBe(false);
  await expect(fetch(`${stack.apiUrl}/bulk/nodes/versions`)).rejects.toThrow();

  stack = await startLocalStack(stack.place);
  const { body } = await request('PUT', '/publishers/demo/nodes/demo-node', {}, owner());
  expect(body.author).toBe('kept');
});

test('ends the whole stack with a sentence when its DynamoDB dies', async () => {
  process.kill(partOf(stack, /--db-path /).pid, 'SIGKILL');
  await until(async () => !(await isListening(stack.pagesUrl, 60_000)));
  await stack.stop();

  expect(stack.output()).toContain('The embedded DynamoDB stopped with SIGKILL. The local stack stops too');
});
