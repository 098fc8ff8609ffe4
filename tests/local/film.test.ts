import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { isListening } from 'command-line/is-listening';
import { hasBrowser, launchBrowser, note, openPage } from 'testing/browser';
import { until } from 'testing/until';
import { type HttpServer, startHttpServer } from '../../tools/processes/http-server.ts';
import { findFreePort } from '../../tools/processes/ports.ts';
import { type LocalStack, startLocalStack } from '../../tools/local/spawn-stack.ts';

jest.setTimeout(120_000);

/** docs/examples/film.html and its server, with a network that loses answers. */
(hasBrowser ? describe : describe.skip)(`the page that makes a film${note}`, () => {
  let stack: LocalStack;
  let browser: Browser;
  let lossy: HttpServer;
  let server: ReturnType<typeof spawn>;
  let address = '';
  /** How many of the registry's next answers are lost. */
  let losing = 0;
  const keys: unknown[] = [];

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startLocalStack(), launchBrowser()]);
    lossy = await startHttpServer(async (request, response) => {
      keys.push(request.headers['idempotency-key']);
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

  afterAll(async () => {
    server?.kill();
    await Promise.all([lossy?.stop(), browser?.close(), stack?.stop()]);
  });

  beforeEach(() => {
    losing = 0;
    keys.length = 0;
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

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

  test.each([
    ['[fail]', 'The simulated provider was asked to fail', 1],
    ['[refuse]', 'The prompt asks for it', 0],
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
