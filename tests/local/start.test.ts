import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { isListening } from '@node-registry/command-line/is-listening';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';
import { until } from '@node-registry/testing/until';
import { accessibilityProblems, inBrowser, openPage } from '@node-registry/testing/browser';
import '../support/in-order.ts';

/** `npm start`: its pages in a browser, its API over HTTP, and how it ends. The studio: studio.test.ts. */

const run = promisify(execFile);

let stack: LocalStack;
let page: Page;
let problems: string[];

beforeAll(async () => {
  stack = await startLocalStack();
});

afterAll(() => stack.stop());

/** The page that is open, if it is that wide: another one would load and compile every script again. */
async function showPage(width: number): Promise<void> {
  if (page?.viewportSize()?.width === width) return;
  await page?.close();
  ({ page, problems } = await openPage(width));
}

inBrowser('the pages in a browser', () => {
  afterEach(async () => {
    // A page asks every second: a route that is still asking when the page goes would fail every test of the file.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(problems.splice(0)).toEqual([]);
  });

  test('shows the demo node from the index on the site, and leads back to the studio', async () => {
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

    await page.getByRole('button', { name: 'Make the film' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  describe('the API reference', () => {
    test('is text that fits 360 pixels, with a call of each operation that works when it is pasted', async () => {
      await showPage(360);
      await page.goto(`${stack.pagesUrl}/reference/`);

      expect(await page.getByRole('heading', { level: 2, name: 'Extend a video' }).count()).toBe(1);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await accessibilityProblems(page)).toEqual([]);
      const [token = '', ...calls] = (await page
        .locator(
          'pre.token, section:not([aria-label="Self-service"]) article:has(summary:text-is("Client")) pre.curl',
        )
        .allTextContents()) as string[];
      const statuses = calls.map(async (call) => {
        const command = `${token}\n${call} --silent --output /dev/null --write-out '%{http_code}'`;
        return (await run('sh', ['-c', command])).stdout;
      });
      expect((await Promise.all(statuses)).sort()).toEqual([...Array(7).fill('200'), '201']);
    });

    test('is one page and two styles of 32 KB, without a script', async () => {
      const paths = ['reference/', 'site/site.css', 'site/studio.css'];
      const files = paths.map(async (path) => (await fetch(`${stack.pagesUrl}/${path}`)).text());
      const [html = '', ...styles] = await Promise.all(files);

      expect(html.match(/<script|<img|"stylesheet"/g)).toEqual(Array(2).fill('"stylesheet"'));
      expect(gzipSync([html, ...styles].join('')).length).toBeLessThan(32_000);
    });

    test('has a console that sends a call, and asks no other machine', async () => {
      await showPage(1280);
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      await page.goto(`${stack.pagesUrl}/reference/`);
      await page.getByRole('link', { name: 'Try it' }).click();
      await page.locator('#operations-Registry-bulkNodeVersions, [id$=bulkNodeVersions]').first().click();
      await page.getByRole('button', { name: 'Execute' }).click();
      await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();

      expect(said.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    });
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

// A request and an event. A command takes seconds, and tests/functions answers every sample event.
const shown = { 'update-node': '"statusCode": 200', 'finalize-upload': '"node_id":"demo-node"' };

test.each(Object.entries(shown))(
  'serverless invoke local answers the sample event of %s',
  async (name, words) => {
    const functionName = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const command = ['invoke', 'local', '-f', functionName, '-p', `events/${name}.json`];
    const { stdout } = await run('serverless', command, { env: stack.environment });

    expect(stdout).toContain(words);
  },
);

/** A zombie has no memory. */
const isRunning = () => stack.processes().some(({ kilobytes }) => kilobytes > 0);

test('keeps data between starts, and leaves no process behind after Ctrl-C', async () => {
  await request('PUT', '/publishers/demo/nodes/demo-node', { author: 'kept' }, owner());
  expect(isRunning()).toBe(true);
  await stack.stop({ keepData: true });
  expect(isRunning()).toBe(false);
  await expect(fetch(`${stack.apiUrl}/bulk/nodes/versions`)).rejects.toThrow();

  stack = await startLocalStack(stack.place);
  const { body } = await request('PUT', '/publishers/demo/nodes/demo-node', {}, owner());
  expect(body.author).toBe('kept');
});

test('ends the whole stack with a sentence when its DynamoDB dies', async () => {
  const database = stack.processes().find(({ commandLine }) => commandLine.includes('--db-path '));
  process.kill(Number(database?.pid), 'SIGKILL');
  await until(async () => !(await isListening(stack.pagesUrl, 60_000)));
  await stack.stop();

  expect(stack.output()).toContain('The embedded DynamoDB stopped with SIGKILL. The local stack stops too');
});
